"""From local times to instants: how gaps and repeated hours are resolved, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from redisched.calendar.moments import EARLIEST_S, LATEST_S
from redisched.calendar.segments import REACH
from redisched.calendar.slots import Slot, instant_slot, local_slot, wall_seconds

if TYPE_CHECKING:
    from redisched.calendar.policies import Gap, Repeat
    from redisched.calendar.segments import Zone
    from redisched.calendar.walls import Walls

# Many schedules share an expression and fall due together; each asks for the slot after the same instant.
REMEMBERED: Final = 32


@dataclass(frozen=True, slots=True)
class Rules:
    """How local times become instants, and whether slots are named by the former."""

    gap: Gap
    repeat: Repeat
    local_ids: bool


class Timetable:
    """The instants of an expression in a zone, in whole seconds. Safe to share between threads."""

    def __init__(self, walls: Walls, zone: Zone, rules: Rules) -> None:
        self._walls = walls
        self._zone = zone
        self._rules = rules
        self.after = lru_cache(maxsize=REMEMBERED)(self._after)

    def _after(self, moment: int) -> Slot | None:
        """The first slot strictly after an instant."""
        found = [self._first_from(wall, moment) for wall in self._starts_after(moment)]
        instants = [instant for instant in found if instant is not None]
        return self._slot(min(instants)) if instants else None

    def after_wall(self, moment: int, wall: str) -> Slot | None:
        """The first slot after an instant whose wall, too, is later than `wall`."""
        slot = self.after(max(moment, wall_seconds(wall) - REACH))
        while slot is not None and slot.wall <= wall:
            slot = self.after(slot.at_ms // 1000)
        return slot

    def before(self, moment: int) -> Slot | None:
        """The last slot strictly before an instant."""
        found = [self._last_from(wall, moment) for wall in self._starts_before(moment)]
        instants = [instant for instant in found if instant is not None]
        return self._slot(max(instants)) if instants else None

    def _starts_after(self, moment: int) -> tuple[int, ...]:
        """The local times behind which the next slot may lie: two while a repeated hour runs first."""
        local = self._zone.wall_at(moment)
        change = self._zone.change_at_wall(local)
        if change is None or (moment < change.at and self._rules.repeat == "first"):
            return (local,)
        if moment < change.at:
            return (local, change.first_wall - 1)
        return (change.end_wall - 1,) if self._rules.repeat == "first" else (local,)

    def _starts_before(self, moment: int) -> tuple[int, ...]:
        """The local times before which the previous slot may lie: two while a repeated hour runs again."""
        local = self._zone.wall_at(moment - 1)
        change = self._zone.change_at_wall(local)
        if change is None or (moment > change.at and self._rules.repeat == "second"):
            return (local + 1,)
        if moment > change.at:
            return (local + 1, change.end_wall)
        return (change.first_wall,) if self._rules.repeat == "second" else (local + 1,)

    def _first_from(self, wall: int, moment: int) -> int | None:
        found = self._walls.after(wall)
        while found is not None:
            for instant in self._instants(found):
                if instant > moment:
                    return instant if instant <= LATEST_S else None
            found = self._walls.after(self._last_of_gap(found))
        return None

    def _last_from(self, wall: int, moment: int) -> int | None:
        found = self._walls.before(wall)
        while found is not None:
            for instant in reversed(self._instants(found)):
                if instant < moment:
                    return instant if instant >= EARLIEST_S else None
            found = self._walls.before(self._first_of_gap(found))
        return None

    def _instants(self, wall: int) -> tuple[int, ...]:
        """The instants at which a local time is due: none, one, or both passes."""
        change = self._zone.change_at_wall(wall)
        if change is None:
            return (self._zone.instant_of(wall),)
        if change.is_gap:
            return (change.at,) if self._rules.gap == "shift" else ()
        passes = (wall - change.before, wall - change.after)
        return {"first": passes[:1], "second": passes[1:], "both": passes}[self._rules.repeat]

    # A skipped gap is passed in one step: it may hold a day of seconds.
    def _last_of_gap(self, wall: int) -> int:
        change = self._zone.change_at_wall(wall)
        return change.end_wall - 1 if change and change.is_gap else wall

    def _first_of_gap(self, wall: int) -> int:
        change = self._zone.change_at_wall(wall)
        return change.first_wall if change and change.is_gap else wall

    def _slot(self, instant: int) -> Slot:
        first, last = self._nominal(instant)
        return (
            local_slot(instant, first, last) if self._rules.local_ids else instant_slot(instant * 1000, last)
        )

    def _nominal(self, instant: int) -> tuple[int, int]:
        """The first and last local time that this instant stands for: several, where a gap collapses them."""
        wall = self._zone.wall_at(instant)
        gap = self._zone.gap_ending_at(instant) if self._rules.gap == "shift" else None
        if gap is None:
            return wall, wall
        first, last = self._walls.after(gap.first_wall - 1), self._walls.before(gap.end_wall + 1)
        return (wall if first is None else first), (wall if last is None else last)
