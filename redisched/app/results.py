"""From where a job stands to its result, or to the error that says why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from redisched.core.durations import from_ms
from redisched.core.errors import (
    JobCancelledError,
    JobDeadError,
    JobError,
    JobExpiredError,
    JobNotFoundError,
    ResultNotKeptError,
)
from redisched.core.outcome import Attempt, History
from redisched.core.states import JobState
from redisched.core.values import unpack
from redisched.store.operations.jobs import Look

FIRST_PAUSE = 0.005
LONGEST_PAUSE = 0.25


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a job that succeeded."""

    value: object


def ended(job_id: str, look: Look) -> Ended | None:
    """None while the job has not ended; raises the JobError that says why there is no result."""
    if not look.state.is_end and look.state is not JobState.NOT_FOUND:
        return None
    history = History.unpacked(look.record.outcome) if look.record else History()
    if look.state is JobState.SUCCEEDED and history.result is not None:
        return Ended(unpack(history.result))
    if look.state is JobState.SUCCEEDED and look.record and look.record.retention and not look.record.reason:
        return Ended(None)
    raise _no_result(job_id, look, history)


_ENDS: Final = {
    JobState.NOT_FOUND: (JobNotFoundError, "not found: it never was, or it was pruned after its retention"),
    JobState.PRUNED: (ResultNotKeptError, "ended; its result has expired"),
    JobState.SUCCEEDED: (ResultNotKeptError, "succeeded; its result was not kept"),
    JobState.CANCELLED: (JobCancelledError, "cancelled"),
    JobState.EXPIRED: (JobExpiredError, "expired: it was not started in time"),
}


def _no_result(job_id: str, look: Look, history: History) -> JobError:
    if look.state is JobState.DEAD:
        reason = look.record.reason if look.record else look.fault
        traceback = history.attempts[-1].traceback if history.attempts else None
        return JobDeadError(job_id, f"dead: {reason}", traceback)
    if look.never_kept:
        return ResultNotKeptError(job_id, "ended; its retention is 0, so its result was not kept")
    kind, reason = _ENDS[look.state]
    return kind(job_id, reason)


def pauses() -> Iterator[float]:
    """Between looks at a job whose result is awaited: short at first."""
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class JobInfo:
    """All that is known of a job. Instants are aware UTC, of the server's clock; None: not yet.

    `alarm`: it has waited to be claimed for longer than its `unclaimed_timeout`.
    """

    id: str
    state: JobState
    task: str | None
    args: tuple[object, ...]
    kwargs: dict[str, object]
    priority: int
    attempts: int
    deliveries: int
    version: int
    created_at: datetime | None
    due_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    reason: str
    worker: str
    unique: str | None
    alarm: bool
    history: tuple[Attempt, ...]

    @property
    def traceback(self) -> str | None:
        """Of the last failure."""
        return next((a.traceback for a in reversed(self.history) if a.traceback), None)


def instant(ms: int) -> datetime | None:
    return from_ms(ms) if ms else None
