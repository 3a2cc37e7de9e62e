"""Claims and runs as a worker gets them, for tests of its parts that need no server."""

from __future__ import annotations

import time
from typing import Final

from redisched.app.task import Task
from redisched.core.call import Call
from redisched.store.operations.turns import Claimed
from redisched.worker.intake import kind_of
from redisched.worker.run import Run

CLAIMED_MS: Final = 1_800_000_000_000


def claim(
    task: Task[..., object] | str,
    *args: object,
    id: str = "a",  # noqa: A002 - as the job has it
    attempts: int = 0,
    flags: int = 0,
    due_ms: int = CLAIMED_MS - 10,
    outcome: bytes = b"",
    body: bytes | None = None,
    meta: dict[str, object] | None = None,
) -> Claimed:
    """A first claim, unless said otherwise."""
    name = task if isinstance(task, str) else task.name
    return Claimed(
        id=id,
        version=7,
        attempts=attempts,
        deliveries=attempts + 1,
        created_ms=CLAIMED_MS - 20,
        due_ms=due_ms,
        claimed_ms=CLAIMED_MS,
        flags=flags,
        body=Call(name, args, meta=meta or {}).packed() if body is None else body,
        outcome=outcome,
    )


def run_of(task: Task[..., object], claimed: Claimed) -> Run:
    """As the intake makes it, received now."""
    now = time.monotonic()
    call = Call.unpacked(claimed.body)
    return Run(claimed, "default", task, call, kind_of(task, suspect=claimed.suspect), now, now + 10)
