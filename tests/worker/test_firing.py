"""Schedules that cannot be read: each is its own trouble, not the worker's nor its neighbours'."""

from __future__ import annotations

import asyncio
from typing import cast

from redisched import Every
from redisched.app.timetables import NAME_CHARACTERS
from redisched.core.config import PAYLOAD_BYTES
from redisched.core.errors import PayloadError
from redisched.core.ids import IdMaker
from redisched.core.values import pack
from redisched.store.operations.schedules import list_schedules, put_schedule
from redisched.store.operations.turns import DueSchedule
from redisched.worker.firing import Firing
from tests.apps.probe import probe
from tests.apps.workshop import raises
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import WORKSHOP


def put_due(fleet: Fleet, name: str, calendar: dict[str, object]) -> None:
    """A schedule that is due at once, stored as any other version or hand may have stored it."""
    backend = fleet.app.backend
    spec = pack([calendar, [probe.name, [], {}, {}], "latest", "allow"], field="schedule")
    put = put_schedule(backend.keyspace("default"), name, spec=spec, after_ms=0, next_ms=1, wall="")
    backend.executor().send(put)


def test_a_schedule_that_cannot_be_read_steps_aside_and_the_others_fire(fleet: Fleet) -> None:
    put_due(fleet, "odd", {"type": "every", "period_ms": float("nan"), "phase_ms": 0})
    put_due(fleet, "even", {"type": "every", "period_ms": 1000, "phase_ms": 0})
    worker = fleet.start()
    wait_for(fleet.starts, what="the readable one fires", timeout=10)
    assert {start.facts["schedule"] for start in fleet.starts()} == {"even"}
    assert "schedule odd cannot be read, it steps aside for a minute" in worker.log
    assert worker.end() == 0


def test_whatever_is_wrong_with_one_schedule_concerns_that_one_only(fleet: Fleet) -> None:
    """Even what no reader of definitions foresaw."""
    put_due(fleet, "odd", {"type": "every", "period_ms": 1000, "phase_ms": 0})
    put_due(fleet, "even", {"type": "every", "period_ms": 1000, "phase_ms": 0})
    backend = fleet.app.backend
    keyspace = backend.keyspace("default")
    page = backend.executor().send(list_schedules(keyspace))
    even = next(row.definition for row in page.rows if row.name == "even")
    due = [DueSchedule("odd", cast("bytes", None)), DueSchedule("even", even)]

    async def fire() -> int:
        async with asyncio.timeout(5):
            executor = await backend.ready_aio()
            return await Firing(executor, IdMaker()).fire(keyspace, due, page.now_ms)

    assert asyncio.run(fire()) == 1
    after = {row.name: row.next_ms or 0 for row in backend.executor().send(list_schedules(keyspace)).rows}
    assert after["odd"] >= page.now_ms + 59_000
    assert after["even"] <= page.now_ms + 1000


def test_a_schedule_whose_payload_is_accepted_fires(fleet: Fleet) -> None:
    """Its jobs carry their slot as well: a call that only just fits without one is refused at once."""
    name, fits, refused = "é" * NAME_CHARACTERS, 0, PAYLOAD_BYTES
    while refused - fits > 1:
        size = (fits + refused) // 2
        try:
            fleet.app.schedules.upsert(name, raises.call("ValueError", "x" * size), Every(seconds=1))
            fits = size
        except PayloadError:
            refused = size
    assert fits > PAYLOAD_BYTES - 1000
    fleet.app.schedules.upsert(name, raises.call("ValueError", "x" * fits), Every(seconds=1))
    worker = fleet.start(app=WORKSHOP)
    wait_for(fleet.starts, what="it fires", timeout=10)
    assert "steps aside" not in worker.log
