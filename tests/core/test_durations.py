"""Durations and instants: what is read, what is refused, and how it is rounded."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisched.core.durations import LAST_INSTANT_MS, LONGEST_DURATION_MS, from_ms, instant_ms, to_ms
from redisched.core.errors import ArgumentError

LONDON = ZoneInfo("Europe/London")

DURATIONS: list[tuple[timedelta | float | str, int]] = [
    (timedelta(0), 0),
    (timedelta(minutes=10), 600_000),
    (timedelta(microseconds=1), 1),
    (timedelta(microseconds=1001), 2),
    (0, 0),
    (45, 45_000),
    (0.1, 100),
    (0.0001, 1),
    (1.5, 1_500),
    (-0.0, 0),
    ("45", 45_000),
    ("0.5", 500),
    ("500ms", 500),
    ("0.1ms", 1),
    ("10m", 600_000),
    ("1h30m", 5_400_000),
    ("1h 30m", 5_400_000),
    (" 2d ", 172_800_000),
    ("1.5h", 5_400_000),
    ("1w2d3h4m5s6ms", 788_645_006),
    ("90m", 5_400_000),
    (timedelta(milliseconds=LONGEST_DURATION_MS), LONGEST_DURATION_MS),
]


@pytest.mark.parametrize(("value", "ms"), DURATIONS)
def test_a_duration_is_read_as_whole_milliseconds(value: timedelta | float | str, ms: int) -> None:
    assert to_ms(value, field="delay") == ms


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        1e12,
        1.7e308,
        10**400,
        timedelta.max,
        "99999999w",
        timedelta(milliseconds=LONGEST_DURATION_MS, microseconds=1),
        -1,
        -1e-9,
        -1.7e308,
        timedelta(microseconds=-1),
        True,
        None,
        b"10m",
        "",
        " ",
        "m",
        "ten minutes",
        "-5s",
        "1m1h",
        "1m1m",
        "10M",
        "1e3",
        "٣s",
        "nan",
        "PT5M",
        "9" * 10_000,
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_f41_another_duration_is_refused_by_name(value: timedelta | float | str) -> None:
    with pytest.raises(ArgumentError, match=r"^delay=") as refused:
        to_ms(value, field="delay")
    assert len(str(refused.value)) < 300


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=365 * 7_000)))
def test_a_wait_is_never_too_short_and_less_than_a_millisecond_too_long(value: timedelta) -> None:
    over = timedelta(milliseconds=to_ms(value, field="delay")) - value
    assert timedelta(0) <= over < timedelta(milliseconds=1)


INSTANTS: list[tuple[datetime | str, int]] = [
    ("1970-01-01T00:00:00Z", 0),
    ("1970-01-01T00:00:00.000001Z", 1),
    ("1970-01-01T01:00:00+01:00", 0),
    ("2038-01-19T03:14:08Z", 2**31 * 1000),
    ("2039-01-01T00:00Z", 2_177_452_800_000),
    ("2106-02-07T06:28:16Z", 2**32 * 1000),
    ("9999-12-31T23:59:59.999Z", LAST_INSTANT_MS),
    ("9999-12-31T23:59:59.999999Z", LAST_INSTANT_MS),
    ("9999-12-31T22:59:59.999999-01:00", LAST_INSTANT_MS),
    (datetime.max.replace(tzinfo=UTC), LAST_INSTANT_MS),
    (datetime(2027, 10, 31, 1, 30, tzinfo=LONDON), 1_824_942_600_000),
    (datetime(2027, 10, 31, 1, 30, tzinfo=LONDON, fold=1), 1_824_946_200_000),
    (datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=-5))), 5 * 3_600_000),
]


@pytest.mark.parametrize(("when", "ms"), INSTANTS)
def test_f41_values_an_instant_that_can_be_represented_is_read(when: datetime | str, ms: int) -> None:
    assert instant_ms(when, field="when") == ms
    assert instant_ms(from_ms(ms), field="when") == ms


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        (datetime(2027, 3, 28, 2, 30), "ZoneInfo.*At"),  # noqa: DTZ001
        ("2027-03-28T02:30", r'At\("2027-03-28T02:30:00"'),
        ("2027-03-28", "ZoneInfo.*At"),
        ("tomorrow", "ISO 8601"),
        ("", "ISO 8601"),
        ("10000-01-01T00:00Z", "ISO 8601"),
        ("9999-12-31T23:59:59-00:01", "past the year 9999"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-23))), "past the year 9999"),
        ("1969-12-31T23:59:59.999999Z", "before 1970"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=23))), "before 1970"),
        (1_800_000_000, "unit"),
        (1_800_000_000.5, "unit"),
        (True, "unit"),
        (math.inf, "unit"),
        (date(2027, 1, 1), "not a time"),
        (None, "not a time"),
        (timedelta(1), "not a time"),
    ],
)
def test_f41_values_another_time_is_refused_by_name(when: datetime | str, reason: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^when=.*{reason}"):
        instant_ms(when, field="when")


@given(st.datetimes(min_value=datetime(1970, 1, 2), timezones=st.sampled_from([UTC, LONDON])))  # noqa: DTZ001
def test_f41_values_an_instant_comes_back_within_a_millisecond(when: datetime) -> None:
    over = from_ms(instant_ms(when, field="when")) - when
    assert abs(over) < timedelta(milliseconds=1)
    assert over >= timedelta(0) or when.astimezone(UTC).year == 9999


@pytest.mark.parametrize("ms", [-1, LAST_INSTANT_MS + 1, 10**30])
def test_f41_values_milliseconds_without_a_date_are_refused(ms: int) -> None:
    with pytest.raises(ArgumentError, match=r"^ms="):
        from_ms(ms)
