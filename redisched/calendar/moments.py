"""Instants at the public edge: aware datetimes outside, integer milliseconds inside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from redisched.core.errors import ScheduleError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)
SECOND: Final = timedelta(seconds=1)
# A day is kept free at the far end, so that no zone's local time leaves what datetime can hold.
EARLIEST_S: Final = (datetime(1900, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
LATEST_S: Final = (datetime(9999, 12, 30, tzinfo=UTC) - EPOCH) // SECOND


def floor_ms(field: str, moment: datetime) -> int:
    """Milliseconds since the epoch, rounded down; naive datetimes and other types are refused."""
    return (_aware(field, moment) - EPOCH) // MILLISECOND


def ceil_ms(field: str, moment: datetime) -> int:
    """Milliseconds since the epoch, rounded up."""
    return -((EPOCH - _aware(field, moment)) // MILLISECOND)


def utc_datetime(at_ms: int) -> datetime:
    """The instant as an aware UTC datetime."""
    return EPOCH + timedelta(milliseconds=at_ms)


def checked_ms(field: str, at_ms: int) -> int:
    """`at_ms` itself; refused outside the years 1900 to 9999, where a mixed-up unit would lie."""
    if isinstance(at_ms, bool) or not isinstance(at_ms, int):
        raise ScheduleError(field, at_ms, "give whole milliseconds since 1970-01-01T00:00Z")
    if not EARLIEST_S * 1000 <= at_ms <= LATEST_S * 1000:
        raise ScheduleError(field, at_ms, "outside the years 1900 to 9999; give milliseconds since 1970")
    return at_ms


def _aware(field: str, moment: datetime) -> datetime:
    if not isinstance(moment, datetime):
        raise ScheduleError(field, moment, "give a datetime with a zone, such as datetime.now(UTC)")
    if moment.utcoffset() is None:
        raise ScheduleError(field, moment, "has no zone; say which, such as datetime(..., tzinfo=UTC)")
    return moment
