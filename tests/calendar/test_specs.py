"""A definition survives storage and another process."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import msgpack
import pytest

from redisched.calendar import At, Calendar, Cron, Every, from_spec
from redisched.core.errors import ScheduleError

DEFINITIONS: list[Calendar] = [
    Cron("0 9 * * MON", "Europe/London"),
    Cron("*/15 * * * *"),
    Cron("@daily", "Asia/Kathmandu", gap="skip", repeat="both"),
    Cron("0 0 */2 * 1", day_rule="and"),
    Cron("30 0 9 * * *", seconds="first"),
    Cron("0 9 * * * 30 2027", seconds="last"),
    Cron("H H * * *", hash_id="report"),
    Every(minutes=90, offset=5),
    At("2027-03-28T02:30", tz="Europe/London", repeat="second"),
]


@pytest.mark.parametrize("calendar", DEFINITIONS, ids=str)
def test_a_definition_survives_storage(calendar: Calendar) -> None:
    """Through msgpack, pickle and copies, equal and with an equal hash."""
    stored = msgpack.packb(calendar.to_spec())
    copies = [
        from_spec(msgpack.unpackb(stored)),
        pickle.loads(pickle.dumps(calendar)),
        copy.deepcopy(calendar),
    ]
    assert copies == [calendar] * 3
    assert len({calendar, *copies}) == 1


def test_the_stored_class_outlives_a_change_of_the_rule() -> None:
    """Read back as stored, not judged anew."""
    spec = Cron("0 9 * * *", "Europe/London").to_spec()
    read = from_spec({**spec, "kind": "wildcard"})
    assert isinstance(read, Cron)
    assert read.kind == "wildcard"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"type": "rrule"},
        {"type": ["cron"]},
        {"type": "cron"},
        {"type": "cron", "expression": "0 9 * * *"},
        {"type": "cron", "expression": "0 9 * * *", "kind": "elapsed"},
        {"type": "cron", "expression": "61 9 * * *", "kind": "fixed"},
        {"type": "cron", "expression": "0 9 * * *", "kind": "fixed", "colour": "red"},
        {"type": "every"},
        {"type": "every", "period_ms": "x", "phase_ms": 0},
        {"type": "every", "period_ms": 10**30, "phase_ms": 0},
        {"type": "every", "period_ms": float("nan"), "phase_ms": 0},
        {"type": "every", "period_ms": 60_000, "phase_ms": float("nan")},
        {"type": "every", "period_ms": float("inf"), "phase_ms": 0},
        {"type": "at", "local": 5, "tz": "UTC"},
        {"type": "at", "local": "2027-03-28T02:30", "tz": 5},
        {"type": "cron", "expression": 5, "kind": "fixed"},
        {"type": "cron", "expression": "0 9 * * *", "tz": ["UTC"], "kind": "fixed"},
        {"type": "cron", "expression": "0 9 * * *", "kind": float("nan")},
        {"type": "at", "local": "2027-03-28T02:30"},
        {"type": "at", "local": "2027-03-28T02:30", "tz": "Mars/Base"},
    ],
    ids=str,
)
def test_another_spec_is_refused(spec: dict[str, Any]) -> None:
    """By a ScheduleError."""
    with pytest.raises(ScheduleError):
        from_spec(spec)


def test_definitions_are_immutable() -> None:
    """A shared value cannot be changed under others."""
    for calendar in DEFINITIONS:
        for name in ("expression", "period_ms", "local"):
            if hasattr(calendar, name):
                with pytest.raises(AttributeError):
                    setattr(calendar, name, "x")
