"""Hosts whose zone data disagree share one cursor, and run each local time once."""

from __future__ import annotations

import random
from importlib import resources
from io import BytesIO
from zoneinfo import ZoneInfo

import pytest

from redisched.calendar import Cron, Slot
from redisched.calendar.segments import Zone
from redisched.calendar.timetable import Rules, Timetable
from redisched.calendar.walls import Walls
from tests.calendar.cases import ms

DAYS = 60
START = ms("2025-10-20T00:00Z") // 1000


def zone_with_data_of(name: str) -> Zone:
    """A zone by the data of another: here it has summer time on one host and none on the other."""
    source = resources.files("tzdata") / "zoneinfo" / "America" / name
    return Zone("America/Somewhere", name, ZoneInfo.from_file(BytesIO(source.read_bytes())))


def hosts(expression: str, rules: Rules) -> list[Timetable]:
    """The same timetable on two hosts, seven hours behind on both, and eight in winter on one."""
    walls = Walls(expression, day_or=True, hash_id=None)
    return [Timetable(walls, zone_with_data_of(name), rules) for name in ("Los_Angeles", "Phoenix")]


def runs(timetables: list[Timetable], seed: int) -> list[Slot]:
    """What is run within 60 days if a host drawn at random fires each slot, after the one last run."""
    draw, found, moment, wall = random.Random(seed), list[Slot](), START, ""
    while moment < START + DAYS * 86_400:
        host = draw.choice(timetables)
        slot = host.after_wall(moment, wall) if wall else host.after(moment)
        assert slot is not None
        found.append(slot)
        moment, wall = slot.at_ms // 1000, slot.wall if slot.is_local else ""
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_daily_time_runs_once_per_local_day(seed: int) -> None:
    """None twice, none missed, whichever host comes first."""
    found = runs(hosts("0 9 * * *", Rules("shift", "first", local_ids=True)), seed)
    days = [slot.id[:9] for slot in found]
    assert len(set(days)) == len(days)
    assert days == sorted(days)
    assert len(days) in {DAYS, DAYS + 1}


@pytest.mark.parametrize("seed", range(3))
def test_a_wildcard_runs_at_each_instant_once(seed: int) -> None:
    """96 quarters of an hour a day, named by instants on which both hosts agree."""
    found = runs(hosts("*/15 * * * *", Rules("skip", "both", local_ids=False)), seed)
    assert len({slot.id for slot in found}) == len(found) == DAYS * 96


def test_the_name_of_a_slot_does_not_tell_the_data() -> None:
    """The same local time on both hosts, an hour apart in the instant."""
    summer, fixed = hosts("0 9 * * *", Rules("shift", "first", local_ids=True))
    winter = ms("2025-12-01T00:00Z") // 1000
    first, second = summer.after(winter), fixed.after(winter)
    assert first is not None
    assert second is not None
    assert first.id == second.id == "L20251201T090000"
    assert first.at_ms - second.at_ms == 3_600_000


def test_equal_timetables_give_equal_answers() -> None:
    """As many schedules that fall due together ask for."""
    crons = [Cron("0 9 * * *", "Europe/London") for _ in range(1000)]
    assert len({cron.slot_after(START * 1000) for cron in crons}) == 1
