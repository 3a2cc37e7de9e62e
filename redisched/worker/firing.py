"""Turns due slots into jobs. Any worker may try; the script lets one win."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from redisched.app.timetables import Timetable, call_of_slot
from redisched.calendar import Slot
from redisched.core.config import PRIORITY
from redisched.core.failpoints import failpoint_async
from redisched.core.ids import IdMaker
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.keys import Keyspace
from redisched.store.operations.jobs import NewJob
from redisched.store.operations.schedules import Definition, Fired, SlotToFire, fire, postpone
from redisched.store.operations.turns import DueSchedule

UNREADABLE_DELAY: Final = timedelta(minutes=1)
_LOG: Final = logging.getLogger("redisched.worker")


def slot_to_fire(due: DueSchedule, now_ms: int, job_id: str) -> SlotToFire:
    """The newest slot that is due (missed policy `latest`), as a job; where none is, the cursor moves on.

    Raises PayloadError or ScheduleError for a definition that cannot be read here.
    """
    kept = Definition.unpacked(due.definition)
    timetable = Timetable.unpacked(kept.spec)
    slot = timetable.calendar.slot_before(now_ms + 1)
    if slot is None:
        return _moved_on(due.name, kept, timetable.calendar.slot_after(now_ms))
    following = timetable.calendar.slot_after(max(now_ms, slot.at_ms), slot.wall if slot.is_local else "")
    body = call_of_slot(timetable.call, due.name, slot.id, slot.at_ms).packed()
    return SlotToFire(
        name=due.name,
        incarnation=kept.incarnation,
        revision=kept.revision,
        slot_id=slot.id,
        at_ms=slot.at_ms,
        wall=slot.wall if slot.is_local else "",
        next_ms=following.at_ms if following else None,
        job=NewJob(id=job_id, body=body, at_ms=slot.at_ms, priority=PRIORITY),
    )


def _moved_on(name: str, kept: Definition, following: Slot | None) -> SlotToFire:
    """Due by the store, not by our zone data: a slot before all others, which is stale, and the next one."""
    return SlotToFire(
        name=name,
        incarnation=kept.incarnation,
        revision=kept.revision,
        slot_id="none",
        at_ms=0,
        wall="",
        next_ms=following.at_ms if following else None,
        job=None,
    )


class Firing:
    """Fires what a turn reports as due."""

    def __init__(self, executor: AsyncExecutor, ids: IdMaker) -> None:
        self._executor = executor
        self._ids = ids

    async def fire(self, keyspace: Keyspace, due: Sequence[DueSchedule], now_ms: int) -> int:
        """How many slots became jobs by us. Losing one to another worker is no error."""
        slots: list[SlotToFire] = []
        for one in due:
            try:
                slot = slot_to_fire(one, now_ms, self._ids.make())
            except Exception as error:  # noqa: BLE001 - of one schedule; the others and the worker go on
                await self._step_aside(keyspace, one.name, error)
                continue
            slots.append(slot)
        if not slots:
            return 0
        await failpoint_async("fire.before")
        fired = await self._executor.send(fire(keyspace, slots))
        await failpoint_async("fire.after")
        return fired.count(Fired.FIRED)

    async def _step_aside(self, keyspace: Keyspace, name: str, error: Exception) -> None:
        _LOG.error("schedule %s cannot be read, it steps aside for a minute: %s", ascii(name)[1:-1], error)
        await self._executor.send(postpone(keyspace, name, UNREADABLE_DELAY))
