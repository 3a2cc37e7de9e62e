"""What a run came to, as the word that the worker sends: pure, but for the jitter's random number."""

from __future__ import annotations

import asyncio
import logging
import random
import time
import traceback
from typing import Final

from redisched.app.options import retry_of_numbers
from redisched.core.config import RESULT_BYTES
from redisched.core.errors import PayloadError
from redisched.core.outcome import TRACEBACK_CHARACTERS, Attempt, History
from redisched.core.record import BEGAN, Finish
from redisched.core.values import pack
from redisched.store.operations.turns import Finished
from redisched.worker.run import Run, Stop
from redisched.worker.threads import Interrupt

REASON_BYTES: Final = 255
NO_CHILD_DELAY_MS: Final = 2000
SUSPECT_DELAY_MS: Final = 500
_LOG: Final = logging.getLogger("redisched.worker")


def succeeded(run: Run, value: object, worker: str) -> Finished:
    """A result that cannot be kept does not undo the work: the job succeeded, and the reason is noted."""
    claimed = run.claimed
    if value is None and not claimed.outcome:
        return Finished(claimed.id, claimed.version, Finish.SUCCEEDED)
    result, reason = _packed(value)
    if reason:
        _LOG.warning("job %s succeeded, its result is not kept: %s", run.id, reason)
    outcome = History.unpacked(claimed.outcome).with_attempt(_attempt(run, worker), result).packed()
    return Finished(claimed.id, claimed.version, Finish.SUCCEEDED, 0, reason, outcome)


def failed(run: Run, error: BaseException, worker: str) -> Finished:
    """Tried again or dead, by the retry policy of the call or of the task; told to end, it goes back.

    Always a word: a run without one would never end, with its slot lost and its lease extended for ever.
    Only an Interrupt of the thread that makes the word comes through; out of its reach, make it again.
    """
    try:
        return _judged(run, error, worker)
    except Interrupt:
        raise
    except BaseException as another:  # noqa: BLE001 - of the task's error, of its classes, of a foreign call
        claimed, reason = run.claimed, cut(f"no word could be made: {_described(another)}")
        return Finished(claimed.id, claimed.version, Finish.DEAD, 0, reason, claimed.outcome)


def _judged(run: Run, error: BaseException, worker: str) -> Finished:
    claimed = run.claimed
    if run.stop in {Stop.SHUTDOWN, Stop.LEASE_LOST}:
        return released(run)
    if run.stop is Stop.CANCELLED:
        return Finished(
            claimed.id, claimed.version, Finish.CANCELLED, 0, "stopped on request", claimed.outcome
        )
    shown = timed_out(run) if run.stop is Stop.TIMEOUT else error
    retry = retry_of_numbers(run.call.meta.get("retry"), run.task.settings.retry)
    reason = cut(_described(shown))
    attempt = _attempt(run, worker, reason, _traceback(error))
    outcome = History.unpacked(claimed.outcome).with_attempt(attempt).packed()
    number = claimed.attempts + 1
    if retry.wants_retry(shown, number):
        delay_ms = retry.delay_ms(number, random.random)
        return Finished(claimed.id, claimed.version, Finish.RETRY, delay_ms, reason, outcome)
    return Finished(claimed.id, claimed.version, Finish.DEAD, 0, reason, outcome)


def timed_out(run: Run) -> TimeoutError:
    return TimeoutError(f"ran longer than its timeout of {(run.timeout_ms or 0) / 1000:g} s")


def released(run: Run) -> Finished:
    """Back to the head of its queue, as if it had not been claimed; but one that began does not expire."""
    return Finished(run.claimed.id, run.claimed.version, Finish.RELEASE, 0, BEGAN if run.started else "")


def child_lost(run: Run, how: str) -> Finished:
    """Its process ended under it: that counts as a delivery, not as an attempt."""
    _LOG.warning("job %s: its process %s", run.id, how)
    return Finished(run.claimed.id, run.claimed.version, Finish.LOST, 0, cut(how), run.claimed.outcome)


def put_off(run: Run) -> Finished:
    """A suspect for which no child is free: back for a moment, uncounted."""
    return Finished(run.claimed.id, run.claimed.version, Finish.DEFER, SUSPECT_DELAY_MS)


def no_child(run: Run, why: str) -> Finished:
    """It could not be started: back with a delay and uncounted, perhaps to another worker."""
    _LOG.warning("job %s: %s", run.id, why)
    return Finished(run.claimed.id, run.claimed.version, Finish.DEFER, NO_CHILD_DELAY_MS, cut(why))


def cut(text: str) -> str:
    """`text` within what a record keeps as a reason, lone surrogates escaped."""
    return text.encode("utf-8", "backslashreplace")[:REASON_BYTES].decode("utf-8", "ignore")


def _described(error: BaseException) -> str:
    """One whose text cannot be had must still end its job."""
    try:
        return f"{type(error).__name__}: {error}"
    except Interrupt:
        raise
    except BaseException as another:  # noqa: BLE001 - somebody else's __str__
        return f"{type(error).__name__}: its text cannot be had ({type(another).__name__})"


def _packed(value: object) -> tuple[bytes | None, str]:
    try:
        result = pack(value, field="result")
    except PayloadError as error:
        return None, cut(str(error))
    if len(result) > RESULT_BYTES:
        return None, f"result of {len(result)} bytes, {RESULT_BYTES} allowed"
    return result, ""


def _attempt(run: Run, worker: str, error: str | None = None, trace: str | None = None) -> Attempt:
    now = time.monotonic()
    return Attempt(run.server_ms(run.started or now), run.server_ms(now), worker, error, trace)


def _traceback(error: BaseException) -> str:
    """Without our own frames at its head; the end of a long one, where the cause is."""
    if isinstance(error, asyncio.CancelledError) and error.__traceback__ is None:
        return ""
    lines = "".join(traceback.format_exception(error))
    return lines[-TRACEBACK_CHARACTERS:].encode("utf-8", "backslashreplace").decode()
