"""Values come back equal and of the same type, or are refused by name; bytes from anybody do no harm."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import msgpack
import pytest

from redisched.core.errors import PayloadError
from redisched.core.values import pack, unpack

LONDON = ZoneInfo("Europe/London")


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass(frozen=True)
class Point:
    x: int


class Pair(NamedTuple):
    left: int
    right: int


class Text(str):
    __slots__ = ()


def nested(depth: int, kind: type = list) -> object:
    value: object = kind()
    for _ in range(depth - 1):
        value = kind([value])
    return value


def shape(value: object) -> object:
    """`value` with the type of everything in it, so that equal values of other types differ."""
    if isinstance(value, dict):
        return dict, tuple((shape(key), shape(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(shape(item) for item in value)
    if isinstance(value, set | frozenset):
        return type(value), frozenset(shape(item) for item in value)
    if isinstance(value, datetime | time):
        return type(value), value.replace(tzinfo=None), value.fold, repr(value.tzinfo)
    return type(value), repr(value)


CARRIED = [
    None,
    True,
    [True, 1, 1.0, False, 0, -0.0],
    2**63,
    2**64,
    -(2**63) - 1,
    -(2**4000),
    [2**63 - 1, -(2**63), 2**64 - 1],
    math.inf,
    -math.inf,
    math.nan,
    "x7Kp",
    "\x00\n日本語 🎉 עברית",
    b"\x00\xff",
    [b"x", bytearray(b"x"), "x", b"", bytearray()],
    (),
    ("a", ("b", [("c",)])),
    {(1, ("x",)): [1], 5: "five", None: 0, 2.5: 1, b"k": 2, date(2027, 1, 1): 3},
    {"z": 1, "a": 2, "m": (bytearray(b"q"), {"deep": bytearray(b"r")})},
    {1, "a", (2, frozenset({3}))},
    frozenset(),
    datetime(2027, 3, 28, 2, 30),  # noqa: DTZ001
    datetime(2027, 3, 28, 2, 30, 0, 123456, tzinfo=UTC),
    datetime(2027, 10, 31, 1, 30, tzinfo=LONDON),
    datetime(2027, 10, 31, 1, 30, tzinfo=LONDON, fold=1),
    datetime(2027, 10, 31, 1, 30, tzinfo=timezone(timedelta(hours=-3, minutes=-30, seconds=-7))),
    datetime(2027, 10, 31, 1, 30, tzinfo=timezone(timedelta(hours=9), "JST")),
    datetime.min,  # noqa: DTZ901
    datetime.max,  # noqa: DTZ901
    date(1, 1, 1),
    date(9999, 12, 31),
    time(23, 59, 59, 999999, fold=1),
    time(1, tzinfo=LONDON),
    timedelta.max,
    timedelta.min,
    timedelta(microseconds=-1),
    Decimal("1.10"),
    Decimal("-0E+50"),
    Decimal("NaN"),
    Decimal("-Infinity"),
    UUID(int=2**128 - 1),
    nested(99),
    nested(99, tuple),
]


@pytest.mark.parametrize("value", CARRIED, ids=lambda value: type(value).__name__)
def test_f68_a_carried_value_comes_back_equal_and_of_the_same_type(value: object) -> None:
    assert shape(unpack(pack([value], field="args"))) == shape([value])


REFUSED = [
    ([Colour.RED], "args[0]", "annotated Colour"),
    ([1, {"level": Level.HIGH}], "args[1]['level']", "annotated Level"),
    ([{"items": (1, 2, 3, Point(1))}], "args[0]['items'][3]", "annotated Point"),
    ([{Colour.RED: 1}], "args[0] key", "its .value"),
    ([{Colour.RED}], "args[0] member", "its .value"),
    ([Pair(1, 2)], "args[0]", "pass a plain tuple"),
    ([Text("x")], "args[0]", "pass a plain str"),
    ([OrderedDict(a=1)], "args[0]", "pass a plain dict"),
    ([memoryview(b"x")], "args[0]", "bytes(value)"),
    (["ok", "a\ud800"], "args[1]", "character 1 is a lone surrogate"),
    ([{"a\ud800": 1}], "args[0] key", "lone surrogate"),
    ([object()], "args[0]", "values of type object cannot be carried"),
    ([1 + 2j], "args[0]", "values of type complex"),
    ([range(3)], "args[0]", "values of type range"),
    ([test_f68_a_carried_value_comes_back_equal_and_of_the_same_type], "args[0]", "values of type function"),
    ([msgpack.ExtType(2, b"\x90")], "args[0]", "pass a plain tuple"),
    ([msgpack.Timestamp(1)], "args[0]", "values of type Timestamp"),
    (nested(101), "args[0][0]", "deeper than 100"),
    (nested(101, tuple), "args[0][0]", "deeper than 100"),
    (nested(1000), "args[0][0]", "deeper than 100"),
    (nested(100_000), "args[0][0]", "deeper than 100"),
    (nested(5000, frozenset), "args member member", "deeper than 100"),
]


@pytest.mark.parametrize(("value", "path", "reason"), REFUSED, ids=lambda part: ascii(type(part)))
def test_f68_another_value_is_refused_by_path_with_the_way_out(value: object, path: str, reason: str) -> None:
    with pytest.raises(PayloadError) as refused:
        pack(value, field="args")
    assert refused.value.field.startswith(path)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 600
