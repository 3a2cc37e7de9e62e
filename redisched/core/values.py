"""Values on their way to another process: carried with equal value and type, or refused by name.

Carried: None, bool, int of any size, float, str, bytes, bytearray, list, tuple, dict with any carried keys
(in order), set, frozenset, datetime and time (naive, IANA zone or fixed offset, with fold), date, timedelta,
Decimal and UUID. All else is refused, instances of subclasses too: they would come back as something else.
"""

from __future__ import annotations

from itertools import chain, compress
from typing import TYPE_CHECKING, Final

from redisched.core.errors import PayloadError
from redisched.core.refusals import cause, refusal
from redisched.core.wire import CARRIED, CONTAINERS, MAX_DEPTH, decode, encode, marked

if TYPE_CHECKING:
    from collections.abc import Iterable

# First bytes of msgpack's bin and ext families, and of its arrays and maps.
_OPAQUE: Final = bytes([*range(0xC4, 0xCA), *range(0xD4, 0xD9)])
_NESTING: Final = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])


def pack(value: object, *, field: str) -> bytes:
    """`value` as bytes that `unpack` turns into an equal value of the same type, at every depth.

    Raises PayloadError otherwise, with the path of the offender, for example `args[0]['when']`. Values nested
    deeper than 100 are refused. Lists and dicts of plain values are packed without Python code per element.
    """
    try:
        data = encode(value)
        return _examined(value, data) if _may_deceive(data) else data
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise refusal(value, field, error) from error


def unpack(data: bytes) -> object:
    """The value that `pack` was given; PayloadError for bytes that it cannot have made.

    Safe for bytes from anybody: it builds only the types listed above, runs and imports nothing that the
    bytes name, and needs memory in proportion to their length.
    """
    try:
        return decode(data)
    except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        raise PayloadError("payload", data, _unreadable(error)) from error


def _unreadable(error: Exception) -> str:
    return f"not a value that redisched packed ({cause(error)}); was it cut, or written by a newer version?"


def _may_deceive(data: bytes) -> bool:
    """Whether `data` may hold what msgpack accepts and we do not: look-alikes of bytes, its own types, depth.

    Never wrongly False. A number or a letter may look like one of the markers; then we look in vain.
    """
    if len(data.translate(None, _OPAQUE)) != len(data):
        return True
    return len(data) > MAX_DEPTH and len(data) - len(data.translate(None, _NESTING)) > MAX_DEPTH


def _examined(value: object, data: bytes) -> bytes:
    kinds = _kinds(value)
    if not kinds <= CARRIED:
        raise TypeError(", ".join(kind.__name__ for kind in kinds - CARRIED))
    return encode(marked(value)) if bytearray in kinds else data


def _kinds(value: object) -> set[type]:
    """The types in `value`, level by level; ValueError below MAX_DEPTH. Runs Python once per container."""
    level: list[object] = [value]
    kinds: set[type] = set()
    for _ in range(MAX_DEPTH + 1):
        types = list(map(type, level))
        kinds.update(types)
        if CONTAINERS.isdisjoint(types):
            return kinds
        containers = compress(level, map(CONTAINERS.__contains__, types))
        level = list(chain.from_iterable(map(_members, containers)))
    raise ValueError("nested too deep")


def _members(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        return chain(container, container.values())
    return container  # type: ignore[return-value]
