"""`redisched schedules`."""

from __future__ import annotations

from redisched import Cron, Scheduler
from tests.cli.command_line import CommandLine
from tests.ops.yard import Yard


def declare(app: Scheduler, *names: str) -> None:
    report = app.task(name="shop.report")(lambda owner: owner)
    for name in names:
        app.schedules.upsert(name, report.call(name), Cron("0 9 * * MON", tz="Europe/London"))


def test_schedules_are_listed_and_shown(cli: CommandLine, yard: Yard) -> None:
    declare(yard.app, "b", "a")

    found = cli("schedules", "list", "--json").json
    assert [(one["name"], one["task"], one["args"]) for one in found] == [
        ("a", "shop.report", ["a"]),
        ("b", "shop.report", ["b"]),
    ]
    assert len(cli("schedules", "list").out.splitlines()) == 3
    assert cli("schedules", "show", "a", "--json").json == found[0]
    assert "no schedule c" in cli("schedules", "show", "c", code=1).error


def test_the_next_slots_are_printed(cli: CommandLine, yard: Yard) -> None:
    declare(yard.app, "a")

    expected = yard.app.schedules.next("a", 3)
    assert cli("schedules", "next", "a", "-n", "3", "--json").json == [slot.isoformat() for slot in expected]
    assert "'c'" in cli("schedules", "next", "c", code=1).error


def test_a_schedule_is_removed_once(cli: CommandLine, yard: Yard) -> None:
    declare(yard.app, "a")

    assert cli("schedules", "remove", "a").line == "a: removed"
    assert "no schedule a" in cli("schedules", "remove", "a", code=1).error
    assert yard.app.schedules.list() == []
