"""A second opinion: what a timetable means, by looking at every minute of UTC. Slow, and shares no code."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from importlib import resources
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


@dataclass(frozen=True)
class Window:
    """Every minute of some days around an instant, with its local time, by the tzdata package."""

    zone: str
    middle: datetime
    days: int = 3

    @cached_property
    def local_times(self) -> dict[datetime, datetime]:
        """UTC minute to local time without a zone."""
        with (resources.files("tzdata") / "zoneinfo" / self.zone).open("rb") as file:
            info = ZoneInfo.from_file(file)
        start = (self.middle - timedelta(days=self.days)).replace(second=0)
        minutes = [start + MINUTE * step for step in range(2 * self.days * 1440)]
        return {minute: minute.astimezone(info).replace(tzinfo=None) for minute in minutes}

    @cached_property
    def passes(self) -> dict[datetime, list[datetime]]:
        """Local time to the UTC minutes that show it."""
        found = defaultdict(list)
        for minute, local in self.local_times.items():
            found[local].append(minute)
        return found

    def after_gap(self, wall: datetime) -> datetime:
        """The first minute that shows a later local time than one that is missing."""
        return min(minute for minute, local in self.local_times.items() if local > wall)


@dataclass(frozen=True)
class Reading:
    """An expression as the local times of a window that it names."""

    window: Window
    expression: str

    @cached_property
    def allowed(self) -> list[set[int]]:
        """The values that each field allows."""
        return [members(text, *RANGES[place]) for place, text in enumerate(self.expression.split())]

    @cached_property
    def walls(self) -> list[datetime]:
        """Every local time named, whether it exists or not."""
        first, last = min(self.window.passes), max(self.window.passes)
        every = (first + MINUTE * step for step in range((last - first) // MINUTE + 1))
        return [wall for wall in every if self.matches(wall)]

    def matches(self, local: datetime) -> bool:
        """True if every field allows it; day and weekday are alternatives if both restrict."""
        minute, hour, day, month, weekday = self.allowed
        if local.minute not in minute or local.hour not in hour or local.month not in month:
            return False
        days = (local.day in day, local.isoweekday() % 7 in weekday)
        return any(days) if "*" not in self.expression.split()[2::2] else all(days)

    def expected(self, gap: str, repeat: str) -> list[datetime]:
        """The instants within the window, in order."""
        if "*" in {text[0] for text in self.expression.split()[:2]}:
            return [minute for minute, local in self.window.local_times.items() if self.matches(local)]
        return sorted({at for wall in self.walls for at in _due(self.window, wall, gap, repeat)})


def members(text: str, low: int, high: int) -> set[int]:
    """The values that a field of numbers, ranges and steps allows."""
    found: set[int] = set()
    for element in text.split(","):
        values, _, step = element.partition("/")
        first, dash, last = values.partition("-")
        start = low if first == "*" else int(first)
        end = int(last) if dash else (high if step or first == "*" else start)
        span = (
            range(start, end + 1, int(step or 1))
            if start <= end
            else [*range(start, high + 1), *range(low, end + 1)]
        )
        found.update(0 if (low, high) == (0, 6) and value == 7 else value for value in span)
    return found


def _due(window: Window, wall: datetime, gap: str, repeat: str) -> list[datetime]:
    minutes = window.passes.get(wall, [])
    if not minutes:
        return [window.after_gap(wall)] if gap == "shift" else []
    return {"first": minutes[:1], "second": minutes[-1:], "both": minutes}[repeat]
