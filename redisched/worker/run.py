"""A claimed job in this worker's hands, from the claim to its last word."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Final

from redisched.app.context import JobContext, JobControl, slot_info
from redisched.app.task import Task
from redisched.core.call import Call
from redisched.core.durations import LONGEST_DURATION_MS, from_ms
from redisched.core.ids import public_id
from redisched.store.operations.turns import Claimed

_LOG: Final = logging.getLogger("redisched.worker")


class Kind(IntEnum):
    """Where a run takes place."""

    ASYNC = auto()
    THREAD = auto()
    PROCESS = auto()


class Stop(Enum):
    """Why a run was told to end."""

    TIMEOUT = "ran longer than its timeout"
    CANCELLED = "was cancelled"
    LEASE_LOST = "lost its lease"
    SHUTDOWN = "was handed back at shutdown"


def log_progress(job_id: str, part: float, note: str) -> None:
    """What a run says of itself, as one line whatever it says."""
    said = f": {ascii(str(note))[1:-1]}" if note else ""
    _LOG.info("job %s: %g %% done%s", job_id, 100 * part, said)


@dataclass(slots=True, eq=False)
class Run:
    """Mutable: the pump, a runner and the heart share it. `received` and `lease_end` are monotonic seconds;
    the lease is counted from before the claim was sent, so it ends here before it ends on the server.
    """

    claimed: Claimed
    queue: str
    task: Task[..., object]
    call: Call
    kind: Kind
    received: float
    lease_end: float
    started: float = 0.0
    stop: Stop | None = None
    settled: bool = False
    control: JobControl = field(default_factory=JobControl)
    _context: JobContext | None = None

    @property
    def id(self) -> str:
        return public_id(self.queue, self.claimed.id)

    @property
    def timeout_ms(self) -> int | None:
        """The call's own, where it can be kept: another client may have written it; else the task's."""
        own = self.call.meta.get("timeout") if self.call.meta else None
        if isinstance(own, int) and own is not True and 0 < own <= LONGEST_DURATION_MS:
            return own
        return self.task.settings.timeout_ms

    def server_ms(self, at: float) -> int:
        """The server's clock at monotonic second `at`: never ahead of it, since the claim was read before."""
        return self.claimed.claimed_ms + max(0, int((at - self.received) * 1000))

    def context(self) -> JobContext:
        """What the task sees as `current_job()`; made when it is first asked for."""
        if self._context is None:
            self._context = self._told()
        return self._context

    def _told(self) -> JobContext:
        claimed = self.claimed
        return JobContext(
            id=self.id,
            task=self.task.name,
            queue=self.queue,
            attempt=claimed.attempts + 1,
            delivery=claimed.deliveries,
            version=claimed.version,
            created_at=from_ms(claimed.created_ms),
            due_at=from_ms(claimed.due_ms),
            started_at=from_ms(self.server_ms(self.started or time.monotonic())),
            slot=slot_info(self.call.meta.get("slot")) if self.call.meta else None,
            control=self.control,
        )
