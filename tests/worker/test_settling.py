"""What a run came to, as the word that the worker sends."""

from __future__ import annotations

import pytest

from redisched import Retry, Scheduler
from redisched.core.config import RESULT_BYTES
from redisched.core.outcome import KEPT_ATTEMPTS, TRACEBACK_CHARACTERS, Attempt, History
from redisched.core.record import BEGAN, Finish
from redisched.core.values import unpack
from redisched.store.operations.turns import Finished
from redisched.worker.run import Run, Stop
from redisched.worker.settling import REASON_BYTES, child_lost, cut, failed, released, succeeded
from redisched.worker.threads import Interrupt
from tests.apps.workshop import judged_rudely_async
from tests.worker.claims import claim, run_of

app = Scheduler()


@app.task(
    retry=Retry(max_attempts=2, base=3, jitter="none", retry_on=(OSError,), give_up_on=(FileExistsError,))
)
async def work() -> None: ...


def run(stop: Stop | None = None, **facts: object) -> Run:
    found = run_of(work, claim(work, **facts))  # type: ignore[arg-type]  # the words of claim()
    found.stop = stop
    return found


def history(word: Finished) -> History:
    return History.unpacked(word.outcome)


def test_a_result_is_kept_with_its_attempt() -> None:
    word = succeeded(run(), {"clicks": 3}, "w1")
    (attempt,) = history(word).attempts
    assert word.kind is Finish.SUCCEEDED
    assert unpack(history(word).result or b"") == {"clicks": 3}
    assert (attempt.worker, attempt.error) == ("w1", None)


def test_no_result_is_no_bytes() -> None:
    """The most common job of all costs nothing to remember."""
    assert succeeded(run(), None, "w1").outcome == b""


@pytest.mark.parametrize(
    ("value", "reason"), [(object(), "object"), (b"x" * RESULT_BYTES, "allowed")], ids=["type", "size"]
)
def test_a_result_that_cannot_be_kept_does_not_undo_the_work(value: object, reason: str) -> None:
    word = succeeded(run(), value, "w1")
    assert word.kind is Finish.SUCCEEDED
    assert reason in word.reason
    assert history(word).result is None


def test_an_error_worth_another_attempt_is_tried_again_after_its_delay() -> None:
    word = failed(run(), OSError("down"), "w1")
    assert (word.kind, word.delay_ms) == (Finish.RETRY, 3000)
    assert word.reason == "OSError: down"


@pytest.mark.parametrize(("started", "reason"), [(0.0, ""), (1.0, BEGAN)])
def test_a_release_says_whether_the_task_had_begun(started: float, reason: str) -> None:
    """For the script, so that a job that started in time does not expire."""
    handed_back = run(Stop.SHUTDOWN)
    handed_back.started = started
    word = failed(handed_back, OSError("ended"), "w1")
    assert (word.kind, word.reason) == (Finish.RELEASE, reason)


def test_the_last_attempt_ends_in_death() -> None:
    assert failed(run(attempts=1), OSError("down"), "w1").kind is Finish.DEAD


@pytest.mark.parametrize("error", [ValueError("no"), FileExistsError("there"), SystemExit(3)], ids=repr)
def test_an_error_not_worth_it_ends_at_once(error: BaseException) -> None:
    """Not in retry_on, or in give_up_on; a SystemExit ends its job like any other."""
    assert failed(run(), error, "w1").kind is Finish.DEAD


def test_the_calls_own_retry_numbers_win_and_the_tasks_classes_stay() -> None:
    meta: dict[str, object] = {"retry": [9, 500, 1.0, 60_000, "none"]}
    assert failed(run(meta=meta, attempts=5), OSError(), "w1").delay_ms == 500
    assert failed(run(meta=meta), ValueError(), "w1").kind is Finish.DEAD


def test_the_reason_of_a_timeout_is_the_timeout_not_the_cancellation() -> None:
    """TimeoutError is an OSError: the policy is asked about that, too."""
    word = failed(run(Stop.TIMEOUT, meta={"timeout": 1500}), RuntimeError("cleanup failed"), "w1")
    assert word.kind is Finish.RETRY
    assert "timeout of 1.5 s" in word.reason


