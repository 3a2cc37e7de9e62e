"""A real worker process with any setting there is: `python -m tests.run_worker JSON`."""

from __future__ import annotations

import json
import logging
import sys
from datetime import timedelta

from redisched.core.config import WorkerConfig
from redisched.worker.main import run
from redisched.worker.settings import QueueWeights, WorkerOptions

DURATIONS = {"visibility_timeout", "heartbeat", "longest_wait", "shutdown_grace", "stop_grace",
             "unknown_task_delay", "unknown_task_ttl"}  # fmt: skip


def options(told: dict[str, object]) -> WorkerOptions:
    """`app`, `queues`, the fields of WorkerOptions, and those of WorkerConfig with durations in seconds."""
    config = {
        name: timedelta(seconds=float(str(told.pop(name)))) if name in DURATIONS else told.pop(name)
        for name in list(told)
        if name in WorkerConfig.__dataclass_fields__
    }
    queues = [str(name) for name in told.pop("queues", [])]  # type: ignore[attr-defined]  # from JSON
    return WorkerOptions(
        queues=QueueWeights.parse(queues),
        config=WorkerConfig(**config),  # type: ignore[arg-type]  # from JSON
        **told,  # type: ignore[arg-type]
    )


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    sys.exit(run(options(json.loads(sys.argv[1]))))
