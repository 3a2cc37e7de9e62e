"""A job as stored, read into values. The layouts are those of `lua/lib/record.lua`."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final

from redisched.core.errors import PayloadError

UNSET: Final = 2**48 - 1
HEAD_BYTES: Final = 21
_HEAD: Final = struct.Struct(">2s6s6s6sB")
_FIXED: Final = struct.Struct(">BB6s6sBII6s6s6s6sB6s6s6s")


class Status(IntEnum):
    """The status in a record; where a waiting job waits, its place tells."""

    WAITING = 1
    PROCESSING = 2
    SUCCEEDED = 3
    DEAD = 4
    CANCELLED = 5
    EXPIRED = 6


class Flags(IntFlag):
    """SUSPECT: its worker was lost, run it apart. STOP: asked to stop."""

    SUSPECT = 1
    STOP = 2


class Finish(IntEnum):
    """What a worker says of a job; the numbers of `lua/lib/finishes.lua`."""

    SUCCEEDED = 3
    DEAD = 4
    CANCELLED = 5
    RETRY = 10
    RELEASE = 11
    DEFER = 12
    LOST = 13


BEGAN: Final = "began"
"""The reason of a RELEASE of a job whose task had begun: it started in time, so it expires no more."""


@dataclass(frozen=True, slots=True)
class Record:
    """What changes of a job. Times and durations in ms; empty `reason`: none."""

    status: Status
    version: int
    generation: int
    priority: int
    attempts: int
    deliveries: int
    created: int
    due: int
    claimed: int
    ended: int
    flags: Flags
    expires: int
    unclaimed: int
    retention: int
    worker: str
    reason: str
    unique: str
    outcome: bytes

    @classmethod
    def of_head(cls, value: bytes) -> Record:
        """The record of a job that was never claimed and has no options."""
        if len(value) < HEAD_BYTES or not value.startswith(b"j1"):
            raise PayloadError("job", value[:64], "not a job of this version of redisched")
        _, created, due, generation, priority = _HEAD.unpack_from(value)
        return cls(
            Status.WAITING, 0, _int(generation), priority, 0, 0, _int(created), _int(due), 0, 0, Flags(0),
            0, 0, UNSET, "", "", "", b"",
        )  # fmt: skip

    @classmethod
    def of_state(cls, value: bytes) -> Record:
        """PayloadError where the bytes are not a record."""
        try:
            (_, status, version, generation, priority, attempts, deliveries, created, due, claimed, ended,
             flags, expires, unclaimed, retention) = _FIXED.unpack_from(value)  # fmt: skip
            worker, at = _text(value, _FIXED.size, 1)
            reason, at = _text(value, at, 1)
            unique, at = _text(value, at, 2)
            state = Status(status)
        except (struct.error, ValueError, IndexError) as error:
            raise PayloadError(
                "state", value[:64], f"not a record of this version of redisched ({error})"
            ) from error
        return cls(
            state, _int(version), _int(generation), priority, attempts, deliveries, _int(created), _int(due),
            _int(claimed), _int(ended), Flags(flags), _int(expires), _int(unclaimed), _int(retention), worker,
            reason, unique, value[at + 4 :],
        )  # fmt: skip


def _int(six: bytes) -> int:
    return int.from_bytes(six, "big")


def _text(value: bytes, at: int, size: int) -> tuple[str, int]:
    """The text at `at`, behind a length of `size` bytes, and where it ends."""
    start = at + size
    end = start + int.from_bytes(value[at:start], "big")
    return value[start:end].decode("utf-8", "backslashreplace"), end
