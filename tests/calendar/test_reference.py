"""The calendar agrees with a reference that looks at every minute, over clock changes of every shape."""

from __future__ import annotations

import random
from itertools import islice, product
from typing import TYPE_CHECKING

import pytest

from redisched.calendar import Cron
from tests.calendar.cases import instant
from tests.calendar.reference import Reading, Window

if TYPE_CHECKING:
    from datetime import datetime

    from redisched.calendar.policies import Gap, Repeat

CHANGES = [
    ("Europe/London", "2025-03-30T01:00Z"),
    ("Europe/London", "2025-10-26T01:00Z"),
    ("America/New_York", "2025-03-09T07:00Z"),
    ("America/New_York", "2024-11-03T06:00Z"),
    ("Australia/Lord_Howe", "2024-10-05T15:30Z"),
    ("Australia/Lord_Howe", "2025-04-05T15:00Z"),
    ("Antarctica/Troll", "2025-03-30T01:00Z"),
    ("Antarctica/Troll", "2025-10-26T01:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("Pacific/Kwajalein", "1993-08-21T12:00Z"),
    ("Pacific/Chatham", "2025-04-05T14:00Z"),
    ("Pacific/Chatham", "2025-09-27T14:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00Z"),
    ("America/Sao_Paulo", "2019-02-17T02:00Z"),
    ("America/Havana", "2025-03-09T05:00Z"),
    ("Africa/Casablanca", "2025-02-23T02:00Z"),
    ("Europe/Dublin", "2025-10-26T01:00Z"),
    ("Asia/Pyongyang", "2015-08-14T15:00Z"),
    ("America/Caracas", "2007-12-09T07:00Z"),
    ("Europe/Moscow", "2014-10-25T22:00Z"),
    ("Asia/Kathmandu", "1985-12-31T18:30Z"),
]
EXPRESSIONS = [
    "*/3 * * * *",
    "*/20 * * * *",
    "*/15 1-3 * * *",
    "15 */2 * * *",
    "0-59/25 1-4 * * *",
    "0,30 0,1,2,3,23 * * *",
    "30 1 * * *",
    "0 2 * * 0",
    "45 0-23 * * *",
    "0 0,3 1-31/2 * *",
    "50-10 22-2 * * *",
]
GAPS: tuple[Gap, ...] = ("shift", "skip")
REPEATS: tuple[Repeat, ...] = ("first", "second", "both")
changes = pytest.mark.parametrize(("zone", "change"), CHANGES)


def drawn_expressions(seed: str) -> list[str]:
    """A few expressions, the same in each run, that differ from one change to the next."""
    draw = random.Random(seed)
    minutes = ("0", "30", "5,35", "0-50/10", "45", "*/10", "20-40")
    hours = ("0", "1", "2", "3", "0-3", "1,2", "23", "*", "2-23/3", "22-1")
    days = ("* * *", "* * 0,6", "1-15 * 1", "* 1-12 *", "* * 5-7")
    return [f"{draw.choice(minutes)} {draw.choice(hours)} {draw.choice(days)}" for _ in range(4)]


@changes
def test_every_instant_around_a_change_is_the_one_expected(zone: str, change: str) -> None:
    """For all policies, forwards and backwards, with a name of its own for each."""
    window = Window(zone, instant(change), days=2)
    seen = 0
    for expression in [*EXPRESSIONS, *drawn_expressions(zone + change)]:
        reading = Reading(window, expression)
        for gap, repeat in policies(Cron(expression)):
            wanted = [at for at in reading.expected(gap, repeat) if inside(window, at)]
            check(Cron(expression, zone, gap=gap, repeat=repeat), wanted)
            seen += len(wanted)
    assert seen > 500


def policies(cron: Cron) -> list[tuple[Gap, Repeat]]:
    """Those that make a difference."""
    return [("shift", "first")] if cron.kind == "wildcard" else list(product(GAPS, REPEATS))


def inside(window: Window, at: datetime) -> bool:
    """True away from the edges, where the reference cannot see both passes or the end of a gap."""
    return abs(at - window.middle).total_seconds() < 1.1 * 86_400


def check(cron: Cron, wanted: list[datetime]) -> None:
    if len(wanted) < 2:
        return
    slots = islice(cron.slots_after(int(wanted[0].timestamp()) * 1000 - 1), len(wanted))
    found = {slot.id: slot.at for slot in slots}
    assert list(found.values()) == wanted, cron
    assert [cron.prev(at) for at in wanted[-1:0:-1]] == wanted[-2::-1], cron
