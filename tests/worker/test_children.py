"""Tasks that run in processes of their own, and what becomes of those processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from redisched.core.errors import JobDeadError
from redisched.core.states import JobState
from redisched.worker.children import Child
from tests.apps.probe import kills_its_worker, probe_process
from tests.apps.workshop import heeds_process, in_child, stubborn
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import WORKSHOP, is_alive

SLOW_START: Final = "tests.apps.slow_start:app"


def test_a_child_dies_with_its_worker(fleet: Fleet) -> None:
    """A worker that was killed leaves nobody behind who goes on with a job that others will run."""
    worker = fleet.start(visibility_timeout=1)
    job = fleet.app.enqueue(probe_process, 60)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    child = fleet.starts(job.id)[0].pid
    assert child != worker.pid
    worker.kill()
    wait_for(lambda: not is_alive(child), what="the child is gone", timeout=3)


def test_a_child_serves_one_job_after_another(fleet: Fleet) -> None:
    """Starting an interpreter for each would cost more than most jobs."""
    fleet.start(concurrency=1)
    for _ in range(3):
        fleet.app.enqueue(probe_process).result(timeout=10)
    assert len({start.pid for start in fleet.starts()}) == 1


def test_a_child_that_is_killed_costs_its_own_job_a_delivery_only(fleet: Fleet) -> None:
    """The job runs again, in another child, and no attempt is charged."""
    fleet.start()
    job = fleet.app.enqueue(probe_process, 0.5, label="again")
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    os.kill(fleet.starts(job.id)[0].pid, signal.SIGKILL)
    assert job.result(timeout=15) == "again"
    first, second = fleet.starts(job.id)
    assert first.pid != second.pid
    assert [first.facts["attempt"], second.facts["attempt"]] == [1, 1]
    assert [first.delivery, second.delivery] == [1, 2]


def test_a_job_that_kills_its_worker_dies_after_its_deliveries(fleet: Fleet) -> None:
    """The worker is lost once; then the job runs in children of its own, until it is given up."""
    first, second = fleet.start(visibility_timeout=1), fleet.start(visibility_timeout=1)
    job = fleet.app.enqueue(kills_its_worker)
    with pytest.raises(JobDeadError, match="3 times"):
        job.result(timeout=20)
    assert len(fleet.starts(job.id)) == 3
    assert [first.alive, second.alive].count(True) == 1


def test_the_start_of_a_child_is_not_the_time_of_its_job(fleet: Fleet) -> None:
    """A slow import must not use up a job's attempts."""
    fleet.start(app=SLOW_START)
    job = fleet.app.options(timeout=1).enqueue("tests.apps.slow_start.in_child", 0)
    job.result(timeout=10)


def test_a_job_cancelled_while_its_child_starts_never_begins(fleet: Fleet) -> None:
    fleet.start(app=SLOW_START, visibility_timeout=1, stop_grace=5)
    job = fleet.app.enqueue("tests.apps.slow_start.in_child", 0)
    wait_for(lambda: job.status() is JobState.PROCESSING, what="it is claimed")
    job.cancel()
    wait_for(lambda: job.status().is_end, what="its end", timeout=10)
    assert job.status() is JobState.CANCELLED
    assert not fleet.starts(job.id)


def test_a_worker_that_ends_takes_its_children_along(fleet: Fleet) -> None:
    worker = fleet.start(app=WORKSHOP)
    fleet.app.enqueue(in_child).result(timeout=10)
    child = fleet.starts()[0].pid
    assert worker.end() == 0
    assert not is_alive(child)


def test_a_child_that_runs_hears_of_the_shutdown(fleet: Fleet) -> None:
    """It may end by itself within the grace; then its job is done."""
    worker = fleet.start(app=WORKSHOP)
    job = fleet.app.enqueue(heeds_process)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    assert worker.end() == 0
    assert job.status() is JobState.SUCCEEDED
    (stopped,) = fleet.noted("stopping", job.id)
    assert stopped.facts["stopping"] is True


