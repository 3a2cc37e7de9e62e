"""Timetables written as cron expressions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache

from redisched.calendar.checks import check_fields, is_hashed
from redisched.calendar.fields import clean_text, read_fields
from redisched.calendar.moments import checked_ms
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
from redisched.calendar.walls import Walls, find_walls
from redisched.calendar.zones import find_zone
from redisched.core.errors import ScheduleError


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
        object.__setattr__(self, "kind", _checked_kind(self))
        find_zone(self.tz)
        _walls(self)

    @property
    def named_zone(self) -> str | None:
        return None if self.tz == "UTC" else self.tz

    def slot_after(self, after_ms: int, after_wall: str = "") -> Slot | None:
        timetable = _timetable(self)
        slot = timetable.after(checked_ms("after_ms", after_ms) // 1000)
        while slot is not None and slot.is_local and slot.wall <= after_wall:
            slot = timetable.after(slot.at_ms // 1000)
        return slot

    def slot_before(self, before_ms: int) -> Slot | None:
        return _timetable(self).before(-(-checked_ms("before_ms", before_ms) // 1000))

    def wall_at(self, at_ms: int) -> str:
        return wall_text(find_zone(self.tz).wall_at(checked_ms("at_ms", at_ms) // 1000))

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


def _checked_kind(cron: Cron) -> Kind:
    fields = read_fields(cron.expression, cron.seconds)
    check_fields(cron.expression, fields, cron.day_rule)
    if is_hashed(fields) and not (isinstance(cron.hash_id, str) and cron.hash_id):
        raise ScheduleError("cron", cron.expression, "H needs hash_id=, usually the name of the schedule")
    return fields.kind


def _walls(cron: Cron) -> Walls:
    fields = read_fields(cron.expression, cron.seconds)
    hash_id = cron.hash_id if is_hashed(fields) else None
    return find_walls(fields.text(cron.day_rule), day_or=cron.day_rule != "and", hash_id=hash_id)


# Bounded and thread-safe; a Cron stays a plain value, apart from what is computed for it.
@lru_cache(maxsize=2048)
def _timetable(cron: Cron) -> Timetable:
    return Timetable(_walls(cron), find_zone(cron.tz), _rules(cron))


def _rules(cron: Cron) -> Rules:
    if cron.kind == "wildcard":
        return Rules("skip", "both", local_ids=False)
    return Rules(cron.gap, cron.repeat, local_ids=cron.repeat != "both")
