"""The single values that msgpack does not know, as extension types.

A code, once released, keeps its meaning: jobs written by an older version must stay readable.
An encoder raises TypeError, with the way out, for a value that would not come back equal.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from msgpack import Packer, unpackb

if TYPE_CHECKING:
    from collections.abc import Callable

# Zone names reach the file system (and tzdata) when they are loaded: allow only what a zone can be called.
_ZONE_NAME: Final = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}")

_LONGEST_FIELDS: Final = 1024


class Extension(NamedTuple):
    """How values of one type are carried: `code` on the wire, and both directions."""

    code: int
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], object]


def load_zone(name: str) -> ZoneInfo:
    """The IANA zone called `name`; TypeError when this machine does not know it."""
    try:
        if _ZONE_NAME.fullmatch(name):
            return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        reason = f"the time zone {name} is not known on this machine; install or update tzdata"
        raise TypeError(reason) from error
    reason = f"{name!a} is not the name of a time zone; use zoneinfo.ZoneInfo with an IANA name"
    raise TypeError(reason)


def _packed(fields: list[object]) -> bytes:
    # msgpack's own default buffer, 256 KiB, costs more than these few bytes.
    packed: bytes = Packer(buf_size=64).pack(fields)
    return packed


def _fields(payload: bytes) -> Any:
    if len(payload) > _LONGEST_FIELDS:
        reason = f"{len(payload)} bytes are too many for a time"
        raise ValueError(reason)
    return unpackb(payload)


def _encode_int(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _decode_int(payload: bytes) -> int:
    return int.from_bytes(payload, "big", signed=True)


def _zone_fields(zone: tzinfo | None) -> object:
    """None, the name of an IANA zone, or a fixed offset as [microseconds, name or None]."""
    if zone is None or zone is UTC:
        return None if zone is None else [0, None]
    if type(zone) is timezone:
        offset = zone.utcoffset(None)
        name = zone.tzname(None)
        return [offset // timedelta(microseconds=1), None if name == timezone(offset).tzname(None) else name]
    if type(zone) is ZoneInfo and zone.key is not None:
        return load_zone(zone.key).key
    reason = f"its tzinfo is a {type(zone).__name__}; use zoneinfo.ZoneInfo(name) or datetime.timezone"
    raise TypeError(reason)


def _zone(fields: object) -> tzinfo | None:
    match fields:
        case None:
            return None
        case str(name):
            return load_zone(name)
        case [int(offset), None]:
            return timezone(timedelta(microseconds=offset))
        case [int(offset), str(name)]:
            return timezone(timedelta(microseconds=offset), name)
    reason = f"{fields!a} is not a time zone"
    raise TypeError(reason)


def _encode_clock(value: datetime | time) -> bytes:
    return _packed([value.replace(tzinfo=None).isoformat(), value.fold, _zone_fields(value.tzinfo)])


def _decode_datetime(payload: bytes) -> datetime:
    text, fold, zone = _fields(payload)
    return datetime.fromisoformat(text).replace(fold=fold, tzinfo=_zone(zone))


def _decode_time(payload: bytes) -> time:
    text, fold, zone = _fields(payload)
    return time.fromisoformat(text).replace(fold=fold, tzinfo=_zone(zone))


def _encode_date(value: date) -> bytes:
    return value.isoformat().encode()


def _decode_date(payload: bytes) -> date:
    return date.fromisoformat(payload.decode())


def _encode_timedelta(value: timedelta) -> bytes:
    return _packed([value.days, value.seconds, value.microseconds])


def _decode_timedelta(payload: bytes) -> timedelta:
    days, seconds, microseconds = _fields(payload)
    return timedelta(days, seconds, microseconds)


def _encode_decimal(value: Decimal) -> bytes:
    return str(value).encode()


def _decode_decimal(payload: bytes) -> Decimal:
    return Decimal(payload.decode())


def _encode_uuid(value: UUID) -> bytes:
    return value.bytes


def _decode_uuid(payload: bytes) -> UUID:
    return UUID(bytes=payload)


# Codes 1 to 3 are the containers of `wire`. An int comes here only when it does not fit 64 bits.
EXTENSIONS: Final[dict[type, Extension]] = {
    bytearray: Extension(4, bytes, bytearray),
    int: Extension(5, _encode_int, _decode_int),
    datetime: Extension(6, _encode_clock, _decode_datetime),
    date: Extension(7, _encode_date, _decode_date),
    time: Extension(8, _encode_clock, _decode_time),
    timedelta: Extension(9, _encode_timedelta, _decode_timedelta),
    Decimal: Extension(10, _encode_decimal, _decode_decimal),
    UUID: Extension(11, _encode_uuid, _decode_uuid),
}
