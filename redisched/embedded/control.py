"""Looking at the embedded server and stopping it, without ever starting one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from redisched.embedded.address import socket_of
from redisched.embedded.dialogue import connected
from redisched.embedded.folder import Folder
from redisched.embedded.lock_file import LockFile
from redisched.embedded.shutdown import shut_down

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import redis


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a server says about itself. `clients` leaves out the connection that asked."""

    pid: int
    engine: str
    version: str
    uptime: timedelta
    used_memory_bytes: int
    clients: int
    fsync: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """Whether the folder's server runs, and what it says; no `facts` where it runs and does not answer."""

    data_dir: Path
    socket: Path
    running: bool
    facts: Facts | None


def status(folder: Path, *, environ: Mapping[str, str] | None = None) -> ServerStatus:
    """What is known about the folder's server. Nothing is started or created."""
    place = Folder.at(folder)
    socket = socket_of(place, os.environ if environ is None else environ)
    facts = _facts(socket)
    running = facts is not None or _held(place)
    return ServerStatus(data_dir=place.path, socket=socket, running=running, facts=facts)


def stop(folder: Path, *, environ: Mapping[str, str] | None = None) -> bool:
    """Stop the folder's server and return when it is gone, with all it acknowledged on disk.

    False where none ran. Whoever is using it starts it again, by `Membership.ensure`.
    """
    place = Folder.at(folder)
    if not _held(place):
        return False
    socket = socket_of(place, os.environ if environ is None else environ)
    shut_down(place, socket, LockFile(place.server_lock))
    return True


def _held(folder: Folder) -> bool:
    """Whether a server holds its lock. Looking takes the lock for a moment; a starter just tries again."""
    if not folder.server_lock.exists():
        return False
    lock = LockFile(folder.server_lock)
    try:
        return not lock.share()
    finally:
        lock.abandon()


def _facts(socket: Path) -> Facts | None:
    try:
        with connected(socket) as client:
            return _read_facts(client)
    except RedisError:
        return None


def _read_facts(client: redis.Redis) -> Facts:
    told = client.info()
    engine = "valkey" if "valkey_version" in told else "redis"
    return Facts(
        pid=told["process_id"],
        engine=engine,
        version=told[f"{engine}_version"],
        uptime=timedelta(seconds=told["uptime_in_seconds"]),
        used_memory_bytes=told["used_memory"],
        clients=told["connected_clients"] - 1,
        fsync=client.config_get("appendfsync")["appendfsync"] or "",
    )
