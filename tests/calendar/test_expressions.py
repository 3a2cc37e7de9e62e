"""How expressions are read, where other engines differ."""

from __future__ import annotations

import pytest

from redisched.calendar import Cron
from redisched.core.errors import ScheduleError
from tests.calendar.cases import instant, instants

NEW_YEAR = instant("2026-01-01T00:00Z")  # a Thursday


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("* 9 * * *", "wildcard"),
        ("0 * * * *", "wildcard"),
        ("*/15 2 * * *", "wildcard"),
        ("5,*/20 2 * * *", "wildcard"),
        ("0 1,*/6 * * *", "wildcard"),
        ("@hourly", "wildcard"),
        ("H/15 9 * * *", "wildcard"),
        ("0-59 0-23 * * *", "fixed"),
        ("0 0-23/2 * * *", "fixed"),
        ("H H * * *", "fixed"),
        ("5/15 9 * * *", "fixed"),
        ("@daily", "fixed"),
    ],
)
def test_the_class_follows_the_text_of_minute_and_hour(expression: str, kind: str) -> None:
    """Each element of a list counts."""
    assert Cron(expression, hash_id="report").kind == kind


def test_seconds_stand_where_the_caller_says() -> None:
    """First as in Quartz, last as in croniter; never guessed."""
    expected = instants("2026-01-01T09:00:30Z", "2026-01-02T09:00:30Z")
    assert Cron("30 0 9 * * *", seconds="first").next(NEW_YEAR, 2) == expected
    assert Cron("0 9 * * * 30", seconds="last").next(NEW_YEAR, 2) == expected
    assert Cron("30 0 9 * * * 2026", seconds="first").next(NEW_YEAR, 2) == expected
    with pytest.raises(ScheduleError, match="no seconds"):
        Cron("0 9 * * *", seconds="first")


def test_a_step_beside_another_day_field_needs_a_rule() -> None:
    """OR and AND, both as said."""
    every_third = "0 0 */10 * 1"
    either = instants("2026-01-05T00:00Z", "2026-01-11T00:00Z", "2026-01-12T00:00Z", "2026-01-19T00:00Z")
    assert Cron(every_third, day_rule="or").next(NEW_YEAR, 4) == either
    both = instants("2026-05-11T00:00Z", "2026-06-01T00:00Z")
    assert Cron(every_third, day_rule="and").next(instant("2026-04-01T00:00Z"), 2) == both
    full = Cron("0 0 1-31 * */2", day_rule="or").next(NEW_YEAR, 2)
    assert full == instants("2026-01-02T00:00Z", "2026-01-03T00:00Z")


def test_two_restricted_day_fields_are_alternatives() -> None:
    """Unless the caller says `and`."""
    found = Cron("0 0 13 * 5").next(NEW_YEAR, 3)
    assert found == instants("2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z")
    friday_13 = Cron("0 0 13 * 5", day_rule="and").next(NEW_YEAR, 2)
    assert friday_13 == instants("2026-02-13T00:00Z", "2026-03-13T00:00Z")


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        ("0 0 * * 0-7", (2, 3, 4, 5)),
        ("0 0 * * 5-7", (2, 3, 4, 9)),
        ("0 0 * * 7-2", (4, 5, 6, 11)),
        ("0 0 * * 1-7/2", (2, 4, 5, 7)),
        ("0 0 * * sat-mon", (3, 4, 5, 10)),
        ("0 0 L * 5", (2, 9, 16, 23)),
        ("0 0 15W,15W * *", ()),
    ],
)
def test_weekdays_are_read_as_written(expression: str, days: tuple[int, ...]) -> None:
    """Sunday is 0 and 7; ranges may wrap around."""
    if not days:
        with pytest.raises(ScheduleError):
            Cron(expression)
        return
    assert [at.day for at in Cron(expression).next(NEW_YEAR, 4)] == list(days)


def test_a_hash_is_the_same_on_every_host() -> None:
    """Drawn from the name, not from chance."""
    first, again = Cron("H H * * *", hash_id="report"), Cron("H H * * *", hash_id="report")
    assert first.next(NEW_YEAR) == again.next(NEW_YEAR)
    others = {Cron("H H * * *", hash_id=f"report-{n}").next(NEW_YEAR, 1)[0] for n in range(20)}
    assert len(others) > 10
    with pytest.raises(ScheduleError, match="hash_id="):
        Cron("H H * * *")


def test_a_hash_id_changes_nothing_without_a_hash() -> None:
    """Nor does it turn aliases into hashed ones."""
    assert Cron("@daily", hash_id="report").next(NEW_YEAR) == Cron("@daily").next(NEW_YEAR)


def test_spaces_and_case_do_not_matter() -> None:
    """Equal but for the text itself."""
    assert Cron("  0\t9 *  * MON\n") == Cron("0 9 * * MON")
    assert Cron("0 9 * jan mon").next(NEW_YEAR) == Cron("0 9 * JAN MON").next(NEW_YEAR)


def test_an_uneven_step_is_warned_of() -> None:
    """With what to write instead."""
    (warning,) = Cron("*/40 * * * *").warnings(NEW_YEAR)
    assert "use Every" in warning
    assert Cron("*/90 * * * *").warnings(NEW_YEAR)
    assert Cron("*/15 */6 * * *").warnings(NEW_YEAR) == ()


def test_a_time_that_clocks_skip_or_repeat_is_warned_of_with_its_dates() -> None:
    """For two years from the start; a wildcard needs no policy."""
    warnings = Cron("30 1 * * *", "Europe/London").warnings(NEW_YEAR)
    assert [text[:16] for text in warnings] == [
        "2026-03-29 01:30",
        "2026-10-25 01:30",
        "2027-03-28 01:30",
        "2027-10-31 01:30",
    ]
    assert Cron("30 3 * * *", "Europe/London").warnings(NEW_YEAR) == ()
    assert Cron("30 * * * *", "Europe/London").warnings(NEW_YEAR) == ()
