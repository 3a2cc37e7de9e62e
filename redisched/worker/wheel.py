"""One timer for all timeouts of a process: a wheel of coarse ticks, checked while anything is on it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")
TICK_SECONDS: Final = 0.05


class TimerWheel(Generic[T]):
    """Calls `due` with each item once its time has come, within one tick, on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, due: Callable[[T], None]) -> None:
        self._loop = loop
        self._due = due
        self._buckets: dict[int, dict[T, None]] = {}
        self._where: dict[T, int] = {}
        self._timer: asyncio.TimerHandle | None = None

    def put(self, item: T, at: float) -> None:
        """`at`: monotonic seconds. An item that is on the wheel is moved."""
        self.discard(item)
        bucket = math.ceil(at / TICK_SECONDS)
        self._buckets.setdefault(bucket, {})[item] = None
        self._where[item] = bucket
        if self._timer is None:
            self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    def discard(self, item: T) -> None:
        bucket = self._where.pop(item, None)
        if bucket is not None:
            self._buckets[bucket].pop(item)
            if not self._buckets[bucket]:
                del self._buckets[bucket]

    def _tick(self) -> None:
        now = math.floor(time.monotonic() / TICK_SECONDS)
        for bucket in sorted(key for key in self._buckets if key <= now):
            while bucket in self._buckets:  # one that falls due may take others off
                item = next(iter(self._buckets[bucket]))
                self.discard(item)
                self._due(item)
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick) if self._where else None
