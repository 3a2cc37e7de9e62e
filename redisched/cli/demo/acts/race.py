"""Five instances want the same slot."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from redisched.app.timetables import Timetable
from redisched.calendar import Cron, Slot
from redisched.cli.demo.acts import Act
from redisched.cli.demo.promises import BrokenPromiseError, require, wait_for
from redisched.cli.demo.racers import Racers
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.shortener import weekly_report
from redisched.cli.demo.stage import Stage
from redisched.core.states import JobState
from redisched.store.operations.schedules import Fired, put_schedule

OWNER: Final = "ada"
NAME: Final = f"report:{OWNER}"
ZONE: Final = "America/New_York"
EXPRESSION: Final = "0 9 * * MON"
INSTANCES: Final = 5
SECONDS: Final = 30.0


def play(stage: Stage, screen: Screen) -> str:
    slot = _put_due_schedule(stage)
    local = f"{slot.at.astimezone(ZoneInfo(ZONE)):%A %d %B, %H:%M} in {ZONE}"
    screen.say(f"the weekly report of {OWNER} is due: {local}")
    with Racers(stage, INSTANCES, "reports", NAME) as racers, screen.waiting("the instances line up"):
        racers.line_up()
        screen.say(f"{INSTANCES} instances, each a process, have found it due: go")
        outcomes = racers.race()
    screen.say(f"they say: {', '.join(fired.name.lower() for fired, _ in outcomes)}")
    codes = sorted(fired for fired, _ in outcomes)
    require(codes == [Fired.LOST] * (INSTANCES - 1) + [Fired.FIRED], "exactly one fired it")
    jobs = [stage.app.job(job) for _, job in outcomes]
    there = [job for job in jobs if job.status() is not JobState.NOT_FOUND]
    require(len(there) == 1, f"there is one job (there are {len(there)})")
    there[0].result(timeout=SECONDS)
    reports = len(stage.notes("report", OWNER))
    require(reports == 1, f"one report was made ({reports} were)")
    return f"slot {local}: 1 fired, {INSTANCES - 1} lost, 1 job, 1 report"


def _put_due_schedule(stage: Stage) -> Slot:
    """A schedule as it stood before its latest slot. It is not on the list of what is due next: there the
    workers would see it at once, and the race would be over before the five have lined up.
    """
    timetable = Timetable(Cron(EXPRESSION, tz=ZONE), weekly_report.call(OWNER).call)
    slot = timetable.calendar.slot_before(time.time_ns() // 1_000_000)
    if slot is None:
        raise BrokenPromiseError(f"{EXPRESSION} has no slot before now")
    before = slot.at_ms - timedelta(days=1) // timedelta(milliseconds=1)
    put = put_schedule(
        stage.app.backend.keyspace("reports"),
        NAME,
        spec=timetable.packed(),
        after_ms=before,
        next_ms=None,
        wall="",
    )
    stage.app.backend.executor().send(put)
    wait_for(lambda: stage.app.schedules.get(NAME, queue="reports"), SECONDS, "the schedule is kept")
    return slot


RACE: Final = Act(
    f"5. {INSTANCES} instances and one slot of a weekly report",
    f"A slot that {INSTANCES} instances want at once, in the owner's own zone, becomes exactly one job",
    play,
)
