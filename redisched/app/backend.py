"""The way to the server: chosen at first use, never before."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from redisched.core.config import NAMESPACE
from redisched.core.errors import ConfigurationError
from redisched.embedded import Choice, Membership, choose, join
from redisched.store.address import Address
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace, checked_name
from redisched.store.operations.queues import config_get
from redisched.store.wire import REPLY_SECONDS

Durability = Literal["async", "fsync"]

CALL_SECONDS: Final = 10.0
"""How long a client call keeps trying before it raises; far below the idempotency window."""

_LOG: Final = logging.getLogger("redisched")


class Backend:
    """Chooses the server, joins the embedded one where none is named, and lends executors.

    Constructing it reads nothing and starts nothing. Safe to share between threads, and across fork.
    """

    def __init__(
        self,
        url: str | None = None,
        namespace: str | None = None,
        durability: Durability = "async",
        *,
        environ: Mapping[str, str] = os.environ,
        data_dir: Path | str | None = None,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        if durability not in {"async", "fsync"}:
            raise ConfigurationError("durability", durability, "one of async, fsync")
        if url is not None:
            Address.parse(url)
        self.namespace = checked_name(
            "namespace", namespace or environ.get("REDISCHED_NAMESPACE") or NAMESPACE
        )
        self.durability = durability
        self._url = url
        self._environ = environ
        self._data_dir = data_dir
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._choice: Choice | None = None
        self._membership: Membership | None = None
        self._checked = durability == "async"
        self._sync = Executor(self.locate, patience=Patience(call_seconds))
        self._aio = AsyncExecutor(self.locate, patience=Patience(call_seconds))

    def keyspace(self, queue: str) -> Keyspace:
        return Keyspace(self.namespace, queue)

    @property
    def choice(self) -> Choice:
        """Which server, and why; decided once."""
        with self._own_lock():
            if self._choice is None:
                self._choice = choose(self._url, environ=self._environ, data_dir=self._data_dir)
            return self._choice

    def locate(self) -> Address:
        """Where the server is now; an embedded one that has died is started again."""
        choice = self.choice
        if choice.url is not None:
            return Address.parse(choice.url)
        return Address.parse(self._joined(choice).url)

    def describe(self) -> str:
        """For the start-up line: server, why, namespace and durability. Never a password."""
        where = Address.parse(self.choice.url) if self.choice.url else self.locate()
        return f"{where} ({self.choice.reason}), namespace {self.namespace}, durability {self.durability}"

    def executor(self) -> Executor:
        self._check_durability()
        return self._sync

    def aio_executor(self) -> AsyncExecutor:
        return self._aio

    async def ready_aio(self) -> AsyncExecutor:
        """The same, once the server keeps what `durability` asks for."""
        if not self._checked:
            await asyncio.to_thread(self._check_durability)
        return self._aio

    def lent(self, name: str, seconds: float, *, reply_seconds: float = REPLY_SECONDS) -> Executor:
        """An executor of one's own: a connection that nobody else waits on."""
        return Executor(self.locate, patience=Patience(seconds), name=name, reply_seconds=reply_seconds)

    def lent_aio(self, name: str, seconds: float, *, reply_seconds: float = REPLY_SECONDS) -> AsyncExecutor:
        return AsyncExecutor(self.locate, patience=Patience(seconds), name=name, reply_seconds=reply_seconds)

    def close(self) -> None:
        """Close idle connections and leave the embedded server; the last to leave it stops it."""
        self._sync.close()
        with self._own_lock():
            membership, self._membership = self._membership, None
        if membership is not None:
            membership.leave()

    def _own_lock(self) -> threading.RLock:
        """After a fork a new one: the parent's may have been held by a thread that is not here."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.RLock(), os.getpid()
        return self._lock

    def _joined(self, choice: Choice) -> Membership:
        with self._own_lock():
            if self._membership is None:
                self._membership = self._join(choice)
            else:
                self._membership.ensure()
            return self._membership

    def _join(self, choice: Choice) -> Membership:
        folder = choice.folder
        if folder is None:
            raise ConfigurationError("url", choice.url, "a named server has no folder")
        membership = join(folder, environ=self._environ)
        reason = choice.reason.replace("(to be started: ", "(started: ")
        self._choice = replace(choice, reason=reason)
        _LOG.info("joined %s", reason)
        atexit.register(self.close)
        return membership

    def _check_durability(self) -> None:
        """`fsync` holds only where the server says that it appends to its file before it answers."""
        if self._checked:
            return
        found = self._sync.send(config_get("appendonly", "appendfsync"))
        if found.get("appendonly") != "yes" or found.get("appendfsync") != "always":
            reason = (
                f"the server has appendonly={found.get('appendonly')}, appendfsync={found.get('appendfsync')}"
            )
            raise ConfigurationError("durability", self.durability, f"{reason}; it needs yes and always")
        self._checked = True
