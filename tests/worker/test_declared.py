"""Schedules declared in code: in force once a worker starts, fired once whoever races for it."""

from __future__ import annotations

from collections import Counter

from redisched import Every
from tests.apps.timetable import app as timetable
from tests.fleet import Fleet
from tests.waiting import wait_for

APP = "tests.apps.timetable:app"
NAMES = {"tests.apps.timetable.ticks", "named: a/b"}


def slots(fleet: Fleet) -> list[tuple[object, object]]:
    """Schedule and slot of every start."""
    return [(start.facts["schedule"], start.facts["slot"]) for start in fleet.starts()]


def test_declared_schedules_are_in_force_once_a_worker_has_started(fleet: Fleet) -> None:
    assert fleet.app.schedules.list() == []
    fleet.start(app=APP)
    wait_for(lambda: len(fleet.app.schedules.list()) == 2, what="both schedules")
    found = fleet.app.schedules.list()
    assert {schedule.name for schedule in found} == NAMES == set(timetable.declared)
    assert {schedule.timetable.calendar for schedule in found if schedule.timetable} == {Every(seconds=1)}


def test_five_workers_that_race_make_one_job_of_each_slot(fleet: Fleet) -> None:
    """Each slot once and none left out, on both schedules, from the first to the last that fired."""
    workers = [fleet.start(app=APP, ready=False) for _ in range(5)]
    for worker in workers:
        worker.wait_until_ready()
    wait_for(lambda: len(slots(fleet)) >= 8, what="four slots of each", timeout=15)
    for worker in workers:
        assert worker.end() == 0
    assert max(Counter(slots(fleet)).values()) == 1
    for name in NAMES:
        fired = sorted(int(str(slot)[1:]) for schedule, slot in slots(fleet) if schedule == name)
        assert fired == list(range(fired[0], fired[-1] + 1))


def test_the_same_code_again_changes_nothing(fleet: Fleet) -> None:
    """A restart neither edits a schedule nor fires it at once."""
    for _ in range(3):
        assert fleet.start(app=APP).end() == 0
    assert {schedule.revision for schedule in fleet.app.schedules.list()} == {1}


def test_a_declared_schedule_that_was_removed_comes_back_with_the_next_start(fleet: Fleet) -> None:
    """The code says that it is wanted; who does not want it takes it out of the code."""
    fleet.start(app=APP).end()
    assert fleet.app.schedules.remove("named: a/b")
    fleet.start(app=APP).end()
    assert {schedule.name for schedule in fleet.app.schedules.list()} == NAMES
