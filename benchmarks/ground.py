"""What a benchmark runs on: a private server, and real workers of the released command."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis

from redisched import Scheduler
from redisched.store.operations.queues import status
from tests.processes import Guard, Processes
from tests.servers import Engine, Fsync, TestServer
from tests.waiting import wait_for

ROOT: Final = Path(__file__).parent.parent
NAMESPACE: Final = "benchmark"
START_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Ground:
    """A server that runs and the client's side of the application. Workers end with the block."""

    server: TestServer
    processes: Processes
    app: Scheduler
    client: redis.Redis

    def start_worker(self) -> subprocess.Popen[str]:
        """One `redisched worker` with the default settings; returns when it is at work."""
        process = self.processes.spawn(
            *(sys.executable, "-m", "redisched", "worker", "-q", "--app", "benchmarks.application:app"),
            env={"REDISCHED_URL": self.server.url, "REDISCHED_NAMESPACE": NAMESPACE},
            cwd=ROOT,
        )
        send, keyspace = self.app.backend.executor().send, self.app.backend.keyspace("default")
        wait_for(
            lambda: send(status(keyspace)).workers, what="the worker to be at work", timeout=START_SECONDS
        )
        return process

    def key(self, part: str) -> str:
        return self.app.backend.keyspace("default").key(part)


@contextmanager
def prepared(engine: Engine, appendfsync: Fsync | None) -> Iterator[Ground]:
    """A fresh server on a unix socket in a temporary folder."""
    _forget_settings()
    guard = Guard()
    processes = Processes(guard)
    with tempfile.TemporaryDirectory(prefix="rs-bench-") as folder:
        server = TestServer(engine, Path(folder), processes, appendfsync=appendfsync)
        try:
            server.start()
            with Scheduler(server.url, namespace=NAMESPACE) as app:
                yield Ground(server, processes, app, server.client(timeout=60.0))
        finally:
            processes.close()
            server.close()
            guard.close()


def _forget_settings() -> None:
    """A setting of whoever runs this must not reach the workers: the defaults are measured."""
    for name in [name for name in os.environ if name.startswith("REDISCHED_")]:
        del os.environ[name]
