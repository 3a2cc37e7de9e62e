"""Durations and instants at the edge of redisched; inside, whole milliseconds, rounded up: never early."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

from redisched.core.errors import ArgumentError

Duration: TypeAlias = timedelta | int | float | str

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

# The last whole millisecond that datetime can show: 9999-12-31T23:59:59.999Z.
LAST_INSTANT_MS: Final = 253_402_300_799_999

# 7,900 years: a duration of this length, counted from any day before 2099, ends before the year 10000.
LONGEST_DURATION_MS: Final = 7_900 * 365 * 24 * 3_600_000

_UNITS_US: Final = {
    "w": 604_800_000_000,
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
}
_FLOAT_HAS_NO_FRACTION: Final = 2.0**53
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_TEXT: Final = re.compile(
    r"(?=[0-9])" + " ?".join(rf"(?:(?P<{unit}>{_NUMBER}){unit})?" for unit in _UNITS_US)
)
_SECONDS: Final = re.compile(_NUMBER)


def to_ms(value: Duration, *, field: str) -> int:
    """`value` in milliseconds, rounded up, so that a wait of this length is never too short.

    A number, or text that is a number, counts seconds. Other text names its units, the largest first: "2d",
    "1h30m", "1.5h", "500ms" (w, d, h, m, s, ms). A float counts to the nearest microsecond, as in timedelta.
    Raises ArgumentError for bool, nan, infinity, a negative value, other text, and more than 7,900 years.
    """
    microseconds = _microseconds(value, field)
    if microseconds < 0:
        raise ArgumentError(field, value, "a duration cannot be negative; pass 0 for at once")
    ms = -(-microseconds // 1_000)
    if ms > LONGEST_DURATION_MS:
        raise ArgumentError(
            field, value, "longer than 7,900 years and past the year 9999; pass something shorter"
        )
    return ms


def instant_ms(when: datetime | str, *, field: str) -> int:
    """`when`, an aware datetime or ISO 8601 text with an offset, in milliseconds since 1970, rounded up.

    A repeated local time is the one that `fold` says. Within the last millisecond of the year 9999 it is
    rounded down instead, because the next one has no date: `from_ms` gives the same instant or one less than
    1 ms later, and only there earlier. Raises ArgumentError for a naive time, a time before 1970 or past 9999
    in UTC, and a number.
    """
    moment = _moment(when, field)
    if moment.utcoffset() is None:
        raise ArgumentError(field, when, _naive(moment))
    microseconds = (moment - EPOCH) // MICROSECOND
    if microseconds < 0:
        raise ArgumentError(field, when, "before 1970; pass a time from 1970-01-01T00:00Z on")
    if microseconds // 1_000 > LAST_INSTANT_MS:
        raise ArgumentError(field, when, "past the year 9999 in UTC; pass an earlier time")
    return min(-(-microseconds // 1_000), LAST_INSTANT_MS)


def from_ms(ms: int) -> datetime:
    """The aware UTC datetime `ms` milliseconds after 1970; ArgumentError outside 1970 to 9999."""
    if not 0 <= ms <= LAST_INSTANT_MS:
        raise ArgumentError("ms", ms, f"an instant is 0 to {LAST_INSTANT_MS} ms after 1970")
    return EPOCH + timedelta(milliseconds=ms)


def _microseconds(value: Duration, field: str) -> int:
    if isinstance(value, timedelta):
        return value // MICROSECOND
    if isinstance(value, str):
        return _text_microseconds(value, field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(
            field, value, "not a duration; pass a timedelta, seconds, or text such as '1h30m'"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(field, value, "not a finite number of seconds; pass a finite one")
    if isinstance(value, int) or abs(value) > _FLOAT_HAS_NO_FRACTION:
        return int(value) * 1_000_000
    return math.floor(value * 1_000_000) if value < 0 else round(value * 1_000_000)


def _text_microseconds(text: str, field: str) -> int:
    stripped = text.strip()
    if len(stripped) <= 100 and _SECONDS.fullmatch(stripped):
        return math.ceil(Decimal(stripped) * 1_000_000)
    match = _TEXT.fullmatch(stripped) if len(stripped) <= 100 else None
    if match is None:
        raise ArgumentError(
            field, text, "not a duration; write it like '45', '500ms', '10m', '1h30m' or '2d'"
        )
    counts = match.groupdict(default="0")
    return math.ceil(sum(Decimal(counts[unit]) * scale for unit, scale in _UNITS_US.items()))


def _moment(when: object, field: str) -> datetime:
    if isinstance(when, datetime):
        return when
    if isinstance(when, str):
        return _parsed(when, field)
    if isinstance(when, int | float):
        reason = (
            "a number does not say its unit; pass an aware datetime: datetime.fromtimestamp(seconds, tz=UTC)"
        )
        raise ArgumentError(field, when, reason)
    raise ArgumentError(field, when, "not a time; pass an aware datetime, or ISO text with an offset")


def _parsed(text: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        reason = "not ISO 8601; write it like '2027-03-28T02:30:00+01:00' or '2027-03-28T01:30:00Z'"
        raise ArgumentError(field, text, reason) from error


def _naive(moment: datetime) -> str:
    local = moment.replace(tzinfo=None).isoformat()
    return (
        "no time zone, so no instant; "
        f'add an offset, or .replace(tzinfo=ZoneInfo("Europe/London")), or At("{local}", tz="Europe/London")'
    )
