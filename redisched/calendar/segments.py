"""A zone as a sequence of constant offsets, and its changes: where local time has a gap or repeats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from redisched.calendar.moments import EPOCH, LATEST_S, SECOND

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

DAY: Final = 86_400
# No local time was ever further than 16 hours from UTC, no change moved clocks by more than 24.
REACH: Final = 26 * 3600
# Years kept per zone; a year costs a third of a millisecond to build.
YEARS: Final = 256


@dataclass(frozen=True, slots=True)
class Change:
    """The instant at which a zone's offset goes from `before` to `after`; all in seconds.

    Local times from `first_wall` up to, not including, `end_wall` do not exist (gap) or exist twice.
    """

    at: int
    before: int
    after: int

    @property
    def is_gap(self) -> bool:
        return self.after > self.before

    @property
    def first_wall(self) -> int:
        return self.at + min(self.before, self.after)

    @property
    def end_wall(self) -> int:
        return self.at + max(self.before, self.after)


class Zone:
    """Offsets and changes of one zone. Safe to share between threads."""

    def __init__(self, name: str, version: str, info: ZoneInfo) -> None:
        self.name = name
        self.version = version
        self._info = info
        # A cache of this object, bounded, and gone with it.
        self._changes_of = lru_cache(maxsize=YEARS)(self._find_changes)

    def offset_at(self, instant: int) -> int:
        """Local time minus UTC at an instant; past the year 9999, what holds at its end."""
        moment = datetime.fromtimestamp(min(instant, LATEST_S + DAY), self._info)
        return 0 if (offset := moment.utcoffset()) is None else offset // SECOND

    def wall_at(self, instant: int) -> int:
        """Local time at an instant, counted as if it were UTC."""
        return instant + self.offset_at(instant)

    def changes(self, after: int, until: int) -> list[Change]:
        """The changes after `after`, up to and including `until`."""
        years = range(_year(after), _year(until) + 1)
        return [change for year in years for change in self._changes_of(year) if after < change.at <= until]

    def change_at_wall(self, wall: int) -> Change | None:
        """The change by which this local time is missing or repeated; None for an ordinary one."""
        near = self.changes(wall - REACH, wall + REACH)
        return next((change for change in near if change.first_wall <= wall < change.end_wall), None)

    def gap_ending_at(self, instant: int) -> Change | None:
        """The change at this very instant, if clocks go forward there."""
        return next((change for change in self.changes(instant - 1, instant) if change.is_gap), None)

    def instant_of(self, wall: int) -> int:
        """The instant of an ordinary local time, one that is neither missing nor repeated."""
        near = wall - self.offset_at(wall)
        return wall - self.offset_at(near)

    def _find_changes(self, year: int) -> tuple[Change, ...]:
        """One probe a day finds every change: none since 1970 is nearer than 48 hours to the next."""
        start = _start_of(year)
        days = range(start, min(_start_of(year + 1), LATEST_S), DAY)
        return tuple(
            self._locate(day, day + DAY) for day in days if self.offset_at(day) != self.offset_at(day + DAY)
        )

    def _locate(self, low: int, high: int) -> Change:
        """The change in (low, high], to the second."""
        before, after = self.offset_at(low), self.offset_at(high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.offset_at(middle) == before else (low, middle)
        return Change(high, before, after)


def _year(instant: int) -> int:
    return datetime.fromtimestamp(min(instant, LATEST_S), UTC).year


def _start_of(year: int) -> int:
    return LATEST_S if year > 9999 else (datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