@pytest.mark.parametrize("stop", [Stop.SHUTDOWN, Stop.LEASE_LOST])
def test_a_run_that_we_ended_ourselves_goes_back_uncounted(stop: Stop) -> None:
    assert failed(run(stop), RuntimeError(), "w1") == released(run())


def test_a_run_stopped_on_request_is_cancelled() -> None:
    assert failed(run(Stop.CANCELLED), RuntimeError(), "w1").kind is Finish.CANCELLED


def test_a_result_that_came_before_the_stop_counts() -> None:
    assert succeeded(run(Stop.CANCELLED), 1, "w1").kind is Finish.SUCCEEDED


def test_a_lost_child_counts_as_a_delivery_only() -> None:
    word = child_lost(run(), "was killed by signal 9")
    assert (word.kind, word.reason) == (Finish.LOST, "was killed by signal 9")


def test_history_keeps_the_newest_attempts() -> None:
    old = History(tuple(Attempt(n, n, "w0", "e") for n in range(KEPT_ATTEMPTS))).packed()
    attempts = history(failed(run(outcome=old), OSError("newest"), "w1")).attempts
    assert len(attempts) == KEPT_ATTEMPTS
    assert attempts[0].started_ms == 1
    assert attempts[-1].error == "OSError: newest"


def test_a_long_traceback_keeps_its_end() -> None:
    """The error is at the end of it."""
    (attempt,) = history(failed(run(), OSError("x" * 100_000 + "end"), "w1")).attempts
    assert len(attempt.traceback or "") == TRACEBACK_CHARACTERS
    assert (attempt.traceback or "").rstrip().endswith("end")


def test_a_reason_is_cut_between_characters() -> None:
    """A record keeps bytes; half a character would be unreadable. A lone surrogate is shown as an escape."""
    assert cut("é" * 1000) == "é" * (REASON_BYTES // 2)
    assert cut("\ud800") == "\\ud800"


def test_an_error_whose_text_raises_still_ends_its_job() -> None:
    """Somebody else's __str__ is no reason to lose a job."""

    class RudeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not telling")

    assert failed(run(), RudeError(), "w1").kind is Finish.DEAD


@pytest.mark.parametrize(
    "numbers",
    [
        [0, 500, 1.0, 60_000, "none"],
        [3, 500, float("nan"), 60_000, "none"],
        [3, 60_000, 1.0, 500, "none"],
        [3, 10**30, 1.0, 10**31, "none"],
        [3, 500, 10**400, 60_000, "none"],
        "often",
    ],
    ids=["no attempt", "no factor", "base over cap", "no duration", "no float", "no numbers"],
)
def test_retry_numbers_that_cannot_be_kept_leave_the_tasks_own(numbers: object) -> None:
    """Another client may have written them; the job must end all the same."""
    word = failed(run(meta={"retry": numbers}), OSError("down"), "w1")
    assert (word.kind, word.delay_ms) == (Finish.RETRY, 3000)


def test_where_no_word_can_be_made_the_job_is_dead() -> None:
    """Without a word its run would never end: its slot would be lost and its lease extended for ever."""
    word = failed(
        run_of(judged_rudely_async, claim(judged_rudely_async, outcome=b"kept")), OSError("down"), "w1"
    )
    assert (word.kind, word.outcome) == (Finish.DEAD, b"kept")
    assert word.reason == "no word could be made: RuntimeError: not telling"


def test_an_error_whose_text_ends_processes_ends_its_job_only() -> None:
    class RudeError(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

    word = failed(run(), RudeError(), "w1")
    assert (word.kind, word.reason) == (Finish.DEAD, "RudeError: its text cannot be had (SystemExit)")


def test_an_interrupt_that_comes_while_the_word_is_made_is_no_word() -> None:
    """It is the caller's, who makes the word once more, out of its reach."""

    class LateError(Exception):
        def __str__(self) -> str:
            raise Interrupt

    with pytest.raises(Interrupt):
        failed(run(), LateError(), "w1")


@pytest.mark.parametrize("timeout", [0, -5, True, 10**400], ids=["none", "negative", "truth", "endless"])
def test_a_timeout_that_cannot_be_kept_leaves_the_tasks_own(timeout: int) -> None:
    assert run(meta={"timeout": timeout}).timeout_ms is None
