"""What clients do with jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from redisched.core.config import RETENTION, SCRIPT_ELEMENTS
from redisched.core.errors import ArgumentError, PayloadError
from redisched.core.ids import public_id
from redisched.core.record import HEAD_BYTES, Record, Status
from redisched.core.states import CancelOutcome, JobState, RescheduleOutcome, ReviveOutcome
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, call
from redisched.store.packing import for_lua
from redisched.store.reading import as_bytes, as_int, as_list, as_optional_int, in_rows

UNIQUE_BYTES: Final = 65_535
"""What the length before it in a record can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to store. `at_ms` or `delay_ms`; durations in ms, None where the default holds."""

    id: str
    body: bytes
    at_ms: int | None = None
    delay_ms: int = 0
    priority: int
    expires_ms: int | None = None
    unclaimed_ms: int | None = None
    retention_ms: int | None = None
    unique: str | None = None

    def __post_init__(self) -> None:
        if self.unique is not None and not 1 <= len(self.unique.encode()) <= UNIQUE_BYTES:
            reason = f"a unique key is a text of 1 to {UNIQUE_BYTES} bytes"
            raise ArgumentError("unique", self.unique, reason)

    def row(self) -> list[object]:
        """As `lua/lib/store_job.lua` takes it; False is nil to a script."""
        given = (self.expires_ms, self.unclaimed_ms, self.retention_ms, self.unique)
        at = False if self.at_ms is None else self.at_ms
        return [
            self.id,
            self.body,
            at,
            self.delay_ms,
            self.priority,
            *(False if item is None else item for item in given),
        ]


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a job to store. `holder`: the id of the live job that has its unique key."""

    created: bool
    holder: str | None = None


def enqueue(keyspace: Keyspace, jobs: Sequence[NewJob]) -> Operation[list[Stored]]:
    """Store jobs, at most `SCRIPT_ELEMENTS` of them. A job whose id is known is left as it is."""
    if len(jobs) > SCRIPT_ELEMENTS:
        raise ArgumentError("jobs", len(jobs), f"at most {SCRIPT_ELEMENTS} in one call")
    rows = for_lua([job.row() for job in jobs])
    subjects = tuple(public_id(keyspace.queue, job.id) for job in jobs)
    return call("enqueue", keyspace, _stored, subjects=subjects, jobs=rows)


def _stored(reply: object) -> list[Stored]:
    return [
        Stored(item == 1) if isinstance(item, int) else Stored(False, as_bytes(item).decode())
        for item in as_list(reply)
    ]


_CANCELS = {
    0: CancelOutcome.NOT_FOUND,
    1: CancelOutcome.CANCELLED,
    2: CancelOutcome.STOP_REQUESTED,
    3: CancelOutcome.ALREADY_ENDED,
}
_RESCHEDULES = {
    0: RescheduleOutcome.NOT_FOUND,
    1: RescheduleOutcome.RESCHEDULED,
    2: RescheduleOutcome.ALREADY_STARTED,
    3: RescheduleOutcome.ALREADY_ENDED,
}
_REVIVES = {0: ReviveOutcome.NOT_FOUND, 1: ReviveOutcome.REVIVED, 2: ReviveOutcome.NOT_ENDED}


def cancel(keyspace: Keyspace, short: str, retention: timedelta = RETENTION) -> Operation[CancelOutcome]:
    """A waiting job ends as cancelled; a running one is asked to stop."""
    return call(
        "cancel",
        keyspace,
        lambda reply: _CANCELS[as_int(reply)],
        subjects=(public_id(keyspace.queue, short),),
        id=short,
        retention=_ms(retention),
    )


def reschedule(
    keyspace: Keyspace, short: str, *, at_ms: int | None, delay_ms: int = 0
) -> Operation[RescheduleOutcome]:
    """A waiting job gets another run time."""
    return call(
        "reschedule",
        keyspace,
        lambda reply: _RESCHEDULES[as_int(reply)],
        subjects=(public_id(keyspace.queue, short),),
        id=short,
        at="" if at_ms is None else at_ms,
        delay="" if at_ms is not None else delay_ms,
    )


@dataclass(frozen=True, slots=True)
class Revived:
    """`holder`: the short id of the job that has the unique key."""

    outcome: ReviveOutcome
    holder: str | None = None


def revive(keyspace: Keyspace, short: str) -> Operation[Revived]:
    """An ended job runs again."""

    def read(reply: object) -> Revived:
        if isinstance(reply, int):
            return Revived(_REVIVES[reply])
        return Revived(ReviveOutcome.UNIQUE_KEY_HELD, as_bytes(reply).decode())

    return call("revive", keyspace, read, subjects=(public_id(keyspace.queue, short),), id=short)


