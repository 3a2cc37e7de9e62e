"""Connections of redis-py, made by us and for us: nothing in them retries, and replies keep one shape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, cast

import redis
import redis.asyncio as aioredis
from redis.asyncio.connection import Connection as AioTcp
from redis.asyncio.connection import SSLConnection as AioTls
from redis.asyncio.connection import UnixDomainSocketConnection as AioUnix
from redis.backoff import NoBackoff
from redis.connection import Connection as Tcp
from redis.connection import SSLConnection as Tls
from redis.connection import UnixDomainSocketConnection as Unix
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from redisched.store.address import Address
from redisched.store.scripts import Argument

CONNECT_SECONDS: Final = 5.0
REPLY_SECONDS: Final = 10.0
"""Above every block that `operations.queues.wait` asks for, and far above the longest script."""


class SyncConnection(Protocol):
    """What the executor uses of a redis-py connection."""

    def connect(self) -> None: ...
    def disconnect(self) -> None: ...
    def send_command(self, *arguments: Argument) -> None: ...
    def read_response(self) -> object: ...
    def can_read(self) -> bool: ...


class AsyncConnection(Protocol):
    """The same, for asyncio."""

    def connect(self) -> Awaitable[None]: ...
    def disconnect(self, nowait: bool = False) -> Awaitable[None]: ...
    def send_command(self, *arguments: Argument) -> Awaitable[None]: ...
    def read_response(self) -> Awaitable[object]: ...
    def can_read(self) -> Awaitable[bool]: ...


def open_sync(address: Address, name: str, reply_seconds: float = REPLY_SECONDS) -> SyncConnection:
    """A connection object, not yet connected."""
    kind: Callable[..., object] = Unix if address.path else Tls if address.tls else Tcp
    return cast(
        "SyncConnection", kind(**_settings(address, name, reply_seconds), retry=Retry(NoBackoff(), 0))
    )


def open_async(address: Address, name: str, reply_seconds: float = REPLY_SECONDS) -> AsyncConnection:
    """The same, for asyncio."""
    kind: Callable[..., object] = AioUnix if address.path else AioTls if address.tls else AioTcp
    retry = aioredis.retry.Retry(NoBackoff(), 0)
    return cast("AsyncConnection", kind(**_settings(address, name, reply_seconds), retry=retry))


def _settings(address: Address, name: str, reply_seconds: float) -> dict[str, object]:
    """Protocol 2, and no maintenance notifications: with them redis-py skips its own check for stray data."""
    settings: dict[str, object] = {
        "db": address.db,
        "username": address.username,
        "password": address.password,
        "client_name": name,
        "protocol": 2,
        "socket_timeout": reply_seconds,
        "socket_connect_timeout": min(CONNECT_SECONDS, reply_seconds),
        "health_check_interval": 0,
        "driver_info": None,
    }
    if address.path:
        return settings | {"path": address.path}
    settings |= {"host": address.host, "port": address.port, "socket_keepalive": True}
    settings |= {"maint_notifications_config": MaintNotificationsConfig(enabled=False)}
    return settings | ({"ssl_ca_certs": address.ca_file} if address.ca_file else {})


NEVER_SENT: Final = (redis.ConnectionError, redis.TimeoutError, OSError)
ERROR_REPLY: Final = redis.ResponseError


def is_reply(error: BaseException) -> bool:
    """Whether the server answered so: redis-py makes connection errors of some replies (LOADING, NOAUTH)."""
    return isinstance(error, ERROR_REPLY) or getattr(error, "status_code", None) is not None


def error_text(error: BaseException) -> str:
    """The server's own words: redis-py cuts the code off the errors that it has a class for."""
    code, text = getattr(error, "status_code", None), str(error)
    return text if code is None or code == "ERR" or text.startswith(code) else f"{code} {text}"
