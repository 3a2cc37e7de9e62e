"""Looking at queues and their jobs: counts that agree with the lists, and pages of jobs by place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final, cast

from redisched.app.inspection import job_info
from redisched.app.results import JobInfo, instant
from redisched.core.config import PRIORITIES
from redisched.core.errors import PayloadError
from redisched.core.ids import public_id
from redisched.core.values import unpack
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations.jobs import Swept, list_jobs, sweep
from redisched.store.operations.queues import QueueStatus, WorkerRow, status

# A body may have 1 MiB: a page is what a reply can hold.
PAGE_JOBS: Final = 100
SWEPT_MEMBERS: Final = 10_000


class Place(Enum):
    """Where jobs are listed. UNCLAIMED: those watched for not being claimed in time."""

    SCHEDULED = "scheduled"
    READY = "ready"
    PROCESSING = "processing"
    ENDED = "ended"
    DEAD = "dead"
    UNCLAIMED = "unclaimed"

    @property
    def parts(self) -> tuple[str, ...]:
        """The lists of the store that make it up, in the order in which workers take from them."""
        if self is not Place.READY:
            return (self.value,)
        return tuple(f"ready:{priority}" for priority in range(PRIORITIES))


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker seen lately, and what it says of itself."""

    id: str
    last_seen_at: datetime | None
    about: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueReport:
    """One queue at one moment of the server's clock. `alarms`: jobs unclaimed for longer than they allow."""

    queue: str
    paused: bool
    scheduled: int
    ready: int
    processing: int
    ended: int
    dead: int
    alarms: int
    schedules: int
    now: datetime | None
    next_run_at: datetime | None
    counters: Mapping[str, int]
    workers: tuple[WorkerInfo, ...]


def report(keyspace: Keyspace, *, most: int = SWEPT_MEMBERS) -> Flow[QueueReport]:
    """What a queue holds. Members without a job are dropped first, so that counts equal what is listed;
    in places with more than `most` members only that many are looked at.
    """
    swept: dict[Place, Swept] = {}
    for place in Place:
        swept[place] = yield from _swept(keyspace, place, most)
    found = yield from status(keyspace)
    ready = swept[Place.READY]
    seen_whole = ready.looked_at < most
    return _report(keyspace.queue, found, ready.looked_at - ready.ghosts if seen_whole else found.ready)


def jobs_of(keyspace: Keyspace, places: Iterable[Place], *, limit: int = PAGE_JOBS) -> Flow[list[JobInfo]]:
    """The first `limit` jobs of these places, in their order; ghosts and stale entries are passed over."""
    found: list[JobInfo] = []
    for part in (part for place in places for part in place.parts):
        offset, total = 0, 1
        while offset < total and len(found) < limit:
            page = yield from list_jobs(keyspace, part, offset=offset, limit=PAGE_JOBS)
            found += [job_info(public_id(keyspace.queue, short), look) for short, look in page.rows]
            offset, total = offset + PAGE_JOBS, page.total
    return found[:limit]


def _swept(keyspace: Keyspace, place: Place, most: int) -> Flow[Swept]:
    """Sweep a place from its beginning; what is dropped makes the next page begin earlier."""
    looked_at = ghosts = 0
    for part in place.parts:
        offset, full = 0, True
        while full and looked_at < most:
            page = yield from sweep(keyspace, part, offset=offset, limit=PAGE_JOBS)
            looked_at, ghosts = looked_at + page.looked_at, ghosts + page.ghosts
            offset += page.looked_at - (0 if place is Place.READY else page.ghosts)
            full = page.looked_at == PAGE_JOBS
    return Swept(looked_at, ghosts)


def _report(queue: str, found: QueueStatus, ready: int) -> QueueReport:
    return QueueReport(
        queue=queue,
        paused=found.paused,
        scheduled=found.scheduled,
        ready=ready,
        processing=found.processing,
        ended=found.ended,
        dead=found.dead,
        alarms=found.alarms,
        schedules=found.schedules,
        now=instant(found.now_ms),
        next_run_at=instant(found.next_run_ms or 0),
        counters=found.counters,
        workers=tuple(map(_worker, found.workers)),
    )


def _worker(row: WorkerRow) -> WorkerInfo:
    try:
        about = unpack(row.about) if row.about else {}
    except PayloadError:
        about = {}
    said = cast("dict[str, object]", about) if isinstance(about, dict) else {}
    return WorkerInfo(row.id, instant(row.last_seen_ms), said)