def discard(keyspace: Keyspace, shorts: Sequence[str], window: timedelta) -> Operation[int]:
    """Drop ended jobs now; how many were dropped."""
    limits = for_lua({"window": _ms(window)})
    return call("discard", keyspace, as_int, ids=for_lua(list(dict.fromkeys(shorts))), limits=limits)


@dataclass(frozen=True, slots=True)
class Look:
    """Where a job stands at `now_ms`. `record` and `body` are None where nothing legible is kept.
    `alarm_at_ms`: from when on its being unclaimed is an alarm.
    """

    state: JobState
    now_ms: int
    record: Record | None = None
    body: bytes | None = None
    run_at_ms: int | None = None
    lease_end_ms: int | None = None
    alarm_at_ms: int | None = None
    never_kept: bool = False
    fault: str | None = None


def look(keyspace: Keyspace, short: str) -> Operation[Look]:
    """Reads only."""
    return call("look", keyspace, _look, subjects=(public_id(keyspace.queue, short),), id=short)


def _look(reply: object) -> Look:
    now, body, state, *instants = as_list(reply)
    return _looked(as_int(now), as_bytes(body), as_bytes(state), *map(as_optional_int, instants))


def _looked(
    now_ms: int,
    body: bytes,
    state: bytes,
    run_at: int | None = None,
    lease_end: int | None = None,
    alarm_at: int | None = None,
) -> Look:
    """What the stored values of one job say."""
    if not body:
        return Look(JobState.NOT_FOUND, now_ms)
    if len(body) == 1:
        return Look(JobState.PRUNED, now_ms, never_kept=body == b"z")
    try:
        record = Record.of_state(state) if state else Record.of_head(body)
    except PayloadError as error:
        return Look(JobState.DEAD, now_ms, None, body, run_at, lease_end, alarm_at, fault=error.reason)
    return Look(_placed(record, run_at), now_ms, record, body[HEAD_BYTES:], run_at, lease_end, alarm_at)


def _placed(record: Record, run_at: int | None) -> JobState:
    if record.status is Status.WAITING:
        return JobState.READY if run_at is None else JobState.SCHEDULED
    return JobState[record.status.name]


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a place: `total` members in all, and (short id, look) of those on this page that exist."""

    total: int
    rows: tuple[tuple[str, Look], ...]


def list_jobs(keyspace: Keyspace, place: str, *, offset: int = 0, limit: int = 100) -> Operation[Page]:
    """`place`: scheduled, ready:N, processing, ended, dead or unclaimed. Ghosts are left out."""
    return call(
        "list_jobs", keyspace, lambda reply: _page(reply, place), place=place, offset=offset, limit=limit
    )


@dataclass(frozen=True, slots=True)
class Swept:
    """How many members of a place were looked at, and how many of them stood for no job."""

    looked_at: int
    ghosts: int


def sweep(keyspace: Keyspace, place: str, *, offset: int = 0, limit: int = 100) -> Operation[Swept]:
    """Drop the ghosts on one page of a place; those in a ready list are counted only."""
    return call(
        "sweep",
        keyspace,
        lambda reply: Swept(*map(as_int, as_list(reply))),
        place=place,
        offset=offset,
        limit=limit,
    )


def _page(reply: object, place: str) -> Page:
    items = as_list(reply)
    now = as_int(items[0])
    rows = (_row(place, now, *row) for row in in_rows(items[2:], 5))
    return Page(as_int(items[1]), tuple(row for row in rows if row is not None))


def _row(
    place: str, now_ms: int, member: object, score: object, body: object, state: object, alarm_at: object
) -> tuple[str, Look] | None:
    """None for a ghost (no job of that id) and for an entry whose generation is over."""
    text, at = as_bytes(member).decode("utf-8", "backslashreplace"), as_optional_int(score)
    run_at, lease_end = (at if place == name else None for name in ("scheduled", "processing"))
    stored = as_bytes(body), as_bytes(state)
    found = _looked(now_ms, *stored, run_at, lease_end, as_optional_int(alarm_at))
    if found.state in {JobState.NOT_FOUND, JobState.PRUNED}:
        return None
    if place != "scheduled" and not place.startswith("ready"):
        return text, found
    return None if _is_stale(text, found) else (text.partition(":")[2], found)


def _is_stale(entry: str, found: Look) -> bool:
    """An entry of a generation that is over: the job was cancelled or rescheduled since."""
    record = found.record
    return record is not None and not (
        record.status is Status.WAITING and entry.startswith(f"{record.priority}{record.generation}:")
    )


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
