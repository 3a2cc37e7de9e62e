"""Zone data are the newest at hand, read privately, and cut into constant offsets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from redisched.calendar import Cron, zone_data_version
from redisched.calendar.zones import ZoneData, find_zone, zone_databases, zone_names
from redisched.core.errors import ScheduleError
from tests.calendar.cases import ms

ROOT = Path(__file__).parents[2]
SHOWN = """
from datetime import UTC, datetime
from redisched.calendar import Cron, zone_data_version
(first,) = Cron("0 9 * * *", "Europe/London").next(datetime(2025, 7, 1, tzinfo=UTC), 1)
print(zone_data_version(), first.hour)
"""


def shown_with(folder: Path) -> list[str]:
    """Version and hour that a fresh interpreter with this system folder prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONTZPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", SHOWN], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A system folder whose Europe/London is Tokyo, so that its use shows."""
    (tmp_path / "Europe").mkdir()
    source = resources.files("tzdata") / "zoneinfo" / "Asia" / "Tokyo"
    (tmp_path / "Europe" / "London").write_bytes(source.read_bytes())
    return tmp_path


def test_newer_system_data_win(folder: Path) -> None:
    """By the version in the first line of tzdata.zi."""
    (folder / "tzdata.zi").write_text("# version 2999a\nR x\n")
    assert shown_with(folder) == ["2999a", "0"]


@pytest.mark.parametrize("version", ["1999z", "", "nonsense"])
def test_older_or_unknown_system_data_lose(folder: Path, version: str) -> None:
    """To the package, whose version is known."""
    (folder / "+VERSION").write_text(version)
    found, hour = shown_with(folder)
    assert found >= "2026a"
    assert hour == "8"


def test_a_zone_missing_from_the_newest_data_comes_from_the_next(folder: Path) -> None:
    """A trimmed system folder takes no zone away."""
    (folder / "+VERSION").write_text("2999b\n")
    shutil.rmtree(folder / "Europe")
    assert shown_with(folder) == ["2999b", "8"]


def test_the_version_is_stated() -> None:
    """As year and letter, the newest of all copies."""
    versions = [data.version for data in zone_databases()]
    assert zone_data_version() == max(versions) == versions[0]


@pytest.mark.parametrize(
    "name",
    [
        "utc",
        "europe/london",
        "Europe/Pari",
        "localtime",
        "posixrules",
        "posix/Europe/London",
        "right/UTC",
        "",
        ".",
        "..",
        "../zoneinfo/UTC",
        "/etc/passwd",
        "Europe",
        "Europe/",
        "Europe/London\x00",
        "UTC+1",
        "CET-1CEST",
        "x" * 100_000,
    ],
    ids=lambda name: ascii(name)[:30],
)
def test_other_names_are_refused(name: str) -> None:
    """Names are exact, and none means what the host is set to."""
    with pytest.raises(ScheduleError, match=r"^tz="):
        Cron("0 9 * * *", name)


def test_a_file_that_is_no_zone_is_passed_over(tmp_path: Path) -> None:
    """Only TZif content counts."""
    (tmp_path / "Broken").write_text("nothing")
    data = ZoneData(tmp_path, "2999a")
    assert data.read("Broken") is None
    assert data.read("Missing") is None


def test_every_named_zone_can_be_loaded() -> None:
    """Nothing is offered that fails later."""
    for name in zone_names():
        assert abs(find_zone(name).offset_at(1_750_000_000)) <= 14 * 3600


@pytest.mark.parametrize(
    "name", ["Europe/London", "Africa/Casablanca", "Pacific/Apia", "America/Nuuk", "Asia/Tehran"]
)
def test_offsets_between_changes_are_constant(name: str) -> None:
    """Replayed hour by hour against ZoneInfo, over 30 years."""
    with (resources.files("tzdata") / "zoneinfo" / name).open("rb") as file:
        info = ZoneInfo.from_file(file)
    zone = find_zone(name)
    start, hours = datetime(1995, 1, 1, tzinfo=UTC), 30 * 366 * 24
    begin = int(start.timestamp())
    changes = zone.changes(begin, begin + hours * 3600)
    offset = zone.offset_at(begin)
    for hour in range(hours):
        if changes and begin + hour * 3600 >= changes[0].at:
            offset = changes.pop(0).after
        local = (start + timedelta(hours=hour)).astimezone(info)
        assert local.utcoffset() == timedelta(seconds=offset)


def test_a_shared_timetable_serves_many_threads() -> None:
    """Each gets what one alone would get."""
    cron = Cron("*/7 1-3 * * *", "Europe/London")
    starts = [ms("2025-10-25T00:00Z") + step * 1_800_000 for step in range(400)]
    alone = [cron.slot_after(start) for start in starts]
    fresh = Cron("*/7 1,2,3 * * *", "Europe/London")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fresh.slot_after, starts)) == alone
