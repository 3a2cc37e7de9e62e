"""Power cuts: what the disk had not been made to keep is gone; and disks that are slow to keep it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tests.faults.shims import LiveNumber, preload, read_number

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import TestServer

MICROS: Final = 1000


class Power:
    """The mains of every server started with `env()`: records what each sync has made safe."""

    def __init__(self, path: Path) -> None:
        self._delay = LiveNumber(path)

    def env(self) -> dict[str, str]:
        """The environment that puts a server on these mains; it can be merged with other shims'."""
        return {"LD_PRELOAD": preload(), "RS_SHIM_POWER": str(self._delay.path)}

    def delay_syncs(self, ms: int) -> None:
        """From now on each fsync and fdatasync takes `ms` longer: a slow disk."""
        self._delay.value = ms * MICROS


def power_cut(server: TestServer) -> int:
    """Kill the server and take from its incremental AOFs what was never synced; returns the bytes lost.

    The server needs an AOF from its start on, and the environment of a Power. Start it again to see what
    is left.
    """
    if "RS_SHIM_POWER" not in server.env or server.appendfsync is None:
        raise ValueError("a power cut needs a server with an AOF and with the environment of a Power")
    server.kill()
    return sum(_cut(path) for path in server.aof_directory.glob("*.incr.aof"))


def unsynced_bytes(server: TestServer) -> int:
    """How much a power cut would take now."""
    return sum(_beyond_sync(path) for path in server.aof_directory.glob("*.incr.aof"))


def _cut(path: Path) -> int:
    lost = _beyond_sync(path)
    os.truncate(path, path.stat().st_size - lost)
    return lost


def _beyond_sync(path: Path) -> int:
    return max(0, path.stat().st_size - read_number(path.with_name(f"{path.name}.synced")))
