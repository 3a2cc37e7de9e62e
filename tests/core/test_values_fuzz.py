"""Values of any shape come back; bytes of any shape give a value or a PayloadError, in bounded memory."""

from __future__ import annotations

import math
import sys
import tracemalloc
from contextlib import suppress
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from redisched.core.errors import PayloadError
from redisched.core.values import pack, unpack
from tests.core.test_values import shape

ZONES = st.sampled_from(
    [None, UTC, ZoneInfo("Europe/London"), ZoneInfo("Asia/Kathmandu"), timezone(timedelta(minutes=-3), "odd")]
)
KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.datetimes(timezones=ZONES),
    st.dates(),
    st.times(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.uuids(),
)
HASHABLE = st.recursive(
    KEYS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=6
)
LEAVES = HASHABLE | st.just(math.nan) | st.binary().map(bytearray)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=5)
        | st.sets(HASHABLE, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
@settings(deadline=None, max_examples=300)
def test_f68_any_carried_value_comes_back(value: object) -> None:
    assert shape(unpack(pack(value, field="args"))) == shape(value)


@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=1000)
@example(b"")
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\x81\x90\x01")
@example(b"\xd7\xff" + b"\xff" * 8)
@example(b"\x91" * 5000 + b"\x01")
@example(b"\x82\x01\x02")
def test_f67_random_bytes_give_a_value_or_a_payload_error(data: bytes) -> None:
    with suppress(PayloadError):
        unpack(data)


@given(st.integers(min_value=0, max_value=20), st.binary(max_size=60))
@settings(deadline=None, max_examples=1000)
def test_f67_a_forged_extension_gives_a_value_or_a_payload_error(code: int, payload: bytes) -> None:
    with suppress(PayloadError):
        unpack(extension(code, payload))


@given(VALUES, st.integers(min_value=0, max_value=2**30), st.integers(min_value=0, max_value=255))
@settings(deadline=None, max_examples=300)
def test_f67_one_changed_byte_gives_a_value_or_a_payload_error(value: object, place: int, byte: int) -> None:
    data = bytearray(pack(value, field="args"))
    data[place % len(data)] = byte
    with suppress(PayloadError):
        unpack(bytes(data))


@given(VALUES)
@settings(deadline=None, max_examples=100)
def test_f67_a_cut_value_is_refused(value: object) -> None:
    data = pack(value, field="args")
    for end in range(len(data)):
        with pytest.raises(PayloadError):
            unpack(data[:end])


TUPLE, SET, INT, DATETIME, DATE, TIMEDELTA, DECIMAL, UUID = 1, 2, 5, 6, 7, 9, 10, 11


def extension(code: int, payload: bytes) -> bytes:
    packed: bytes = msgpack.packb(msgpack.ExtType(code, payload))
    return packed


def clock(*fields: object) -> bytes:
    return extension(DATETIME, msgpack.packb(fields))


def nested_tuples(depth: int) -> bytes:
    data = b"\x90"
    for _ in range(depth):
        data = b"\x91" + extension(TUPLE, data)
    return data


HOSTILE = {
    "a tuple of a map": extension(TUPLE, b"\x80"),
    "a set of lists": extension(SET, b"\x91\x90"),
    "tuples beyond the recursion limit": nested_tuples(3000),
    "an unknown extension": extension(99, b"x"),
    "a zone outside the database": clock("2027-01-01", 0, "../../etc/passwd"),
    "a zone that is a directory": clock("2027-01-01", 0, "America"),
    "a zone with NUL": clock("2027-01-01", 0, "UTC\0"),
    "a zone without end": clock("2027-01-01", 0, "A" * 900),
    "an offset of a week": clock("2027-01-01", 0, [7 * 86_400_000_000, None]),
    "a zone that is a number": clock("2027-01-01", 0, 5),
    "a date in the year 10000": clock("10000-01-01", 0, None),
    "a fold of 7": clock("2027-01-01", 7, None),
    "a clock with a field missing": clock("2027-01-01"),
    "a clock that is a number": extension(DATETIME, b"\x01"),
    "a clock of a megabyte": extension(DATETIME, b"\x91" * 1_000_000),
    "a date that is none": extension(DATE, b"\xff\xfe"),
    "days beyond timedelta": extension(TIMEDELTA, msgpack.packb([2**62, 0, 0])),
    "words for a decimal": extension(DECIMAL, b"ten"),
    "an exponent beyond decimal": extension(DECIMAL, b"1e9999999999999999999999"),
    "half a UUID": extension(UUID, b"12345678"),
    "two values": b"\x01\x02",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_f67_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(PayloadError, match="payload=") as refused:
        unpack(data)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("wrap", [bytes, lambda data: extension(TUPLE, data)], ids=["bare", "in a tuple"])
def test_f67_lies_about_lengths_reserve_no_memory(wrap: object) -> None:
    """1,000 nested lists that promise a million elements each would reserve 8 GB before one is missed."""
    assert callable(wrap)
    promise = b"\xdd" + (1_000_000).to_bytes(4, "big")
    data = wrap(promise * 1000 + b"\x01" * 1_000_000)
    tracemalloc.start()
    with pytest.raises(PayloadError):
        unpack(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * len(data)


def test_f67_an_unknown_zone_name_imports_nothing_but_zone_data() -> None:
    before = set(sys.modules)
    with pytest.raises(PayloadError):
        unpack(clock("2027-01-01", 0, "antigravity/this"))
    assert {
        name for name in set(sys.modules) - before if not name.startswith(("tzdata", "importlib"))
    } == set()


def test_containers_that_hold_themselves_are_refused() -> None:
    """Also where a tuple or dict is part of the ring."""
    ring: list[object] = []
    ring.append({"again": (1, ring)})
    with pytest.raises(PayloadError, match="it contains itself"):
        pack(ring, field="args")


def test_a_shared_container_is_no_ring() -> None:
    shared = [bytearray(b"x")]
    assert unpack(pack([shared, (shared, shared)], field="args")) == [shared, (shared, shared)]


def test_the_search_for_an_offender_looks_once_into_what_is_shared() -> None:
    """2**40 paths lead to the same list; the offender comes first, so packing stops before it doubles."""
    shared: list[object] = []
    for _ in range(40):
        shared = [shared, shared]
    with pytest.raises(PayloadError, match="values of type object"):
        pack([object(), shared], field="args")
    with pytest.raises(PayloadError, match="values of type object"):
        pack([(object(),), shared], field="args")


def test_a_broken_repr_does_not_hide_the_refusal() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise OSError("no")

    with pytest.raises(PayloadError, match=r"args\[0\]\[<Broken>\]|args\[0\] key"):
        pack([{Broken(): object()}], field="args")
