"""Timetables written as cron expressions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from redisched.calendar.advice import clock_changes, uneven_steps
from redisched.calendar.fields import clean_text
from redisched.calendar.moments import checked_ms, floor_ms
from redisched.calendar.plans import Plan, find_plan
from redisched.calendar.policies import (
    DAY_RULES,
    GAPS,
    REPEATS,
    SECONDS,
    DayRule,
    Gap,
    Kind,
    Repeat,
    Seconds,
    check_choice,
)
from redisched.calendar.protocol import Calendar, Spec
from redisched.calendar.slots import Slot, wall_text
from redisched.calendar.timetable import Rules, Timetable
from redisched.calendar.zones import find_zone
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Cron(Calendar):
    """A cron expression in a zone; everything wrong with it is refused here, with a ScheduleError.

    `kind` is `wildcard` if minute or hour is `*` or `*/n`: every real minute whose local clock matches, so a
    repeated hour runs twice and a missing one not at all. It is `fixed` otherwise: `gap` says what becomes of
    local times that do not exist (`shift` to the first instant after the gap, or `skip`), `repeat` which pass
    of a repeated hour counts. `seconds` says where the seconds stand if there are six or seven fields,
    `day_rule` whether day and weekday both must match, `hash_id` what `H` is drawn from.
    """

    expression: str
    tz: str = "UTC"
    _: KW_ONLY
    gap: Gap = "shift"
    repeat: Repeat = "first"
    seconds: Seconds | None = None
    day_rule: DayRule | None = None
    hash_id: str | None = None
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        check_choice("gap", self.gap, GAPS)
        check_choice("repeat", self.repeat, REPEATS)
        check_choice("seconds", self.seconds, SECONDS)
        check_choice("day_rule", self.day_rule, DAY_RULES)
        object.__setattr__(self, "expression", clean_text(self.expression))
        _check_hash_id(self.hash_id)
        object.__setattr__(self, "kind", _plan(self).fields.kind)
        find_zone(self.tz)

    @property
    def named_zone(self) -> str | None:
        return None if self.tz == "UTC" else self.tz

    def slot_after(self, after_ms: int, after_wall: str = "") -> Slot | None:
        timetable = _timetable(self)
        after = checked_ms("after_ms", after_ms) // 1000
        slot = timetable.after(after)
        ran = slot is not None and slot.is_local and slot.wall <= after_wall
        return timetable.after_wall(after, after_wall) if ran else slot

    def slot_before(self, before_ms: int) -> Slot | None:
        return _timetable(self).before(-(-checked_ms("before_ms", before_ms) // 1000))

    def wall_at(self, at_ms: int) -> str:
        return wall_text(find_zone(self.tz).wall_at(checked_ms("at_ms", at_ms) // 1000))

    def warnings(self, after: datetime) -> tuple[str, ...]:
        """What may surprise: steps of uneven length, and clock changes within two years that hit a slot."""
        plan = _plan(self)
        uneven = uneven_steps(plan.fields)
        if self.kind == "wildcard":
            return tuple(uneven)
        start = checked_ms("after", floor_ms("after", after)) // 1000
        return (*uneven, *clock_changes(plan.walls, find_zone(self.tz), start))

    def to_spec(self) -> Spec:
        return {
            "type": "cron",
            "expression": self.expression,
            "tz": self.tz,
            "gap": self.gap,
            "repeat": self.repeat,
            "seconds": self.seconds,
            "day_rule": self.day_rule,
            "hash_id": self.hash_id,
            "kind": self.kind,
        }


def _check_hash_id(hash_id: object) -> None:
    if hash_id is not None and not (isinstance(hash_id, str) and 0 < len(hash_id) <= 256):
        raise ScheduleError(
            "hash_id", hash_id, "give the schedule's name or other text of 1 to 256 characters"
        )


def _plan(cron: Cron) -> Plan:
    return find_plan(cron.expression, cron.seconds, cron.day_rule, cron.hash_id)


# Bounded and thread-safe; a Cron stays a plain value, apart from what is computed for it.
@lru_cache(maxsize=2048)
def _timetable(cron: Cron) -> Timetable:
    return Timetable(_plan(cron).walls, find_zone(cron.tz), _rules(cron))


def _rules(cron: Cron) -> Rules:
    if cron.kind == "wildcard":
        return Rules("skip", "both", local_ids=False)
    return Rules(cron.gap, cron.repeat, local_ids=cron.repeat != "both")
