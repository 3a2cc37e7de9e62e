"""What every timetable can do, whatever it is written in."""

from __future__ import annotations

from abc import abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias

from redisched.calendar.moments import ceil_ms, floor_ms
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from redisched.calendar.slots import Slot

Spec: TypeAlias = "dict[str, str | int | None]"


class Calendar(Protocol):
    """A set of instants, decided by its definition and zone data alone: no clock, no last run, no state."""

    __slots__ = ()

    @property
    @abstractmethod
    def named_zone(self) -> str | None:
        """The zone whose data decide the instants; None if hosts with different data agree all the same."""

    @abstractmethod
    def slot_after(self, after_ms: int, after_wall: str = "") -> Slot | None:
        """The first slot strictly after `after_ms`; None once there are no more.

        `after_wall` is the wall of the last slot run: slots named by a local time not after it are passed
        over, so that newer zone data never run a local time twice.
        """

    @abstractmethod
    def slot_before(self, before_ms: int) -> Slot | None:
        """The last slot strictly before `before_ms`; None if there is none."""

    @abstractmethod
    def wall_at(self, at_ms: int) -> str:
        """The local time of an instant, as slots name it: where a cursor starts."""

    @abstractmethod
    def to_spec(self) -> Spec:
        """The definition as plain values that another process gives to `from_spec`."""

    def slots_after(self, after_ms: int, after_wall: str = "") -> Iterator[Slot]:
        """Every slot strictly after `after_ms`, in order; endless where the timetable is."""
        slot = self.slot_after(after_ms, after_wall)
        while slot is not None:
            yield slot
            slot = self.slot_after(slot.at_ms, slot.wall)

    def next(self, after: datetime, count: int = 6) -> list[datetime]:
        """The next `count` instants strictly after `after`, fewer if the timetable ends; aware, in UTC.

        Raises ScheduleError where none is left.
        """
        slots = self.slots_after(floor_ms("after", after))
        found = [slot.at for slot in islice(slots, _checked_count(count))]
        if not found:
            raise ScheduleError("after", after, f"{self!r} has no slot after this")
        return found

    def prev(self, before: datetime) -> datetime:
        """The last instant strictly before `before`, in UTC; ScheduleError where there is none."""
        slot = self.slot_before(ceil_ms("before", before))
        if slot is None:
            raise ScheduleError("before", before, f"{self!r} has no slot before this")
        return slot.at


def _checked_count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ScheduleError("count", count, "ask for one or more")
    return count
