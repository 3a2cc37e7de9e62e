"""A cron expression cut into its named fields, before anything is judged or computed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redisched.calendar.policies import DayRule, Kind, Seconds

LONGEST: Final = 256
ALIASES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
STEPPED_HASH: Final = re.compile(r"h/\d+")


@dataclass(frozen=True, slots=True)
class Fields:
    """The text of each field, in lower case. A year that means every year is left out."""

    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    second: str | None = None
    year: str | None = None

    def named(self) -> Iterator[tuple[str, str]]:
        """Each field that was written, with its name."""
        for name in ("second", "minute", "hour", "day", "month", "weekday", "year"):
            text: str | None = getattr(self, name)
            if text is not None:
                yield name, text

    @property
    def kind(self) -> Kind:
        """`wildcard` if an element of the minute or hour field is `*`, `*/n` or `H/n`; else `fixed`."""
        elements = f"{self.minute},{self.hour}".split(",")
        starred = any(element.startswith("*") or STEPPED_HASH.fullmatch(element) for element in elements)
        return "wildcard" if starred else "fixed"

    def text(self, day_rule: DayRule | None) -> str:
        """The expression in the order that croniter reads, seconds behind the five usual fields."""
        day, weekday = self.day, self.weekday
        if day_rule is not None:
            # Written as a range, a step is a restriction like any other, and the rule decides.
            day, weekday = day.replace("*/", "1-31/"), weekday.replace("*/", "0-6/")
        words = (self.minute, self.hour, day, self.month, weekday, self.second, self.year)
        return " ".join(word for word in words if word is not None)


def clean_text(expression: str) -> str:
    """The expression with single spaces; refused unless it is short, printable ASCII."""
    if not isinstance(expression, str):
        raise ScheduleError("cron", expression, "give text such as '0 9 * * MON'")
    if len(expression) > LONGEST:
        raise ScheduleError("cron", expression, f"has {len(expression)} characters, {LONGEST} at most")
    text = re.sub(r"[ \t\r\n]+", " ", expression).strip(" ")
    if not text.isascii() or not text.isprintable():
        raise ScheduleError("cron", expression, "has characters other than printable ASCII; type it anew")
    return text


def read_fields(expression: str, seconds: Seconds | None) -> Fields:
    """The fields of a clean expression; `seconds` says where the seconds stand in one of six or seven."""
    text = expression.lower()
    words = ALIASES.get(text, text).split()
    if text.startswith("@") and text not in ALIASES:
        raise ScheduleError("cron", expression, f"is no alias; there are {', '.join(ALIASES)}")
    _check_count(expression, len(words), seconds)
    return _five(words) if len(words) == 5 else _with_seconds(words, seconds)


def _check_count(expression: str, count: int, seconds: Seconds | None) -> None:
    if not 5 <= count <= 7:
        raise ScheduleError("cron", expression, f"has {count} fields; give minute hour day month weekday")
    if count == 5 and seconds is not None:
        reason = "has 5 fields and so no seconds; leave seconds= out or write six"
        raise ScheduleError("cron", expression, reason)
    if count > 5 and seconds is None:
        reason = f"has {count} fields; say seconds='first' or seconds='last', or write five"
        raise ScheduleError("cron", expression, reason)


def _five(words: list[str], second: str | None = None, year: str | None = None) -> Fields:
    minute, hour, day, month, weekday = words
    return Fields(minute, hour, day, month, weekday, second, year)


def _with_seconds(words: list[str], seconds: Seconds | None) -> Fields:
    year = words[6] if len(words) == 7 else None
    second = words[0] if seconds == "first" else words[5]
    five = words[1:6] if seconds == "first" else words[:5]
    return _five(five, second, None if year == "*" else year)
