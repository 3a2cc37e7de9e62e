"""F73: processes that fork after the application has used its client."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.apps.forks import forks
from tests.field.census import places, queue_status
from tests.fleet import ROOT, Fleet
from tests.processes import Processes


@pytest.mark.parametrize("how", ["os.fork", "fork", "spawn"])
@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.nightly)])
def test_f73_parent_and_child_both_enqueue_and_all_jobs_exist(
    fleet: Fleet, processes: Processes, how: str, count: int
) -> None:
    """Each process gets its own connections: no reply is swapped, no job is lost, nobody crashes."""
    process = processes.spawn(
        *(sys.executable, "-m", "tests.apps.forks", how, str(count)),
        env=fleet.env(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert output == ""
    assert places(queue_status(fleet)) == 2 * count + 1
    for label in ("parent", "child"):
        assert all(not fleet.app.job(f"default:{label}-{n}").status().is_end for n in range(0, count, 10))


def test_f73_a_job_may_fork_and_enqueue_on_both_sides(fleet: Fleet) -> None:
    """In a worker with its own connections, threads and event loop; that goes on as if nothing happened."""
    worker = fleet.start(app="tests.apps.forks:app", unknown_task_delay=60)
    job = fleet.app.enqueue(forks, 50)
    assert job.result(timeout=20) == 0
    found = queue_status(fleet)
    assert found.scheduled + found.ready + found.processing == 100, "the jobs of both sides, unknown here"
    assert found.counters.get("refused", 0) == 0
    assert fleet.app.enqueue(forks, 0).result(timeout=20) == 0
    assert worker.end() == 0
