"""Every default of redisched, once. DESIGN: change one only with a reason, and say it here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from redisched.core.errors import ConfigurationError

VISIBILITY_TIMEOUT: Final = timedelta(seconds=10)
LEAST_VISIBILITY: Final = timedelta(seconds=0.5)
HEARTBEAT: Final = timedelta(seconds=3)
LONGEST_WAIT: Final = timedelta(seconds=5)
TIMER_OVERDUE: Final = timedelta(seconds=1)
SHUTDOWN_GRACE: Final = timedelta(seconds=30)
RETENTION: Final = timedelta(hours=24)
RETAINED_JOBS: Final = 10_000
DEAD_RETENTION: Final = timedelta(days=30)
DEAD_JOBS: Final = 100_000
IDEMPOTENCY_WINDOW: Final = timedelta(minutes=10)
PRIORITIES: Final = 4
PRIORITY: Final = 1
PAYLOAD_BYTES: Final = 1024 * 1024
RESULT_BYTES: Final = 256 * 1024
MAX_DELIVERIES: Final = 3
STOP_GRACE: Final = timedelta(seconds=2)
LONGEST_HOLD: Final = timedelta(milliseconds=20)
BATCH: Final = 64
UNKNOWN_TASK_DELAY: Final = timedelta(seconds=5)
UNKNOWN_TASK_TTL: Final = timedelta(hours=24)
ASYNC_CONCURRENCY: Final = 100
SCRIPT_ELEMENTS: Final = 1_000
# Measured: an element of a turn costs 5 to 10 µs, and a script is to end within 2 ms.
TURN_ELEMENTS: Final = 300
NAMESPACE: Final = "redisched"
QUEUE: Final = "default"


def thread_concurrency() -> int:
    """Twice the cores, and eight at least: sync tasks mostly wait for somebody else."""
    return max(8, 2 * (os.cpu_count() or 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """How one worker behaves; every field has the default stated in this module."""

    concurrency: int | None = None
    visibility_timeout: timedelta = VISIBILITY_TIMEOUT
    heartbeat: timedelta = HEARTBEAT
    longest_wait: timedelta = LONGEST_WAIT
    shutdown_grace: timedelta = SHUTDOWN_GRACE
    stop_grace: timedelta = STOP_GRACE
    max_deliveries: int = MAX_DELIVERIES
    unknown_task_delay: timedelta = UNKNOWN_TASK_DELAY
    unknown_task_ttl: timedelta = UNKNOWN_TASK_TTL

    def __post_init__(self) -> None:
        """Refuse what cannot work. Keep the heartbeat so short that one may be lost without harm, and idle
        waits so short that somebody looks again soon after the lease of a lost worker ends.
        """
        if self.concurrency is not None and self.concurrency < 1:
            raise ConfigurationError("concurrency", self.concurrency, "one slot at least")
        if self.visibility_timeout < LEAST_VISIBILITY:
            raise ConfigurationError("visibility_timeout", self.visibility_timeout, "half a second at least")
        if not timedelta(0) < self.longest_wait <= LONGEST_WAIT:
            raise ConfigurationError(
                "longest_wait", self.longest_wait, "more than zero, five seconds at most"
            )
        if self.max_deliveries < 1:
            raise ConfigurationError("max_deliveries", self.max_deliveries, "one at least")
        object.__setattr__(self, "heartbeat", min(self.heartbeat, self.visibility_timeout * 0.3))
        object.__setattr__(self, "longest_wait", min(self.longest_wait, self.visibility_timeout / 2))
