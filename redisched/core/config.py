"""Every default of redisched, once. DESIGN: change one only with a reason, and say it here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

VISIBILITY_TIMEOUT: Final = timedelta(seconds=10)
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
BATCH: Final = 128
UNKNOWN_TASK_DELAY: Final = timedelta(seconds=5)
UNKNOWN_TASK_TTL: Final = timedelta(hours=24)
MISFIRE_GRACE: Final = timedelta(seconds=60)
ASYNC_CONCURRENCY: Final = 100
SCRIPT_ELEMENTS: Final = 1_000
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
