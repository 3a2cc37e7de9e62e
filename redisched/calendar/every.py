"""Timetables of equal steps in elapsed time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from redisched.calendar.moments import EARLIEST_S, LATEST_S, MILLISECOND, checked_ms, floor_ms, utc_datetime
from redisched.calendar.protocol import Calendar, Spec
from redisched.calendar.slots import Slot, instant_slot, wall_text
from redisched.core.errors import ScheduleError

SHORTEST: Final = timedelta(milliseconds=100)
LONGEST: Final = timedelta(days=50 * 366)


@dataclass(frozen=True, slots=True, init=False)
class Every(Calendar):
    """One slot every `period`, counted from an anchor in elapsed time: the same instants on every host.

    The anchor is the Unix epoch unless given; it sets the phase, and slots exist before and after it.
    A day is 24 hours and drifts against local clocks that change: for a time of day, use Cron.
    """

    period_ms: int
    phase_ms: int

    def __init__(
        self,
        period: timedelta | None = None,
        *,
        anchor: datetime | None = None,
        offset: timedelta | float = timedelta(0),
        weeks: float = 0,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> None:
        named = {"weeks": weeks, "days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
        period_ms = _period_ms(period, {unit: amount for unit, amount in named.items() if amount != 0})
        anchor_ms = 0 if anchor is None else floor_ms("anchor", anchor)
        object.__setattr__(self, "period_ms", period_ms)
        object.__setattr__(self, "phase_ms", (anchor_ms + _offset_ms(offset)) % period_ms)

    @property
    def named_zone(self) -> None:
        return None

    @property
    def period(self) -> timedelta:
        """The elapsed time from one slot to the next."""
        return timedelta(milliseconds=self.period_ms)

    @property
    def anchor(self) -> datetime:
        """The first slot from the Unix epoch on."""
        return utc_datetime(self.phase_ms)

    def slot_after(self, after_ms: int, after_wall: str = "") -> Slot | None:  # noqa: ARG002 - U slots only
        steps = (checked_ms("after_ms", after_ms) - self.phase_ms) // self.period_ms + 1
        return self._slot(steps)

    def slot_before(self, before_ms: int) -> Slot | None:
        steps = -((self.phase_ms - checked_ms("before_ms", before_ms)) // self.period_ms) - 1
        return self._slot(steps)

    def wall_at(self, at_ms: int) -> str:
        return wall_text(checked_ms("at_ms", at_ms) // 1000)

    def to_spec(self) -> Spec:
        return {"type": "every", "period_ms": self.period_ms, "phase_ms": self.phase_ms}

    def _slot(self, steps: int) -> Slot | None:
        at_ms = self.phase_ms + steps * self.period_ms
        in_range = EARLIEST_S * 1000 <= at_ms <= LATEST_S * 1000
        return instant_slot(at_ms, at_ms // 1000) if in_range else None


def _period_ms(period: object, named: dict[str, float]) -> int:
    if period is not None and named:
        raise ScheduleError("every", named, "give a timedelta or named units, not both")
    given = _duration("every", named) if period is None else period
    if not isinstance(given, timedelta) or not SHORTEST <= given <= LONGEST:
        raise ScheduleError("every", given, "give a timedelta from 100 milliseconds to 50 years")
    return _whole_ms("every", given)


def _offset_ms(offset: timedelta | float) -> int:
    given = offset if isinstance(offset, timedelta) else _duration("offset", {"seconds": offset})
    return _whole_ms("offset", given)


def _duration(field: str, named: dict[str, float]) -> timedelta:
    try:
        return timedelta(**named)
    except (TypeError, ValueError, OverflowError) as error:
        raise ScheduleError(field, named, f"is no duration ({error}); give numbers") from error


def _whole_ms(field: str, duration: timedelta) -> int:
    whole, rest = divmod(duration, MILLISECOND)
    if rest:
        raise ScheduleError(field, str(duration), "is finer than a millisecond; round it")
    return whole
