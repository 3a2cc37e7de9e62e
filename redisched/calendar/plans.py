"""From the text of an expression to the local times it names: read, judged, parsed, and remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from redisched.calendar.checks import check_fields, is_hashed
from redisched.calendar.fields import Fields, read_fields
from redisched.calendar.walls import Walls
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from redisched.calendar.policies import DayRule, Seconds

# What croniter raises on hostile text: its own errors are ValueErrors, the others leak out of it.
PARSE_ERRORS: Final = (ValueError, TypeError, AttributeError, ArithmeticError, LookupError)


@dataclass(frozen=True, slots=True)
class Plan:
    """A sound expression: its fields, and the local times that they name."""

    fields: Fields
    walls: Walls


# Bounded and thread-safe: 100,000 schedules with the same few expressions are judged and parsed once each.
@lru_cache(maxsize=2048)
def find_plan(
    expression: str, seconds: Seconds | None, day_rule: DayRule | None, hash_id: str | None
) -> Plan:
    """The plan of a clean expression; whatever is wrong with it is a ScheduleError that says so."""
    fields = read_fields(expression, seconds)
    check_fields(expression, fields, day_rule)
    hashed = is_hashed(fields)
    if hashed and not hash_id:
        raise ScheduleError("cron", expression, "H needs hash_id=, usually the name of the schedule")
    walls = _parsed(expression, fields.text(day_rule), day_rule, hash_id if hashed else None)
    if walls.never_match():
        reason = "never matches: no such date within 50 years; correct its days or months"
        raise ScheduleError("cron", expression, reason)
    return Plan(fields, walls)


def _parsed(expression: str, text: str, day_rule: DayRule | None, hash_id: str | None) -> Walls:
    try:
        return Walls(text, day_or=day_rule != "and", hash_id=hash_id)
    except PARSE_ERRORS as error:
        raise ScheduleError("cron", expression, f"cannot be read: {error}") from error
