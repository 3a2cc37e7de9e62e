"""Who a worker is: random per process start, so a restart under the same name and pid is another worker."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from redisched.core.ids import IdMaker
from redisched.core.values import pack


@dataclass(frozen=True, slots=True)
class Identity:
    """`id` is what leases carry."""

    id: str
    name: str

    @classmethod
    def make(cls, name: str | None) -> Identity:
        shown = name or socket.gethostname()
        return cls(f"{shown[:64]}-{IdMaker().make()}", shown)

    def about(self, queues: Sequence[str], concurrency: int) -> bytes:
        """What it says of itself, for people."""
        facts = {
            "name": self.name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "queues": list(queues),
            "concurrency": concurrency,
            "started_ms": time.time_ns() // 1_000_000,
        }
        return pack(facts, field="worker")
