"""Zones by name, from the newest zone data at hand: the `tzdata` package or the system, never the host's TZ.

The data are read privately, so that a host with old system files computes what its neighbours compute.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from redisched.calendar.segments import Zone
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

# They name what the host happens to be set to, or count leap seconds.
UNFIT: Final = frozenset({"localtime", "posixrules"})
UNFIT_FOLDERS: Final = ("posix/", "right/")


@dataclass(frozen=True, slots=True)
class ZoneData:
    """One copy of the zone database; an unknown version is the empty text and sorts as the oldest."""

    root: Path | Traversable
    version: str

    def read(self, name: str) -> bytes | None:
        """The TZif bytes of a zone, None if this copy has none."""
        file = self.root.joinpath(*name.split("/"))
        content = file.read_bytes() if file.is_file() else b""
        return content if content.startswith(b"TZif") else None


def find_zone(name: str) -> Zone:
    """The zone of this exact name; anything else is refused, with the nearest name as the way out."""
    return _loaded(_known(name))


def zone_data_version() -> str:
    """The version of the newest zone data at hand, such as `2026a`; two hosts may differ in it."""
    return zone_databases()[0].version


# The caches below are bounded and thread-safe, and hold what cannot change while the process lives.
@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every name that `find_zone` takes."""
    return frozenset(
        name for name in available_timezones() if name not in UNFIT and not name.startswith(UNFIT_FOLDERS)
    )


@lru_cache(maxsize=1)
def _package_names() -> frozenset[str]:
    """One small file, where the names of the system are hundreds: what most processes need and no more."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


@lru_cache(maxsize=1)
def zone_databases() -> tuple[ZoneData, ...]:
    """Every copy at hand, newest first; of equal ones the package's, which all hosts share."""
    system = [ZoneData(Path(folder), _folder_version(Path(folder))) for folder in TZPATH]
    package = ZoneData(resources.files("tzdata") / "zoneinfo", _package_version())
    return tuple(sorted([package, *system], key=lambda data: data.version, reverse=True))


@lru_cache(maxsize=1024)
def _loaded(name: str) -> Zone:
    for data in zone_databases():
        content = data.read(name)
        if content is not None:
            return Zone(name, data.version, ZoneInfo.from_file(BytesIO(content), key=name))
    raise ScheduleError("tz", name, "is named by the zone database, but its file cannot be read")


def _known(name: object) -> str:
    if not isinstance(name, str) or (name not in _package_names() and name not in zone_names()):
        raise ScheduleError("tz", name, f"is no zone name of the IANA database{_hint(name)}")
    return name


def _package_version() -> str:
    text = resources.files("tzdata").joinpath("__init__.py").read_text("utf-8")
    return _version_in(text, 'IANA_VERSION = "')


def _folder_version(folder: Path) -> str:
    """The version that a system folder states, in the two places where one may stand."""
    for file, before in ((folder / "tzdata.zi", "# version "), (folder / "+VERSION", "")):
        if file.is_file():
            with file.open(encoding="utf-8", errors="replace") as lines:
                return _version_in(lines.readline(200), before)
    return ""


def _version_in(text: str, before: str) -> str:
    found = re.search(rf"{re.escape(before)}(\d{{4}}[a-z]+)", text)
    return found[1] if found else ""


def _hint(name: object) -> str:
    """The name that was meant, if one is near; zone names are case-sensitive, which few expect."""
    if not isinstance(name, str) or not 0 < len(name) <= 64:
        return "; write it like 'Europe/London'"
    folded = {known.casefold(): known for known in zone_names()}
    near = get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else "; write it like 'Europe/London'"
