"""The closed sets of words that a timetable's options take."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from redisched.core.errors import ScheduleError

Kind: TypeAlias = Literal["fixed", "wildcard"]
Gap: TypeAlias = Literal["shift", "skip"]
OnceGap: TypeAlias = Literal["shift", "raise"]
Repeat: TypeAlias = Literal["first", "second", "both"]
OnceRepeat: TypeAlias = Literal["first", "second", "raise"]
Seconds: TypeAlias = Literal["first", "last"]
DayRule: TypeAlias = Literal["or", "and"]

KINDS: Final = ("fixed", "wildcard")
GAPS: Final = ("shift", "skip")
ONCE_GAPS: Final = ("shift", "raise")
REPEATS: Final = ("first", "second", "both")
ONCE_REPEATS: Final = ("first", "second", "raise")
SECONDS: Final = (None, "first", "last")
DAY_RULES: Final = (None, "or", "and")


def check_choice(field: str, value: object, choices: tuple[str | None, ...]) -> None:
    """Refuse a value that is none of `choices`, and name them."""
    if (value is None or isinstance(value, str)) and value in choices:
        return
    raise ScheduleError(field, value, f"choose one of {', '.join(map(repr, choices))}")