def test_children_end_with_a_worker_that_starts_anew(fleet: Fleet) -> None:
    """The same process goes on as another worker; its former children must not stay."""
    worker = fleet.start(app=WORKSHOP, stop_grace=0.3)
    fleet.app.enqueue(in_child).result(timeout=10)
    child = fleet.starts()[0].pid
    fleet.app.options(timeout=0.2).enqueue(stubborn, 30)
    wait_for(lambda: worker.log.count(" serves ") == 2, what="it starts anew", timeout=15)
    wait_for(lambda: not is_alive(child), what="the child is gone", timeout=3)


def test_a_child_that_ended_while_it_was_idle_costs_the_next_job_nothing(fleet: Fleet) -> None:
    """No delivery, and no suspicion: the job had not begun."""
    fleet.start(concurrency=1)
    fleet.app.enqueue(probe_process).result(timeout=10)
    idle = fleet.starts()[0].pid
    os.kill(idle, signal.SIGKILL)
    wait_for(lambda: not is_alive(idle), what="the idle child is gone")
    job = fleet.app.enqueue(probe_process)
    job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    assert (start.delivery, job.info().deliveries) == (1, 1)


def test_a_child_that_ends_before_it_takes_the_job_on_costs_it_nothing(fleet: Fleet) -> None:
    """It was sent the job, and did not get to it: another child does, at once."""
    fleet.start(concurrency=1)
    fleet.app.enqueue(probe_process).result(timeout=10)
    idle = fleet.starts()[0].pid
    os.kill(idle, signal.SIGSTOP)
    job = fleet.app.enqueue(probe_process)
    wait_for(lambda: job.status() is JobState.PROCESSING, what="it is claimed")
    os.kill(idle, signal.SIGKILL)
    job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    assert start.pid != idle
    assert (start.delivery, job.info().deliveries) == (1, 1)


@pytest.mark.nightly
def test_a_child_that_hangs_while_idle_is_replaced(fleet: Fleet) -> None:
    """No timeout of the job counts yet, so somebody must look to it."""
    fleet.start(concurrency=1)
    fleet.app.enqueue(probe_process).result(timeout=10)
    idle = fleet.starts()[0].pid
    os.kill(idle, signal.SIGSTOP)
    job = fleet.app.enqueue(probe_process)
    job.result(timeout=20)
    assert job.info().deliveries == 1
    assert not is_alive(idle)


@pytest.mark.parametrize("kind", ["async", "thread", "process"])
def test_an_odd_progress_is_told_or_refused_alike_for_every_kind(fleet: Fleet, kind: str) -> None:
    """A note is its text. What is no part is refused in the task, where its author sees it."""
    worker = fleet.start(app=WORKSHOP)
    job = fleet.app.enqueue(f"tests.apps.workshop.tells_oddly_{kind}")
    assert str(job.result(timeout=10)).startswith("part=150: ")
    assert len(fleet.starts(job.id)) == 1
    assert f"job {job.id}: 100 % done: 7" in worker.log
    assert f"job {job.id}: 50 % done: half" in worker.log


def test_a_start_that_is_cancelled_leaves_nothing_open() -> None:
    """At whichever step: no process, no pipe, no socket."""

    async def cancelled_after(steps: int) -> None:
        spawning = asyncio.create_task(Child.spawn("tests.apps.probe:app", "w1"))
        for _ in range(steps):
            await asyncio.sleep(0)
        spawning.cancel()
        await asyncio.wait([spawning])
        assert spawning.cancelled()
        await asyncio.sleep(0)  # transports close in the next step of the loop

    async def at_every_step() -> None:
        await cancelled_after(20)
        before = open_files()
        for steps in range(12):
            await cancelled_after(steps)
            assert (steps, open_files()) == (steps, before)

    asyncio.run(at_every_step())


def open_files() -> dict[str, int]:
    """How many of each kind this process has open."""
    kinds: Counter[str] = Counter()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the folder itself, open while it is read
            kinds[str(link.readlink()).partition(":")[0]] += 1
    return kinds
