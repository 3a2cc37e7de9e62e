"""What a running task can know and say of itself."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from redisched.core.durations import from_ms
from redisched.core.errors import ArgumentError, RedischedError


@dataclass(frozen=True, slots=True)
class SlotInfo:
    """The slot of a schedule that this job was made for. `at` is its nominal time."""

    schedule: str
    id: str
    at: datetime


class JobControl:
    """Between a run and its worker: whether to stop, and how far it has got. Safe between threads."""

    def __init__(self, on_progress: Callable[[float, str], None] | None = None) -> None:
        self._stopping = False
        self._on_progress = on_progress

    def stop(self) -> None:
        self._stopping = True

    @property
    def stopping(self) -> bool:
        return self._stopping

    def progress(self, part: float, note: str) -> None:
        if self._on_progress:
            self._on_progress(part, note)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobContext:
    """One run of a job. `version` is the fencing token: it rises with each claim, so a store of your own can
    refuse a write that carries a lower one. `attempt` and `delivery` count from 1. Instants are aware UTC.
    """

    id: str
    task: str
    queue: str
    attempt: int
    delivery: int
    version: int
    created_at: datetime
    due_at: datetime
    started_at: datetime
    slot: SlotInfo | None = None
    control: JobControl = field(default_factory=JobControl, repr=False)

    @property
    def late_by(self) -> timedelta:
        """How long after its due time this run started, on the server's clock."""
        return self.started_at - self.due_at

    @property
    def stopping(self) -> bool:
        """Whether the run is asked to end: the job was cancelled, its lease was lost, or the worker stops."""
        return self.control.stopping

    def progress(self, part: float, note: str = "") -> None:
        """Say how far the run has got: `part` from 0 to 1. Logged by the worker.

        Raises ArgumentError for a part that is no number from 0 to 1. The note may be anything: it is the
        text of it that is told.
        """
        self.control.progress(_checked_part(part), _as_text(note))


def _checked_part(part: object) -> float:
    try:
        number = float(part)  # type: ignore[arg-type]  # what is no number is refused
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0 <= number <= 1:
        raise ArgumentError("part", part, "say how far the run has got as a number from 0 to 1")
    return number


def _as_text(note: object) -> str:
    """Lone surrogates escaped: the text goes to another process."""
    return str(note).encode("utf-8", "backslashreplace").decode()


class Running(Protocol):
    """A run that can tell of itself. Most tasks never ask, so nothing is told in advance."""

    def context(self) -> JobContext:
        """The same object each time."""
        ...


_CURRENT: ContextVar[Running] = ContextVar("redisched_job")


def current_job() -> JobContext:
    """The job that this code runs in; raises RedischedError outside a job."""
    try:
        running = _CURRENT.get()
    except LookupError:
        raise RedischedError("current_job() was called outside a job") from None
    return running.context()


def enter(running: Running) -> None:
    """Make this run the current one in this thread or asyncio task, for its lifetime."""
    _CURRENT.set(running)


def slot_info(value: object) -> SlotInfo | None:
    """The `slot` of a call's meta; None where the job was made for no slot."""
    match value:
        case [str(schedule), str(slot_id), int(at_ms)]:
            return SlotInfo(schedule, slot_id, from_ms(at_ms))
    return None
