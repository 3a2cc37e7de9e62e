"""What holds for every timetable, looked for by hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisched.calendar import Cron, Every, from_spec
from redisched.core.errors import ScheduleError

# Zones with unusual changes, and one with none.
ZONES = (
    "UTC",
    "Europe/London",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Africa/Casablanca",
    "Pacific/Apia",
    "Pacific/Chatham",
    "America/Nuuk",
    "America/Havana",
)
MINUTES = ("*", "*/5", "*/40", "0", "30", "0,30", "5-55/10", "50-10", "59")
HOURS = ("*", "*/3", "0", "1", "2", "0-3", "2,3", "22-2", "23")
DAYS = ("* *", "L *", "1,15 *", "31 *", "* 3,4,10,11", "*/2 *")
WEEKDAYS = ("*", "0", "mon-fri", "L5", "1#2", "7")
# Around changes of these zones, and anywhere.
START = datetime(2011, 1, 1, tzinfo=UTC)
moments = st.datetimes(
    min_value=datetime(2011, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(2028, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@st.composite
def crons(draw: st.DrawFn) -> Cron:
    """A cron timetable of any class, zone and policy that is not refused."""
    day_and_month = draw(st.sampled_from(DAYS))
    weekday = draw(st.sampled_from(WEEKDAYS)) if day_and_month[0] == "*" else "*"
    if day_and_month.startswith("*/"):
        weekday = "*"
    return Cron(
        f"{draw(st.sampled_from(MINUTES))} {draw(st.sampled_from(HOURS))} {day_and_month} {weekday}",
        draw(st.sampled_from(ZONES)),
        gap=draw(st.sampled_from(["shift", "skip"])),
        repeat=draw(st.sampled_from(["first", "second", "both"])),
    )


@st.composite
def everies(draw: st.DrawFn) -> Every:
    """An interval timetable of any period and phase."""
    period = draw(st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=400)))
    anchor = draw(moments)
    whole = timedelta(milliseconds=period // timedelta(milliseconds=1))
    return Every(whole, anchor=anchor)


calendars = st.one_of(crons(), everies())


@settings(max_examples=300, deadline=None)
@given(calendars, moments)
def test_instants_rise_and_prev_goes_the_same_way_back(calendar: Cron | Every, start: datetime) -> None:
    """Strictly after the start, strictly rising, and each the predecessor of the next."""
    found = calendar.next(start, 8)
    assert all(earlier < later for earlier, later in zip([start, *found], found, strict=False))
    assert [calendar.prev(at) for at in found[1:]] == found[:-1]
    assert calendar.prev(found[0]) <= start


@settings(max_examples=300, deadline=None)
@given(calendars, moments, st.floats(min_value=0, max_value=1))
def test_next_depends_on_the_instant_alone(calendar: Cron | Every, start: datetime, share: float) -> None:
    """A restart anywhere between two slots continues the same sequence."""
    first, second, third = calendar.next(start, 3)
    between = min(first + (second - first) * share, second - timedelta(milliseconds=1))
    assert calendar.next(between, 2) == [second, third]


@settings(max_examples=200, deadline=None)
@given(calendars, moments)
def test_slots_have_distinct_names_and_rising_walls(calendar: Cron | Every, start: datetime) -> None:
    """So that a name is a key, and a wall a cursor where it names the slot."""
    start_ms = int(start.timestamp() * 1000)
    slots = list(islice(calendar.slots_after(start_ms), 12))
    assert len({slot.id for slot in slots}) == len(slots)
    walls = [slot.wall for slot in slots if slot.is_local]
    assert walls == sorted(set(walls))
    back = calendar.slot_before(slots[-1].at_ms)
    assert back == slots[-2]


@settings(max_examples=100, deadline=None)
@given(calendars, moments)
def test_a_definition_read_back_is_the_same(calendar: Cron | Every, start: datetime) -> None:
    """Equal, and with the same slots."""
    again = from_spec(calendar.to_spec())
    assert again == calendar
    assert again.next(start) == calendar.next(start)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=40) | st.from_regex(r"([0-9*/,\-LW#?HRa-z@()]{1,6} ){4}[0-9*/,\-LW#?a-z]{1,6}"))
def test_any_text_is_a_timetable_or_a_schedule_error(text: str) -> None:
    """Nothing else comes out, and what is accepted has a next slot."""
    try:
        cron = Cron(text, "Europe/London", hash_id="name")
    except ScheduleError:
        return
    assert cron.next(START, 2) == sorted(set(cron.next(START, 2)))


@pytest.mark.parametrize("pass_", ["first", "second", "both"])
@pytest.mark.parametrize("zone", ["Europe/London", "Australia/Lord_Howe", "Antarctica/Troll"])
def test_next_is_right_from_every_minute_of_both_passes(pass_: str, zone: str) -> None:
    """And one second to either side: the local time alone would not tell the passes apart."""
    change = {"Europe/London": (2025, 10, 26, 1), "Australia/Lord_Howe": (2025, 4, 5, 15)}
    middle = datetime(*change.get(zone, (2025, 10, 26, 1)), tzinfo=UTC)
    repeat = {"first": "first", "second": "second", "both": "both"}[pass_]
    cron = Cron("0-59/7 0-3 * * *", zone, repeat=repeat)  # type: ignore[arg-type]  # one of the three words
    whole = cron.next(middle - timedelta(hours=4), 200)
    for second in range(-3 * 3600, 3 * 3600, 59):
        start = middle + timedelta(seconds=second)
        assert cron.next(start, 1)[0] == min(at for at in whole if at > start)
