"""Several workers as one command: they are kept going, and they end together."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from redisched.worker.supervisor import Supervisor
from tests.apps.probe import probe
from tests.fleet import Fleet, WorkerProcess
from tests.waiting import wait_for
from tests.worker.watching import is_alive, worker_pids


def start_three(fleet: Fleet) -> tuple[WorkerProcess, set[int]]:
    """A supervisor, and the pids of its three workers once they serve."""
    supervisor = fleet.start(processes=3, visibility_timeout=2)
    return supervisor, wait_for_three(fleet)


def wait_for_three(fleet: Fleet) -> set[int]:
    wait_for(lambda: len(worker_pids(fleet)) == 3, what="three workers", timeout=20)
    return worker_pids(fleet)


def test_a_killed_worker_is_started_again(fleet: Fleet) -> None:
    supervisor, first = start_three(fleet)
    killed = first.pop()
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: len(worker_pids(fleet) - {killed}) == 3, what="another in its place", timeout=20)
    assert first < worker_pids(fleet)
    assert supervisor.alive


def test_sigterm_ends_all_of_them_with_exit_code_0(fleet: Fleet) -> None:
    supervisor, workers = start_three(fleet)
    jobs = fleet.app.enqueue_many([probe.call(0.3) for _ in range(9)])
    wait_for(fleet.starts, what="jobs run", timeout=10)
    assert supervisor.end() == 0
    assert not any(is_alive(pid) for pid in workers)
    assert all(job.status().is_end for job in jobs if fleet.starts(job.id)), "what ran was let end"


def test_workers_end_with_a_supervisor_that_is_killed(fleet: Fleet) -> None:
    """Nobody would restart them any more, nor pass on a SIGTERM."""
    supervisor, workers = start_three(fleet)
    supervisor.kill()
    wait_for(lambda: not any(is_alive(pid) for pid in workers), what="the workers are gone", timeout=3)


def test_a_worker_that_dies_at_once_is_started_less_and_less_often(fleet: Fleet) -> None:
    """A broken deploy must not keep a machine busy with starting processes."""
    supervisor = fleet.start(app="tests.apps.stillborn:app", processes=2, ready=False)
    wait_for(lambda: len(pauses(supervisor)) >= 6, what="three lives of each", timeout=30)
    assert pauses(supervisor)[:6] == [0.5, 0.5, 1.0, 1.0, 2.0, 2.0]
    supervisor.terminate()
    supervisor.process.wait(5)


def pauses(supervisor: WorkerProcess) -> list[float]:
    return sorted(map(float, re.findall(r"another starts in ([\d.]+) s", supervisor.log)))


def test_a_burst_of_several_workers_ends_with_exit_code_0(fleet: Fleet) -> None:
    jobs = fleet.app.enqueue_many([probe.call(0.05) for _ in range(30)])
    assert fleet.start(processes=2, burst=True, concurrency=2, ready=False).process.wait(30) == 0
    assert all(job.status().is_end for job in jobs)


def test_workers_that_are_told_to_end_while_they_load_end_with_exit_code_0(fleet: Fleet) -> None:
    """They do not handle the signal yet, and so die of it: as they were told."""
    supervisor = fleet.start(app="tests.apps.slow_worker:app", processes=2, ready=False)
    children = Path(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children")
    wait_for(lambda: len(children.read_text().split()) == 2, what="both workers load", timeout=15)
    assert supervisor.end() == 0


def test_a_worker_that_cannot_be_started_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine that is short of memory or processes must not end the supervisor."""
    monkeypatch.setenv("TOO_LONG", "x" * 200_000)  # the kernel refuses to start a process with that
    supervisor, files = Supervisor(2), open_files()
    supervisor.once()
    supervisor.once()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "a worker could not be started, next try in 0.5 s"
    ] * 2
    assert open_files() == files


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
