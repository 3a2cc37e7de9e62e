"""Values to bytes and back, as msgpack with extension types; errors are msgpack's own (see `values`).

Plain values never leave C. A tuple, set or frozenset is an extension that holds a list.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgpack import ExtType, OutOfData, Packer, Unpacker, unpackb

from redisched.core.extensions import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH: Final = 100
SEQUENCES: Final[dict[type, int]] = {tuple: 1, set: 2, frozenset: 3}
CONTAINERS: Final[frozenset[type]] = frozenset({list, dict, *SEQUENCES})
CARRIED: Final[frozenset[type]] = CONTAINERS | {type(None), bool, float, str, bytes, *EXTENSIONS}

_REBUILD: Final[dict[int, Callable[[list[object]], object]]] = {
    code: kind for kind, code in SEQUENCES.items()
}
_DECODE: Final = {extension.code: extension.decode for extension in EXTENSIONS.values()}

# msgpack reserves a list before it reads its elements. Nested lies about lengths could reserve gigabytes from
# a megabyte; beyond this size a first pass, which reserves nothing, proves that every element is there.
_SMALL: Final = 4096


def encode(value: object, depth: int = 0) -> bytes:
    """`value` as msgpack; TypeError, ValueError or OverflowError when it holds something unknown.

    A bytearray or memoryview comes out as bytes, and nesting up to 511 passes: `values` looks for those.
    """
    packer = Packer(default=partial(_extended, depth + 1), strict_types=True, buf_size=512)
    packed: bytes = packer.pack(value)
    return packed


def decode(data: bytes, depth: int = 0) -> object:
    """The value in `data`. Bounded by the size of `data` in memory and by MAX_DEPTH in recursion."""
    if len(data) > _SMALL:
        _refuse_incomplete(data)
    hook = partial(_restored, depth + 1)
    value: object = unpackb(data, ext_hook=hook, strict_map_key=False, timestamp=3)
    return value


def marked(value: object) -> object:
    """`value` with every bytearray made an extension, because msgpack takes it for bytes."""
    kind = type(value)
    if isinstance(value, bytearray):
        return ExtType(EXTENSIONS[bytearray].code, bytes(value))
    if kind is list or kind is tuple:
        return kind(map(marked, value))  # type: ignore[call-overload]
    if isinstance(value, dict):
        return {key: marked(item) for key, item in value.items()}
    return value


def _extended(depth: int, value: object) -> ExtType:
    kind = type(value)
    if kind in SEQUENCES:
        _refuse_deeper(depth)
        return ExtType(SEQUENCES[kind], encode(list(value), depth))  # type: ignore[call-overload]
    if kind in EXTENSIONS:
        return ExtType(EXTENSIONS[kind].code, EXTENSIONS[kind].encode(value))
    raise TypeError(kind.__name__)


def _restored(depth: int, code: int, payload: bytes) -> object:
    if code in _REBUILD:
        _refuse_deeper(depth)
        return _rebuilt(_REBUILD[code], decode(payload, depth))
    if code in _DECODE:
        return _DECODE[code](payload)
    reason = f"extension type {code} is not known to this version of redisched"
    raise ValueError(reason)


def _rebuilt(kind: Callable[[list[object]], object], members: object) -> object:
    if not isinstance(members, list):
        raise TypeError("a tuple or set must hold a list")
    return kind(members)


def _refuse_incomplete(data: bytes) -> None:
    unpacker = Unpacker(max_buffer_size=len(data))
    unpacker.feed(data)
    try:
        unpacker.skip()
    except OutOfData as error:
        raise ValueError("incomplete") from error


def _refuse_deeper(depth: int) -> None:
    if depth > MAX_DEPTH:
        reason = f"nested deeper than {MAX_DEPTH}"
        raise ValueError(reason)
