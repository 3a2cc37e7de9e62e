"""Schedules: named timetables, kept beside the jobs of their queue; blocking and for asyncio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from redisched.app.backend import Backend
from redisched.app.results import instant
from redisched.app.task import TaskCall
from redisched.app.timetables import (
    Timetable,
    check_size,
    checked_calendar,
    checked_policies,
    checked_schedule_name,
)
from redisched.calendar import Calendar, Slot
from redisched.core.config import QUEUE
from redisched.core.errors import PayloadError, ScheduleError
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations import schedules as stored
from redisched.store.operations.queues import server_time_ms
from redisched.store.operations.schedules import Definition, Put, ScheduleRow

Instants = list[datetime]


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A schedule as it is stored. `timetable` is None where this version cannot read it: `fault` says why."""

    name: str
    queue: str
    next_at: datetime | None
    fired: int
    revision: int
    paused: bool
    timetable: Timetable | None
    fault: str | None = None


def put(keyspace: Keyspace, name: str, timetable: Timetable) -> Flow[Put]:
    """Create or edit. The first slot lies after the server's now: creating and editing never fire."""
    now_ms = yield from server_time_ms()
    slot = timetable.calendar.slot_after(now_ms)
    if slot is None:
        raise ScheduleError("calendar", timetable.calendar, "it has no slot after now")
    wall = timetable.calendar.wall_at(now_ms) if slot.is_local else ""
    return (
        yield from stored.put_schedule(
            keyspace, name, spec=timetable.packed(), after_ms=now_ms, next_ms=slot.at_ms, wall=wall
        )
    )


def find(keyspace: Keyspace, name: str) -> Flow[ScheduleInfo | None]:
    page = yield from stored.list_schedules(keyspace, name=name)
    return schedule_info(keyspace, page.rows[0]) if page.rows and page.rows[0].definition else None


def find_all(keyspace: Keyspace) -> Flow[list[ScheduleInfo]]:
    """All of a queue, by name."""
    rows: dict[str, ScheduleRow] = {}
    cursor = 0
    while True:
        page = yield from stored.list_schedules(keyspace, cursor=cursor)
        rows |= {row.name: row for row in page.rows if row.definition}
        cursor = page.cursor
        if cursor == 0:
            return [schedule_info(keyspace, rows[name]) for name in sorted(rows)]


def schedule_info(keyspace: Keyspace, row: ScheduleRow) -> ScheduleInfo:
    next_at = instant(row.next_ms or 0)
    try:
        kept = Definition.unpacked(row.definition)
        timetable = Timetable.unpacked(kept.spec)
    except (PayloadError, ScheduleError) as error:
        return ScheduleInfo(row.name, keyspace.queue, next_at, 0, 0, False, None, error.reason)
    return ScheduleInfo(row.name, keyspace.queue, next_at, kept.fired, kept.revision, kept.paused, timetable)


def timetable_of(
    name: str, call: TaskCall[object], calendar: Calendar, missed: str, overlap: str
) -> Timetable:
    """Checked, with the schedule's name; raises ScheduleError, or PayloadError for arguments that cannot be
    carried, or not together with a slot.
    """
    checked_schedule_name(name)
    checked_policies(missed, overlap)
    if not isinstance(call, TaskCall):
        raise ScheduleError("call", call, "pass a call of a task: my_task.call(…)")
    check_size(call.call, name)
    return Timetable(checked_calendar(calendar), call.call)


class Schedules:
    """The timetables of an application. A name is one schedule of its queue; putting it again edits it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def upsert(
        self,
        name: str,
        call: TaskCall[object],
        calendar: Calendar,
        *,
        missed: str = "latest",
        overlap: str = "allow",
    ) -> Put:
        """Create the schedule, or change it where it differs; says which. Never fires at once.

        Raises ScheduleError for a name, a calendar or a policy that cannot be kept.
        """
        timetable = timetable_of(name, call, calendar, missed, overlap)
        keyspace = self._backend.keyspace(call.queue)
        return self._backend.executor().run(put(keyspace, name, timetable))

    def get(self, name: str, *, queue: str = QUEUE) -> ScheduleInfo | None:
        """The schedule of that name, or None."""
        keyspace = self._backend.keyspace(queue)
        return self._backend.executor().run(find(keyspace, checked_schedule_name(name)))

    def list(self, *, queue: str = QUEUE) -> list[ScheduleInfo]:
        """All schedules of a queue, by name."""
        return self._backend.executor().run(find_all(self._backend.keyspace(queue)))

    def next(self, name: str, count: int = 6, *, queue: str = QUEUE) -> Instants:
        """Its next `count` slots after the server's now; aware, in UTC. ScheduleError where there is none."""
        info = self.get(name, queue=queue)
        if info is None or info.timetable is None:
            raise ScheduleError(
                "name", name, info.fault or "unreadable" if info else "there is no such schedule"
            )
        now_ms = self._backend.executor().send(server_time_ms())
        return [slot.at for slot in islice(_slots(info.timetable, now_ms), count)]

    def remove(self, name: str, *, queue: str = QUEUE) -> bool:
        """Whether there was one. Once this returns it fires no more; jobs that it made stay."""
        keyspace = self._backend.keyspace(queue)
        return self._backend.executor().send(stored.remove_schedule(keyspace, checked_schedule_name(name)))


class AsyncSchedules:
    """The asyncio twin of `Schedules`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def upsert(
        self,
        name: str,
        call: TaskCall[object],
        calendar: Calendar,
        *,
        missed: str = "latest",
        overlap: str = "allow",
    ) -> Put:
        """As `Schedules.upsert`."""
        timetable = timetable_of(name, call, calendar, missed, overlap)
        keyspace = self._backend.keyspace(call.queue)
        executor = await self._backend.ready_aio()
        return await executor.run(put(keyspace, name, timetable))

    async def get(self, name: str, *, queue: str = QUEUE) -> ScheduleInfo | None:
        """As `Schedules.get`."""
        executor = await self._backend.ready_aio()
        return await executor.run(find(self._backend.keyspace(queue), checked_schedule_name(name)))

    async def list(self, *, queue: str = QUEUE) -> list[ScheduleInfo]:
        """As `Schedules.list`."""
        executor = await self._backend.ready_aio()
        return await executor.run(find_all(self._backend.keyspace(queue)))

    async def remove(self, name: str, *, queue: str = QUEUE) -> bool:
        """As `Schedules.remove`."""
        executor = await self._backend.ready_aio()
        keyspace = self._backend.keyspace(queue)
        return await executor.send(stored.remove_schedule(keyspace, checked_schedule_name(name)))


def _slots(timetable: Timetable, after_ms: int) -> Iterator[Slot]:
    return timetable.calendar.slots_after(after_ms)
