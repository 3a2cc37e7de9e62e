"""Intervals are elapsed time, counted from an anchor that all hosts share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from redisched.calendar import Every
from redisched.core.errors import ScheduleError
from tests.calendar.cases import instant, instants, ms


def test_slots_count_from_the_epoch() -> None:
    """Whatever host asks, and whenever it started."""
    every = Every(minutes=90)
    assert every.next(instant("1970-01-01T00:00Z"), 2) == instants("1970-01-01T01:30Z", "1970-01-01T03:00Z")
    assert every.prev(instant("1970-01-01T00:00:01Z")) == instant("1970-01-01T00:00Z")


def test_an_anchor_sets_the_phase() -> None:
    """On both sides of the anchor, which need not be a whole number of periods from the epoch."""
    every = Every(timedelta(hours=7), anchor=instant("2026-01-01T05:00+01:00"))
    assert every.next(instant("2026-01-01T03:59Z"), 2) == instants("2026-01-01T04:00Z", "2026-01-01T11:00Z")
    assert every.prev(instant("2026-01-01T04:00Z")) == instant("2025-12-31T21:00Z")


def test_an_offset_moves_the_anchor() -> None:
    """Seconds or a timedelta."""
    expected = instants("2026-01-01T00:05Z", "2026-01-01T01:05Z")
    assert Every(hours=1, offset=300).next(instant("2026-01-01T00:00Z"), 2) == expected
    assert Every(hours=1, offset=timedelta(minutes=5)) == Every(hours=1, offset=300)


def test_a_day_is_24_hours_over_a_clock_change() -> None:
    """Local clocks play no part."""
    every = Every(days=1, anchor=datetime(2025, 10, 25, 9, tzinfo=UTC))
    found = every.next(instant("2025-10-25T09:00Z"), 2)
    assert found == instants("2025-10-26T09:00Z", "2025-10-27T09:00Z")


def test_equal_timetables_are_equal() -> None:
    """However they are written."""
    assert Every(timedelta(minutes=90)) == Every(hours=1, minutes=30)
    assert Every(hours=1, anchor=instant("2026-01-01T00:00Z")) == Every(hours=1)
    assert Every(hours=1).period == timedelta(hours=1)
    assert Every(hours=2, offset=60).anchor == instant("1970-01-01T00:01Z")


def test_slots_are_named_by_their_instant() -> None:
    """In seconds, with a fraction only where there is one."""
    slot = Every(hours=1).slot_after(ms("2026-01-01T00:30Z"))
    assert slot is not None
    assert (slot.id, slot.wall) == (f"U{ms('2026-01-01T01:00Z') // 1000}", "20260101T010000")
    half = Every(seconds=0.5).slot_after(0)
    assert half is not None
    assert (half.id, half.at_ms) == ("U0.500", 500)


@pytest.mark.parametrize("at", [-1, 0, 1, 59_999, 60_000, 60_001])
def test_after_and_before_are_strict(at: int) -> None:
    """Also before the epoch."""
    every = Every(minutes=1)
    later, earlier = every.slot_after(at), every.slot_before(at)
    assert later is not None
    assert earlier is not None
    assert earlier.at_ms < at < later.at_ms
    assert later.at_ms - earlier.at_ms in {60_000, 120_000}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": 0.01},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": "5"},
        {"weeks": 10**9},
        {"seconds": 1.0001},
        {"period": timedelta(hours=1), "hours": 1},
        {"period": 5},
        {"period": timedelta(0)},
        {"period": timedelta.max},
        {"hours": 1, "anchor": datetime(2026, 1, 1)},  # noqa: DTZ001 - naive on purpose
        {"hours": 1, "anchor": 5},
        {"hours": 1, "offset": "x"},
    ],
    ids=repr,
)
def test_what_is_no_interval_is_refused(arguments: dict[str, Any]) -> None:
    """At construction."""
    with pytest.raises(ScheduleError):
        Every(**arguments)
