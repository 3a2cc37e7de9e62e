"""Failures seen in the field with other schedulers, by their number in our list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from redisched.calendar import Cron
from redisched.core.errors import ScheduleError
from tests.calendar.cases import instant, instants, ms

ROOT = Path(__file__).parents[2]


def run_python(code: str, **variables: str | None) -> str:
    """What a fresh interpreter prints, with these environment variables set or (None) unset."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    kept = {name: value for name, value in environment.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def local_day(cron: Cron, start: str, hours: int) -> list[datetime]:
    """The slots of one local day of that many hours, its first instant included."""
    end = instant(start) + timedelta(hours=hours)
    slots = cron.slots_after(ms(start) - 1)
    return [slot.at for slot in islice(slots, 200) if slot.at < end]


def test_f20_a_fixed_time_in_the_repeated_hour_runs_once() -> None:
    """One run per local date, in the first pass."""
    paris = Cron("30 2 * * *", "Europe/Paris")
    assert paris.next(instant("2026-10-24T12:00Z"), 2) == instants("2026-10-25T00:30Z", "2026-10-26T01:30Z")
    new_york = Cron("30 1 1 * *", "America/New_York")
    found = new_york.next(instant("2026-10-31T12:00Z"), 2)
    assert found == instants("2026-11-01T05:30Z", "2026-12-01T06:30Z")


def test_f21_a_fixed_time_in_the_missing_hour_runs_after_it() -> None:
    """One run that day, at the first instant after the gap."""
    cron = Cron("30 2 * * *", "Europe/Paris")
    found = cron.next(instant("2026-03-27T23:00Z"), 3)
    assert found == instants("2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z")


def test_f22_an_hourly_job_runs_in_each_real_hour() -> None:
    """25 distinct slots on the long day, 23 on the short one."""
    pacific = Cron("0 * * * *", "US/Pacific")
    found = pacific.next(instant("2026-11-01T07:30Z"), 3)
    assert found == instants("2026-11-01T08:00Z", "2026-11-01T09:00Z", "2026-11-01T10:00Z")
    assert len(local_day(pacific, "2026-11-01T07:00Z", 25)) == 25
    assert len(local_day(pacific, "2026-03-08T08:00Z", 23)) == 23
    assert len({slot.id for slot in islice(pacific.slots_after(ms("2026-11-01T06:59:59Z")), 25)}) == 25


def test_f22_a_half_hourly_job_runs_in_both_passes() -> None:
    """The repeated hour has four half hours of real time."""
    paris = Cron("*/30 * * * *", "Europe/Paris")
    expected = ("00:00Z", "00:30Z", "01:00Z", "01:30Z", "02:00Z")
    found = paris.next(instant("2026-10-24T23:45Z"), 5)
    assert found == instants(*(f"2026-10-25T{time}" for time in expected))


def test_f23_a_time_outside_the_changed_hour_keeps_its_local_time() -> None:
    """The slot stored the day before already has the new offset."""
    cron = Cron("4 16 * * *", "America/New_York")
    found = cron.next(instant("2026-03-07T12:00Z"), 3)
    assert found == instants("2026-03-07T21:04Z", "2026-03-08T20:04Z", "2026-03-09T20:04Z")
    stored = cron.slot_after(ms("2026-03-07T21:04Z"))
    assert stored is not None
    assert (stored.at, stored.id) == (instant("2026-03-08T20:04Z"), "L20260308T160400")


@pytest.mark.parametrize(
    "tz", [None, "Europe/London", "Asia/Shanghai", "America/New_York", "Pacific/Chatham"]
)
def test_f25_a_utc_timetable_ignores_the_zone_of_the_host(tz: str | None) -> None:
    """The same instants over London's changes, whatever TZ says."""
    code = """
import json
from datetime import UTC, datetime
from redisched.calendar import Cron
starts = datetime(2026, 10, 24, tzinfo=UTC), datetime(2026, 3, 28, tzinfo=UTC)
print(json.dumps([[at.isoformat() for at in Cron("30 1 * * *").next(s, 3)] for s in starts]))
"""
    october, march = json.loads(run_python(code, TZ=tz))
    assert october == [f"2026-10-{day}T01:30:00+00:00" for day in (24, 25, 26)]
    assert march == [f"2026-03-{day}T01:30:00+00:00" for day in (28, 29, 30)]


@pytest.mark.parametrize("tz", [None, '"Europe/Berlin"', "America/New_York", "Nowhere/City", ":", ""])
def test_f26_named_zones_work_without_system_zone_files(tz: str | None, tmp_path: Path) -> None:
    """The package brings zone data; an odd TZ breaks nothing; an unknown zone is refused by its name."""
    code = """
from datetime import UTC, datetime
from redisched.calendar import Cron
print(Cron("30 2 * * *", "Europe/Paris").next(datetime(2026, 3, 28, 12, tzinfo=UTC), 1)[0].isoformat())
try:
    Cron("30 2 * * *", "Europe/Pari")
except ValueError as error:
    print(error)
"""
    first, refusal = run_python(code, TZ=tz, PYTHONTZPATH=str(tmp_path)).splitlines()
    assert first == "2026-03-29T01:00:00+00:00"
    assert "Europe/Pari'" in refusal
    assert "did you mean 'Europe/Paris'" in refusal


def test_f27_leap_days_come_every_four_years_but_not_in_2100() -> None:
    """Also from a leap day itself, and over the century."""
    cron = Cron("0 9 29 2 *")
    expected = instants("2028-02-29T09:00Z", "2032-02-29T09:00Z")
    assert cron.next(instant("2024-02-29T09:00Z"), 2) == expected
    assert cron.next(instant("2096-03-01T00:00Z"), 1) == instants("2104-02-29T09:00Z")


@pytest.mark.parametrize("year", [2024, 2028])
@pytest.mark.parametrize("expression", ["0 9 * * *", "*/15 * * * *", "0 0 1 * *", "0 0 L * *", "0 0 * * 1"])
def test_f27_other_timetables_work_on_leap_days(expression: str, year: int) -> None:
    """Evaluated at each hour of a leap day."""
    cron = Cron(expression, "Europe/London")
    for hour in range(24):
        now = datetime(year, 2, 29, hour, tzinfo=UTC)
        assert cron.prev(now) < now < cron.next(now, 1)[0]


@pytest.mark.parametrize("expression", ["0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6 *", "0 0 31 2,4,6,9,11 *"])
def test_f28_an_expression_that_never_matches_is_refused(expression: str) -> None:
    """At construction, by its text, as a ValueError."""
    with pytest.raises(ScheduleError, match="never matches") as refused:
        Cron(expression)
    assert isinstance(refused.value, ValueError)
    assert expression in str(refused.value)


def test_f29_the_last_day_of_the_month_skips_no_month() -> None:
    """In lower case, in a list, and over 48 months."""
    last = Cron("0 0 l * *")
    days = ("01-31", "02-28", "03-31", "04-30", "05-31")
    assert last.next(instant("2025-01-30T00:00Z"), 5) == instants(*(f"2025-{day}T00:00Z" for day in days))
    both = Cron("0 23 L,15 * *")
    days = ("01-15", "01-31", "02-15", "02-28", "03-15")
    assert both.next(instant("2025-01-10T00:00Z"), 5) == instants(*(f"2025-{day}T23:00Z" for day in days))
    months = last.next(instant("2025-01-01T00:00Z"), 48)
    assert all((day + timedelta(days=1)).day == 1 for day in months)
    assert len({(day.year, day.month) for day in months}) == 48
