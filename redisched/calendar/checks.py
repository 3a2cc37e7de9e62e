"""What a cron expression must not say: out of range, without meaning, or meaning two things."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from redisched.calendar.fields import Fields
    from redisched.calendar.policies import DayRule

RANGES: Final = {
    "second": (0, 59),
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 31),
    "month": (1, 12),
    "weekday": (0, 7),
    "year": (1970, 2099),
}
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
RANDOM: Final = re.compile(r"r(\(|/|$)")
HASHED: Final = re.compile(r"h(\(|/|$)")
# A value or a range of values, and a step.
PLAIN: Final = re.compile(r"(?P<low>\*|\w+)(?:-(?P<high>\w+))?(?:/(?P<step>\w+))?")
STEP: Final = re.compile(r"0*[1-9]\d{0,3}")
# Weekdays by number in the month (5#3, L5), the working day nearest to a day (15W): croniter cannot
# combine them with a restriction of the other day field.
SPECIAL_DAY: Final = re.compile(r"\d+w|w\d+")
SPECIAL_WEEKDAY: Final = re.compile(r"\w+(?:-\w+)?#\d+|l\d+")


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a field's list, with the expression it came from for what an error says."""

    expression: str
    field: str
    text: str

    def refusal(self, reason: str) -> ScheduleError:
        return ScheduleError("cron", self.expression, f"{self.field} {self.text}: {reason}")


def check_fields(expression: str, fields: Fields, day_rule: DayRule | None) -> None:
    """Refuse, with the way out, what could not be kept or would be read differently elsewhere."""
    for name, text in fields.named():
        for element in text.split(","):
            _check_element(Element(expression, name, element))
    _check_days(expression, fields, day_rule)


def value_of(field: str, text: str) -> int | None:
    """The number that a value stands for, None if it is no number and no name of this field."""
    if field == "month" and text in MONTHS:
        return MONTHS.index(text) + 1
    if field == "weekday" and text in WEEKDAYS:
        return WEEKDAYS.index(text)
    if field == "day" and text == "l":
        return 31
    return int(text) if text.isdecimal() and len(text) <= 4 else None


def is_hashed(fields: Fields) -> bool:
    """True if a field is drawn from the hash id."""
    return any(HASHED.match(text) for _, text in fields.named())


def _check_element(element: Element) -> None:
    text = element.text
    if RANDOM.match(text):
        raise element.refusal("is drawn anew by every host; use H with hash_id=, or a number")
    if HASHED.match(text) or (element.field == "day" and SPECIAL_DAY.fullmatch(text)):
        return
    if (element.field == "weekday" and SPECIAL_WEEKDAY.fullmatch(text)) or text == "?":
        return
    _check_plain(element)


def _check_plain(element: Element) -> None:
    parts = PLAIN.fullmatch(element.text)
    if parts is None or (parts["low"] == "*" and parts["high"]):
        raise element.refusal("is not a value, a range a-b or a step */n")
    if parts["step"] and not STEP.fullmatch(parts["step"]):
        raise element.refusal("a step is a number from 1 to 9999")
    if parts["low"] != "*":
        low = _checked_value(element, parts["low"])
        if parts["high"]:
            _check_range(element, low, _checked_value(element, parts["high"]), parts["step"])


def _checked_value(element: Element, text: str) -> int:
    low, high = RANGES[element.field]
    value = value_of(element.field, text)
    if value is None and not text.isdecimal():
        raise element.refusal(f"{text!r} is neither a number {low}-{high} nor a name known here")
    if value is None or not low <= value <= high:
        raise element.refusal(f"{text} is out of range {low}-{high}")
    return value


def _check_range(element: Element, low: int, high: int, step: str | None) -> None:
    # 0-7 is written for every weekday, Sunday to Sunday.
    if low == high or (element.field == "weekday" and (low, high) == (7, 0)):
        raise element.refusal("a range from a value to itself means everything to some; write the value")
    if step and low > high:
        raise element.refusal("a range that wraps around cannot have a step; write a list")


def _check_days(expression: str, fields: Fields, day_rule: DayRule | None) -> None:
    day, weekday = fields.day, fields.weekday
    if day in {"*", "?"} or weekday in {"*", "?"}:
        return
    elements = f"{day},{weekday}".split(",")
    if any(SPECIAL_DAY.fullmatch(text) or SPECIAL_WEEKDAY.fullmatch(text) for text in elements):
        reason = "#, L5 and W need the other day field to be *; use two schedules"
        raise ScheduleError("cron", expression, reason)
    if day_rule is None and any(text.startswith("*") for text in elements):
        reason = (
            "a step beside another day field is read as OR here and as AND there; say day_rule='or' or 'and'"
        )
        raise ScheduleError("cron", expression, reason)
