"""Job ids: `queue:short`. The short part is a ULID, made by the client, so that ids sort by time.

A ULID (github.com/ulid/spec) is 48 bits of ms since 1970 and 80 random bits, in Crockford's base 32.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Final

from redisched.core.errors import ArgumentError

_DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS: Final = tuple(a + b for a in _DIGITS for b in _DIGITS)
LONGEST: Final = 256


class IdMaker:
    """Makes ULIDs that rise within a process, also within one ms; threads and forks share none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._last_ms = 0
        self._random = 0

    def make(self) -> str:
        if self._pid != os.getpid():
            self._lock, self._pid, self._last_ms = threading.Lock(), os.getpid(), 0
        with self._lock:
            return _text(self._next())

    def _next(self) -> int:
        now_ms = time.time_ns() // 1_000_000
        if now_ms > self._last_ms:
            # The top bit stays clear, so that counting up within this ms cannot overflow.
            self._last_ms, self._random = now_ms, int.from_bytes(os.urandom(10), "big") >> 1
        else:
            self._random += 1
        return self._last_ms << 80 | self._random


def _text(number: int) -> str:
    """26 digits, two at a time."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def checked_short_id(value: object) -> str:
    """`value` as an id chosen by the caller: 1-256 characters of any script."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST:
        raise ArgumentError("job_id", value, f"an id is a text of 1 to {LONGEST} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError("job_id", value, "an id holds no lone surrogate") from error
    return value


def public_id(queue: str, short: str) -> str:
    return f"{queue}:{short}"


def short_id(queue: str, given: str) -> str:
    """`given` without its queue, where it is written as `Job.id` and errors show it: the same job."""
    return given.removeprefix(f"{queue}:") or given


def split_id(job_id: str) -> tuple[str, str]:
    """Queue and short id; raises ArgumentError for a text that is no job id."""
    queue, colon, short = job_id.partition(":") if isinstance(job_id, str) else ("", "", "")
    if not colon or not queue or not short:
        raise ArgumentError("job_id", job_id, "a job id reads queue:id, as Job.id gives it")
    return queue, short
