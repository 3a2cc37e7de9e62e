"""Definitions as plain values, to be stored by one process and read by another."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from redisched.calendar.at import At
from redisched.calendar.cron import Cron
from redisched.calendar.every import Every
from redisched.calendar.policies import KINDS, check_choice
from redisched.core.errors import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redisched.calendar.protocol import Calendar


def from_spec(spec: Mapping[str, object]) -> Calendar:
    """The timetable that gave this spec; ScheduleError for anything else, or for a zone unknown here."""
    values = dict(spec)
    tag = values.pop("type", None)
    try:
        match tag:
            case "cron":
                return _read_cron(values)
            case "every":
                return _read_every(**cast("dict[str, Any]", values))
            case "at":
                return At(**cast("dict[str, Any]", values))
    except ScheduleError:
        raise
    except (TypeError, LookupError, ValueError, ArithmeticError, AttributeError) as error:
        raise ScheduleError("spec", spec, f"is no definition of type {tag!r} ({error!r})") from error
    raise ScheduleError("spec", spec, "has no type known here; it is cron, every or at")


def _read_cron(values: dict[str, object]) -> Cron:
    kind = values.pop("kind")
    check_choice("kind", cast("str", kind), KINDS)
    cron = Cron(**cast("dict[str, Any]", values))
    # Decided when the definition was made: a later version that judges otherwise must not change what runs.
    object.__setattr__(cron, "kind", kind)
    return cron


def _read_every(*, period_ms: int, phase_ms: int) -> Every:
    return Every(timedelta(milliseconds=period_ms), offset=timedelta(milliseconds=phase_ms))
