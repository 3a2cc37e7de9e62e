"""One local time, to be run once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from redisched.calendar.moments import EPOCH, SECOND, checked_ms, utc_datetime
from redisched.calendar.policies import ONCE_GAPS, ONCE_REPEATS, OnceGap, OnceRepeat, check_choice
from redisched.calendar.protocol import Calendar, Spec
from redisched.calendar.slots import Slot, local_slot, wall_text
from redisched.calendar.zones import find_zone
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from redisched.calendar.segments import Change


@dataclass(frozen=True, slots=True)
class At(Calendar):
    """A local time in a zone, such as `At("2027-03-28T02:30", tz="Europe/London")`.

    The local time is the truth and the instant follows from zone data: a host with newer data may resolve it
    anew. `gap` says what becomes of a time that does not exist (`shift`: the first instant after the gap),
    `repeat` which pass of a repeated hour is meant; `raise` refuses it here.
    """

    local: str
    _: KW_ONLY
    tz: str
    gap: OnceGap = "shift"
    repeat: OnceRepeat = "first"

    def __post_init__(self) -> None:
        check_choice("gap", self.gap, ONCE_GAPS)
        check_choice("repeat", self.repeat, ONCE_REPEATS)
        checked_ms("at", _wall(self.local) * 1000)
        find_zone(self.tz)
        self.resolve()

    @property
    def at_ms(self) -> int:
        """The instant by the zone data of this process, in milliseconds since the epoch."""
        wall, zone = _wall(self.local), find_zone(self.tz)
        change = zone.change_at_wall(wall)
        return (zone.instant_of(wall) if change is None else self._across(change, wall)) * 1000

    def resolve(self) -> datetime:
        """The instant by the zone data of this process, in UTC; ScheduleError where a policy says `raise`."""
        return utc_datetime(self.at_ms)

    @property
    def named_zone(self) -> str | None:
        return None if self.tz == "UTC" else self.tz

    def slot_after(self, after_ms: int, after_wall: str = "") -> Slot | None:
        slot = self._slot()
        past = slot.at_ms <= checked_ms("after_ms", after_ms) or slot.wall <= after_wall
        return None if past else slot

    def slot_before(self, before_ms: int) -> Slot | None:
        slot = self._slot()
        return slot if slot.at_ms < checked_ms("before_ms", before_ms) else None

    def wall_at(self, at_ms: int) -> str:
        return wall_text(find_zone(self.tz).wall_at(checked_ms("at_ms", at_ms) // 1000))

    def to_spec(self) -> Spec:
        return {"type": "at", "local": self.local, "tz": self.tz, "gap": self.gap, "repeat": self.repeat}

    def _slot(self) -> Slot:
        wall = _wall(self.local)
        return local_slot(self.at_ms // 1000, wall, wall)

    def _across(self, change: Change, wall: int) -> int:
        """The instant of a local time that is missing or repeated."""
        if change.is_gap:
            self._refuse_if(self.gap, f"does not exist in {self.tz}; say gap='shift' or another time")
            return change.at
        self._refuse_if(self.repeat, f"comes twice in {self.tz}; say repeat='first' or 'second'")
        return wall - (change.before if self.repeat == "first" else change.after)

    def _refuse_if(self, policy: str, reason: str) -> None:
        if policy == "raise":
            raise ScheduleError("at", self.local, reason)


def _wall(local: object) -> int:
    """A local time counted in seconds as if it were UTC."""
    return (_parsed(local).replace(tzinfo=UTC) - EPOCH) // SECOND


def _parsed(local: object) -> datetime:
    if not isinstance(local, str) or not 12 <= len(local) <= 40:
        raise ScheduleError("at", local, "give local date and time such as '2027-03-28T02:30'")
    try:
        parsed = datetime.fromisoformat(local)
    except ValueError as error:
        raise ScheduleError("at", local, f"is no ISO date and time ({error})") from error
    if parsed.tzinfo is not None:
        raise ScheduleError(
            "at", local, "has an offset and so is an instant; leave it out, tz= says the zone"
        )
    if parsed.microsecond:
        raise ScheduleError("at", local, "is finer than a second; leave the fraction out")
    return parsed
