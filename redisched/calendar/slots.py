"""Slots: the single occurrences of a timetable, and their names that outlive a change of zone data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from redisched.calendar.moments import EPOCH, SECOND, utc_datetime
from redisched.core.errors import ScheduleError


@dataclass(frozen=True, slots=True)
class Slot:
    """One occurrence.

    `id` is `L` and a local wall time where the timetable names local times, `U` and epoch seconds elsewhere;
    the same occurrence has the same id on every host, whatever its zone data. `wall` is the local time of the
    instant; where a clock change collapses several into one slot, the last of them, and so a valid cursor.
    """

    at_ms: int
    id: str
    wall: str

    @property
    def at(self) -> datetime:
        """The instant, as an aware UTC datetime."""
        return utc_datetime(self.at_ms)

    @property
    def is_local(self) -> bool:
        """True if the slot is named by its local time, so that `wall` must rise with every run."""
        return self.id.startswith("L")


def wall_text(wall_s: int) -> str:
    """A local time, counted in seconds as if it were UTC, as `YYYYMMDDTHHMMSS`; sorts as the times do."""
    return f"{EPOCH + timedelta(seconds=wall_s):%Y%m%dT%H%M%S}"


def wall_seconds(text: str) -> int:
    """What `wall_text` made a text of."""
    try:
        return (datetime.strptime(f"{text}+0000", "%Y%m%dT%H%M%S%z") - EPOCH) // SECOND
    except ValueError as error:
        raise ScheduleError("wall", text, "is no local time like 20270328T023000") from error


def local_slot(at_s: int, first_wall: int, last_wall: int) -> Slot:
    """A slot named by its nominal local time."""
    return Slot(at_s * 1000, f"L{wall_text(first_wall)}", wall_text(last_wall))


def instant_slot(at_ms: int, wall_s: int) -> Slot:
    """A slot named by its instant."""
    seconds, rest = divmod(at_ms, 1000)
    fraction = f".{rest:03}" if rest else ""
    return Slot(at_ms, f"U{seconds}{fraction}", wall_text(wall_s))
