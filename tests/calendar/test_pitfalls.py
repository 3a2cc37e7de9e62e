"""The known traps of local time, one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from redisched.calendar import Cron, Every, Slot
from redisched.core.errors import ScheduleError
from tests.calendar.cases import instant, instants, ms

LONDON = "Europe/London"


def slot_after(cron: Cron, start: str, after_wall: str = "") -> Slot:
    """The next slot, which must be there."""
    slot = cron.slot_after(ms(start), after_wall)
    assert slot is not None
    return slot


@pytest.mark.parametrize(
    ("expression", "last"), [("0 1,2 * * *", "20250330T020000"), ("0,30 1 * * *", "20250330T013000")]
)
def test_times_collapsed_by_a_gap_are_one_slot_with_the_cursor_past_all(expression: str, last: str) -> None:
    """Named by the first of them."""
    slot = slot_after(Cron(expression, LONDON), "2025-03-29T12:00Z")
    assert slot == Slot(ms("2025-03-30T01:00Z"), "L20250330T010000", last)
    assert slot_after(Cron(expression, LONDON), "2025-03-30T01:00Z").wall > last
    assert Cron(expression, LONDON).slot_before(ms("2025-03-30T01:00Z") + 1) == slot


def test_a_skipped_gap_does_not_name_the_slot_at_its_end() -> None:
    """The time that exists keeps its own name."""
    slot = slot_after(Cron("0 1,2 * * *", LONDON, gap="skip"), "2025-03-29T12:00Z")
    assert slot.id == "L20250330T020000"


@pytest.mark.parametrize("fold", [0, 1])
def test_the_fold_of_a_start_is_honoured(fold: int) -> None:
    """Two starts that compare equal as local times are an hour apart."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - shows the trap: a user's own zone

    start = datetime(2025, 10, 26, 1, 15, tzinfo=ZoneInfo(LONDON), fold=fold)
    assert Cron("*/30 * * * *", LONDON).next(start, 1) == instants(f"2025-10-26T0{fold}:30Z")


def test_names_tell_both_passes_apart_only_where_both_run() -> None:
    """By the instant for `both`, by the local time for a single pass."""
    both = [slot_after(Cron("30 1 * * *", LONDON, repeat="both"), f"2025-10-26T0{h}:00Z").id for h in (0, 1)]
    assert both == [f"U{ms(f'2025-10-26T0{h}:30Z') // 1000}" for h in (0, 1)]
    for repeat, hour in (("first", 0), ("second", 1)):
        cron = Cron("30 1 * * *", LONDON, repeat=repeat)  # type: ignore[arg-type]  # both words are known
        slot = slot_after(cron, "2025-10-25T12:00Z")
        assert (slot.id, slot.at) == ("L20251026T013000", instant(f"2025-10-26T0{hour}:30Z"))


def test_a_local_time_that_ran_is_not_run_again_by_newer_zone_data() -> None:
    """The cursor is the wall: the slot after it, even where the instant is still to come."""
    cron = Cron("0 9 * * *", LONDON)
    assert slot_after(cron, "2025-07-01T07:00Z").id == "L20250701T090000"
    assert slot_after(cron, "2025-07-01T07:00Z", "20250701T090000").id == "L20250702T090000"
    assert slot_after(cron, "2025-07-01T07:00Z", "20260701T090000").id == "L20260702T090000"
    with pytest.raises(ScheduleError, match=r"^wall="):
        cron.slot_after(ms("2025-07-01T07:00Z"), "tomorrow")


def test_the_wall_is_no_cursor_for_slots_named_by_their_instant() -> None:
    """Both passes of the repeated hour run."""
    cron = Cron("*/30 * * * *", LONDON)
    assert slot_after(cron, "2025-10-26T00:30Z", "20251026T013000").at == instant("2025-10-26T01:00Z")


def test_the_wall_of_an_instant_is_where_a_cursor_starts() -> None:
    """In the zone of the timetable."""
    assert Cron("0 9 * * *", LONDON).wall_at(ms("2025-07-01T07:00Z")) == "20250701T080000"
    assert Every(hours=1).wall_at(ms("2025-07-01T07:00Z")) == "20250701T070000"


def test_a_change_of_less_than_a_minute_is_kept_to_the_second() -> None:
    """Monrovia went forward by 44:30 at midnight."""
    cron = Cron("30 0 * * *", "Africa/Monrovia")
    assert cron.next(instant("1972-01-06T12:00Z"), 2) == instants("1972-01-07T00:44:30Z", "1972-01-08T00:30Z")
    every_quarter = Cron("*/15 * * * *", "Africa/Monrovia").next(instant("1972-01-07T00:20Z"), 3)
    assert every_quarter == instants("1972-01-07T00:29:30Z", "1972-01-07T00:45Z", "1972-01-07T01:00Z")


