"""A wall clock of its own for a server or a client process, stepped while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tests.faults.shims import LiveNumber, preload

if TYPE_CHECKING:
    from pathlib import Path

MICROS: Final = 1000
# Valkey reads the clock once in a millisecond of its monotonic clock; until then it goes on with the old one.
OLDEST_READING: Final = 0.001


class Clock:
    """The wall clock of every process started with `env()`: the machine's, moved by `offset_ms`.

    TIME, time.time() and TTLs follow it. Monotonic clocks do not, as with a real step, and neither do waits
    of the kernel until an instant of the wall clock. `path` holds the offset for the shim.
    """

    def __init__(self, path: Path) -> None:
        self._offset = LiveNumber(path)

    @property
    def offset_ms(self) -> int:
        """How far this clock is ahead of the machine's."""
        return self._offset.value // MICROS

    def env(self) -> dict[str, str]:
        """The environment that puts a process under this clock; it can be merged with other shims'."""
        return {"LD_PRELOAD": preload(), "RS_SHIM_CLOCK": str(self._offset.path)}

    def now_ms(self) -> int:
        """The time that the processes under this clock have now."""
        return time.time_ns() // 1_000_000 + self.offset_ms

    def step(self, ms: int) -> None:
        """Move it by `ms` from where it is; backwards when negative."""
        self.set(self.offset_ms + ms)

    def set(self, ms: int) -> None:
        """Put it `ms` ahead of the machine's clock; 0 is in step with it. Seen by all on return."""
        self._offset.value = ms * MICROS
        time.sleep(2 * OLDEST_READING)
