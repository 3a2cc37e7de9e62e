"""The local times that an expression names, as if there were no zones. The only door to croniter."""

from __future__ import annotations

import copy
from typing import Final

from croniter import croniter

from redisched.calendar.moments import EARLIEST_S, LATEST_S

# Local times lie up to a day beside the instants that a timetable knows.
FIRST_WALL_S: Final = EARLIEST_S - 86_400
LAST_WALL_S: Final = LATEST_S + 86_400
# croniter gives up after this many years without a match; with a year field, after the field's whole range.
YEARS_TO_SEARCH: Final = 50
YEARS_OF_FIELD: Final = 150
FIELD_START_S: Final = -1
FIELD_END_S: Final = 4_102_444_800  # 2100-01-01


class Walls:
    """Local times in seconds, counted as if they were UTC. Safe to share between threads."""

    def __init__(self, text: str, *, day_or: bool, hash_id: str | None) -> None:
        has_years = len(text.split()) == 7
        self._first, self._end = (FIELD_START_S, FIELD_END_S) if has_years else (FIRST_WALL_S, LAST_WALL_S)
        self._pattern = croniter(
            text,
            0.0,
            day_or=day_or,
            max_years_between_matches=YEARS_OF_FIELD if has_years else YEARS_TO_SEARCH,
            hash_id=hash_id,
        )

    def after(self, wall: int) -> int | None:
        """The first local time strictly after `wall`."""
        try:
            found = int(self._fresh().get_next(float, start_time=max(wall, self._first)))
        except (ValueError, OverflowError):
            return None
        return found if found < self._end else None

    def before(self, wall: int) -> int | None:
        """The last local time strictly before `wall`."""
        try:
            found = int(self._fresh().get_prev(float, start_time=min(wall, self._end)))
        except (ValueError, OverflowError):
            return None
        return found if found > self._first else None

    def never_match(self) -> bool:
        """True if no date fits: the calendar repeats, so what has no match in 50 years has none later."""
        return self.after(FIELD_START_S) is None

    def _fresh(self) -> croniter:
        """A copy to move: two threads moving one would mix results up, and a lock may not survive a fork."""
        return copy.copy(self._pattern)
