"""A local time is resolved by stated rules, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from redisched.calendar import At, from_spec
from redisched.core.errors import ScheduleError
from tests.calendar.cases import instant, ms

LONDON = "Europe/London"


def test_an_ordinary_local_time_is_one_instant() -> None:
    """Summer or winter."""
    assert At("2025-07-01T09:00", tz=LONDON).resolve() == instant("2025-07-01T08:00Z")
    assert At("2025-01-01 09:00:30", tz=LONDON).resolve() == instant("2025-01-01T09:00:30Z")
    assert At("2025-07-01T09:00", tz=LONDON).at_ms == ms("2025-07-01T08:00Z")


def test_a_missing_local_time_shifts_to_the_end_of_the_gap_or_is_refused() -> None:
    """As cron does, not by the length of the gap."""
    assert At("2025-03-30T01:30", tz=LONDON).resolve() == instant("2025-03-30T01:00Z")
    with pytest.raises(ScheduleError, match="does not exist in Europe/London"):
        At("2025-03-30T01:30", tz=LONDON, gap="raise")


def test_a_repeated_local_time_takes_the_pass_that_is_said_or_is_refused() -> None:
    """The first unless said otherwise."""
    assert At("2025-10-26T01:30", tz=LONDON).resolve() == instant("2025-10-26T00:30Z")
    assert At("2025-10-26T01:30", tz=LONDON, repeat="second").resolve() == instant("2025-10-26T01:30Z")
    with pytest.raises(ScheduleError, match="comes twice in Europe/London"):
        At("2025-10-26T01:30", tz=LONDON, repeat="raise")


def test_the_edges_of_a_change_belong_to_the_right_side() -> None:
    """The first local time of a gap is missing, its end exists; the end of a repeated hour comes once."""
    for refused in ("2025-03-30T01:00", "2025-03-30T01:59:59"):
        with pytest.raises(ScheduleError):
            At(refused, tz=LONDON, gap="raise")
    for refused in ("2025-10-26T01:00", "2025-10-26T01:59:59"):
        with pytest.raises(ScheduleError):
            At(refused, tz=LONDON, repeat="raise")
    assert At("2025-03-30T02:00", tz=LONDON, gap="raise").resolve() == instant("2025-03-30T01:00Z")
    assert At("2025-03-30T00:59:59", tz=LONDON, gap="raise").resolve() == instant("2025-03-30T00:59:59Z")
    assert At("2025-10-26T02:00", tz=LONDON, repeat="raise").resolve() == instant("2025-10-26T02:00Z")


def test_it_has_one_slot_named_by_its_local_time() -> None:
    """Which stays the same when zone data move the instant."""
    at = At("2025-03-30T01:30", tz=LONDON)
    slot = at.slot_after(at.at_ms - 1)
    assert slot is not None
    assert (slot.id, slot.wall, slot.at_ms) == ("L20250330T013000", "20250330T013000", at.at_ms)
    assert at.slot_after(at.at_ms) is None
    assert at.slot_before(at.at_ms) is None
    assert at.slot_before(at.at_ms + 1) == slot
    assert at.slot_after(at.at_ms - 1, slot.wall) is None
    assert at.next(instant("2025-01-01T00:00Z")) == [at.resolve()]
    with pytest.raises(ScheduleError, match="no slot after"):
        at.next(at.resolve())
    assert from_spec(at.to_spec()) == at


@pytest.mark.parametrize(
    "local",
    [
        "",
        "2025-03-30",
        "tomorrow at nine",
        "2025-02-29T09:00",
        "2025-03-30T25:00",
        "2025-03-30T01:30Z",
        "2025-03-30T01:30+01:00",
        "2025-03-30T01:30:00.5",
        "0001-01-01T00:00",
        "9999-12-31T23:59",
        None,
        5,
        instant("2025-03-30T01:30Z"),
    ],
)
def test_what_is_no_local_time_is_refused(local: Any) -> None:
    """With an offset it is an instant, and so no local time."""
    with pytest.raises(ScheduleError):
        At(local, tz=LONDON)


@pytest.mark.parametrize("options", [{"gap": "skip"}, {"repeat": "both"}, {"tz": "europe/london"}])
def test_other_options_are_refused(options: dict[str, Any]) -> None:
    """By name."""
    with pytest.raises(ScheduleError, match=f"^{next(iter(options))}="):
        At("2025-03-30T01:30", **{"tz": LONDON, **options})