def test_a_day_that_a_zone_left_out_shifts_to_the_next() -> None:
    """Apia had no 30 December 2011; a skipped gap of a whole day of seconds is passed quickly."""
    shifted = Cron("0 9 30 12 *", "Pacific/Apia")
    assert shifted.next(instant("2011-12-01T00:00Z"), 1) == instants("2011-12-30T10:00Z")
    skipped = Cron("* * 0-23 * * *", "Pacific/Apia", gap="skip", seconds="first")
    assert skipped.kind == "wildcard"
    dense = Cron("0-59 0-59 0-23 * * *", "Pacific/Apia", gap="skip", seconds="first")
    assert dense.next(instant("2011-12-30T09:59:59Z"), 1) == instants("2011-12-30T10:00Z")
    assert dense.prev(instant("2011-12-30T10:00Z")) == instant("2011-12-30T09:59:59Z")


@pytest.mark.parametrize("start", ["1970-01-01T00:00Z", "1969-12-31T12:00Z", "1900-01-02T00:00Z"])
def test_the_epoch_and_before_are_ordinary(start: str) -> None:
    """Zero and negative instants."""
    cron = Cron("0 0 * * *")
    assert cron.next(instant(start), 1)[0] - instant(start) <= timedelta(days=1)
    assert cron.prev(instant(start)) < instant(start)


def test_centuries_and_year_ends_are_ordinary() -> None:
    """Over 2100, which is no leap year."""
    assert Cron("59 23 31 12 *").next(instant("2099-12-31T23:58Z"), 2) == instants(
        "2099-12-31T23:59Z", "2100-12-31T23:59Z"
    )
    assert Cron("0 0 29 2 *").prev(instant("2104-01-01T00:00Z")) == instant("2096-02-29T00:00Z")


@pytest.mark.parametrize("cron", [Cron("0 0 1 1 *", LONDON), Cron("* * * * *", "Pacific/Kiritimati")])
def test_the_end_of_the_year_9999_is_a_clean_error(cron: Cron) -> None:
    """For the preview; the worker's question is answered with None."""
    last = datetime(9999, 12, 30, tzinfo=UTC)
    with pytest.raises(ScheduleError, match="no slot after"):
        cron.next(last)
    assert cron.slot_after(int(last.timestamp()) * 1000) is None
    assert cron.prev(last).year == 9999
    with pytest.raises(ScheduleError, match="1900 to 9999"):
        cron.next(datetime(9999, 12, 31, 12, tzinfo=UTC))
    with pytest.raises(ScheduleError, match="1900 to 9999"):
        cron.prev(datetime(1, 1, 1, tzinfo=UTC))


def test_the_last_minutes_before_the_end_still_come() -> None:
    """Also in the zone whose local time is furthest ahead."""
    cron = Cron("* * * * *", "Pacific/Kiritimati")
    found = cron.next(instant("9999-12-29T23:57:59Z"), 5)
    assert found == instants("9999-12-29T23:58Z", "9999-12-29T23:59Z", "9999-12-30T00:00Z")


def test_a_year_field_ends() -> None:
    """Fewer instants than asked for, then an error; a year out of range is refused."""
    cron = Cron("0 9 1 1 * 0 2027,2099", seconds="last")
    assert cron.next(instant("1971-01-01T00:00Z")) == instants("2027-01-01T09:00Z", "2099-01-01T09:00Z")
    with pytest.raises(ScheduleError, match="no slot after"):
        cron.next(instant("2099-01-01T09:00Z"))
    assert cron.prev(instant("2500-01-01T00:00Z")) == instant("2099-01-01T09:00Z")
    with pytest.raises(ScheduleError, match="no slot before"):
        cron.prev(instant("2027-01-01T09:00Z"))
    with pytest.raises(ScheduleError, match="1970-2099"):
        Cron("0 9 1 1 * 0 2100", seconds="last")


@pytest.mark.parametrize("value", [1.5, "0", None, True, 10**15, -(10**15)])
def test_instants_of_another_unit_or_type_are_refused(value: Any) -> None:
    """Microseconds for milliseconds, a float, a bool."""
    for calendar in (Cron("0 9 * * *"), Every(hours=1)):
        for ask in (calendar.slot_after, calendar.slot_before, calendar.wall_at):
            with pytest.raises(ScheduleError):
                ask(value)


@pytest.mark.parametrize("value", [datetime(2026, 1, 1), 1_760_000_000, "2026-01-01T00:00Z", None])  # noqa: DTZ001
def test_a_start_without_a_zone_is_refused(value: Any) -> None:
    """And anything that is no datetime."""
    for ask in (Cron("0 9 * * *").next, Cron("0 9 * * *").prev):
        with pytest.raises(ScheduleError):
            ask(value)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "6"])
def test_a_count_below_one_is_refused(count: Any) -> None:
    """Asking for nothing is a mistake."""
    with pytest.raises(ScheduleError, match=r"^count="):
        Cron("0 9 * * *").next(datetime(2026, 1, 1, tzinfo=UTC), count)


def test_a_fraction_of_a_second_is_not_lost() -> None:
    """A slot at this very second is before an instant within it, and not after it."""
    cron = Cron("0 9 * * *")
    start = instant("2026-01-01T09:00:00.0005Z")
    assert cron.prev(start) == instant("2026-01-01T09:00Z")
    assert cron.next(start, 1) == instants("2026-01-02T09:00Z")
    assert cron.next(instant("2026-01-01T08:59:59.9995Z"), 1) == instants("2026-01-01T09:00Z")
