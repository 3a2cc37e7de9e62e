"""What a server tells of itself, as far as this user may ask."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from redisched.app.job import Send
from redisched.core.errors import ScriptError, StoreMisconfiguredError
from redisched.store.operation import Operation
from redisched.store.operations.queues import arities, config_get, info, server_time_ms

T = TypeVar("T")
SECTIONS = ("server", "replication", "memory", "persistence", "cluster")
SETTINGS = ("appendonly", "appendfsync", "save", "maxmemory-policy", "maxmemory")

# What came with 7.0: the version that a server reports is not always its own (Valkey says 7.2.4).
COMMANDS_OF_7 = ("EVALSHA_RO", "EXPIRETIME")


@dataclass(frozen=True, slots=True)
class Facts:
    """The answers; None, or empty, where the question was not allowed. Instants in ms: the server's, between
    the client's before and after.
    """

    info: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    commands: frozenset[str] | None = None
    asked_ms: int = 0
    server_ms: int = 0
    answered_ms: int = 0

    @property
    def policy(self) -> str | None:
        return self.config.get("maxmemory-policy") or self.info.get("maxmemory_policy")

    @property
    def name(self) -> str:
        """The server's own name and version."""
        told = self.info
        if "valkey_version" in told:
            return f"Valkey {told['valkey_version']}"
        return f"Redis {told['redis_version']}" if "redis_version" in told else "a server of unknown version"


def gathered(send: Send) -> Facts:
    """Ask everything; raises StoreUnavailableError where nobody answers."""
    send(server_time_ms())  # opens the connection, which is not to count as distance between clocks
    asked = time.time_ns()
    server_ms = send(server_time_ms())
    answered = time.time_ns()
    told: dict[str, str] = {}
    for section in SECTIONS:
        answer = allowed(send, info(section))
        told |= answer if answer is not None else {}
    known = allowed(send, arities(*COMMANDS_OF_7))
    settings = allowed(send, config_get(*SETTINGS)) or {}
    commands = None if known is None else frozenset(known)
    return Facts(told, settings, commands, asked // 1_000_000, server_ms, answered // 1_000_000)


def allowed(send: Send, operation: Operation[T]) -> T | None:
    """The answer; None where this user may not ask, or where the server does not know the question."""
    try:
        return send(operation)
    except (StoreMisconfiguredError, ScriptError):
        return None
