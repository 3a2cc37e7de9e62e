"""Real worker processes for a test, and what their tasks noted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import pytest

from redisched import Scheduler
from tests.processes import Processes
from tests.servers import TestServer
from tests.waiting import wait_for

ROOT: Final = Path(__file__).parent.parent
READY_SECONDS: Final = 20.0


@dataclass(frozen=True)
class Noted:
    """One line of the probe's file."""

    event: str
    id: str
    at_ms: float
    due_ms: int
    delivery: int
    pid: int
    facts: dict[str, object]


class WorkerProcess:
    """One `redisched worker` as a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_until_ready(self) -> WorkerProcess:
        wait_for(
            lambda: " serves " in self.log or not self.alive, what="worker serves", timeout=READY_SECONDS
        )
        assert self.alive, self.log
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self, timeout: float = 15.0) -> int:
        """SIGTERM, and its exit code."""
        self.terminate()
        return self.process.wait(timeout)


class Fleet:
    """Starts workers on one server and namespace; `app` is the client's side of the probe application."""

    def __init__(
        self, server: TestServer, processes: Processes, directory: Path, namespace: str = "test"
    ) -> None:
        self.server = server
        self.namespace = namespace
        self._processes = processes
        self._directory = directory
        self._count = 0
        self.workers: list[WorkerProcess] = []
        self.app = Scheduler(server.url, namespace=namespace)

    @property
    def probe_file(self) -> Path:
        return self._directory / "probe.jsonl"

    def env(self, **more: str) -> dict[str, str]:
        """What a worker, or another process of the test's application, needs."""
        return {
            **os.environ,
            "REDISCHED_URL": self.server.url,
            "REDISCHED_NAMESPACE": self.namespace,
            "PROBE_FILE": str(self.probe_file),
            "PYTHONPATH": str(ROOT),
            **more,
        }

    def start(
        self, *, env: dict[str, str] | None = None, ready: bool = True, **told: object
    ) -> WorkerProcess:
        """`told`: see `tests.run_worker.options`; durations in seconds."""
        self._count += 1
        log = self._directory / f"worker-{self._count}.log"
        arguments = json.dumps({"app": "tests.apps.probe:app", **told})
        with log.open("wb") as output:
            process = self._processes.spawn(
                *(sys.executable, "-m", "tests.run_worker", arguments),
                env=self.env(**(env or {})),
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        worker = WorkerProcess(cast("subprocess.Popen[bytes]", process), log)
        self.workers.append(worker)
        return worker.wait_until_ready() if ready else worker

    def noted(self, event: str | None = None, job_id: str | None = None) -> list[Noted]:
        """What the tasks noted so far, oldest first."""
        if not self.probe_file.exists():
            return []
        # A write may be seen half done by who reads meanwhile: then its end, the newline, is missing.
        whole = self.probe_file.read_text().rpartition("\n")[0]
        lines = [json.loads(line) for line in whole.splitlines()]
        found = [
            Noted(x["event"], x["id"], x["at_ms"], x["due_ms"], x["delivery"], x["pid"], x) for x in lines
        ]
        return [x for x in found if event in {None, x.event} and job_id in {None, x.id}]

    def starts(self, job_id: str | None = None) -> list[Noted]:
        return self.noted("start", job_id)

    def start_counts(self) -> Counter[str]:
        """How often each job was started."""
        return Counter(x.id for x in self.starts())

    def close(self) -> None:
        for worker in self.workers:
            if worker.alive:
                worker.thaw()
                worker.kill()
        self.app.close()


@pytest.fixture
def fleet(server: TestServer, processes: Processes, tmp_path: Path) -> Iterator[Fleet]:
    """Workers on the shared server of the test's engine."""
    found = Fleet(server, processes, tmp_path)
    yield found
    found.close()
