"""How many jobs to claim: free slots, and a little more where jobs are short. Pure: it is told the time."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from redisched.core.config import ASYNC_CONCURRENCY, BATCH, LONGEST_HOLD, thread_concurrency
from redisched.worker.run import Kind

RATE_SECONDS: Final = 0.25
KIND_SECONDS: Final = 10.0
PROBE_SECONDS: Final = 0.5
PROBE_JOBS: Final = BATCH


def slot_limits(concurrency: int | None) -> dict[Kind, int]:
    """Slots of each kind; a given concurrency is the limit of each and of all together."""
    cores = os.cpu_count() or 1
    if concurrency is not None:
        return {Kind.ASYNC: concurrency, Kind.THREAD: concurrency, Kind.PROCESS: min(concurrency, cores)}
    return {Kind.ASYNC: ASYNC_CONCURRENCY, Kind.THREAD: thread_concurrency(), Kind.PROCESS: cores}


@dataclass(slots=True)
class Slots:
    """Counts runs by kind, and remembers which kinds came lately and how fast jobs end.

    Suspects are counted apart, so that a lost worker's jobs, which run in children, keep no others waiting.
    """

    limits: dict[Kind, int]
    total: int
    running: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    suspects: int = 0
    probe_at: float = 0.0
    _seen: dict[Kind, float] = field(default_factory=dict)
    _ended: deque[tuple[float, int]] = field(default_factory=deque)
    _ended_count: int = 0

    def free(self, kind: Kind) -> int:
        return max(0, min(self.limits[kind] - self.running[kind], self._free_in_all()))

    def free_for_suspects(self) -> int:
        return max(0, min(self.limits[Kind.PROCESS] - self.suspects, self._free_in_all()))

    def start(self, kind: Kind, now: float) -> None:
        self.running[kind] += 1
        self._seen[kind] = now

    def end(self, kind: Kind) -> None:
        self.running[kind] -= 1

    def count_ended(self, count: int, now: float) -> None:
        """`count` jobs ended since the last call."""
        self._ended.append((now, count))
        self._ended_count += count
        self._forget(now)

    def wanted(self, expected: set[Kind], backlog: int, now: float) -> int:
        """How many to claim: free slots of the scarcest kind that may come, and what ends within the hold.

        `expected`: the kinds that the application has; those seen lately narrow it. `backlog`: claimed and
        not started.
        """
        self._forget(now)
        if self.can_probe(expected, backlog) and now >= self.probe_at:
            return min(PROBE_JOBS, max(self.free(kind) for kind in expected))
        lately = {kind for kind, at in self._seen.items() if now - at < KIND_SECONDS}
        free = min((self.free(kind) for kind in (lately or expected)), default=0)
        soon = int(self._ended_count / RATE_SECONDS * LONGEST_HOLD.total_seconds())
        return max(0, min(BATCH, free + min(soon, BATCH) - backlog))

    def _free_in_all(self) -> int:
        return self.total - sum(self.running.values()) - self.suspects

    def can_probe(self, expected: set[Kind], backlog: int) -> bool:
        """Slots of one kind are full and those of another free: what is ready may be of either."""
        free = [self.free(kind) for kind in expected]
        return backlog == 0 and min(free, default=0) == 0 < max(free, default=0)

    def note_claim(self, left_over: int, now: float) -> None:
        """After a claim: where all found a slot, more may follow at once; else a probe waits for a while."""
        self.probe_at = now + PROBE_SECONDS if left_over else now

    def _forget(self, now: float) -> None:
        while self._ended and now - self._ended[0][0] > RATE_SECONDS:
            self._ended_count -= self._ended.popleft()[1]
