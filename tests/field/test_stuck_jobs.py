"""Field cases about jobs that nobody would ever look at again, and workers that look alive and do nothing."""

from __future__ import annotations

import pytest

from redisched import Job
from redisched.app.task import Task
from redisched.core.errors import JobDeadError
from redisched.core.states import JobState
from tests.apps.probe import probe
from tests.apps.trouble import (
    APP,
    blocks_the_loop,
    holds_the_interpreter,
    pid_after,
    stubborn_coroutine,
    stubborn_process,
    stubborn_thread,
)
from tests.field.census import counter, queue_status
from tests.fleet import Fleet
from tests.waiting import wait_for

KEY = "rs:{test:default}:"


def running(fleet: Fleet, seconds: float) -> Job[int]:
    job = fleet.app.enqueue(pid_after, seconds)
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    return job


@pytest.mark.parametrize("worker_lives", [True, False])
def test_f14_a_job_without_its_lease_is_found_again(fleet: Fleet, worker_lives: bool) -> None:
    """The entry among the leases is gone: within two visibility timeouts it runs again, to its end."""
    victim = fleet.start(app=APP, visibility_timeout=1)
    job = running(fleet, 1)
    with fleet.server.client() as client:
        assert client.zrem(f"{KEY}processing", job.id.split(":")[1]) == 1
    if not worker_lives:
        victim.kill()
        fleet.start(app=APP, visibility_timeout=1)
    wait_for(lambda: len(fleet.starts(job.id)) == 2, what="it starts again", timeout=5)
    job.result(timeout=5)


@pytest.mark.parametrize("worker_lives", [True, False])
def test_f14_a_job_without_its_state_is_found_again(fleet: Fleet, worker_lives: bool) -> None:
    """The state field is gone: its lease lapses, and it runs again, to its end."""
    victim = fleet.start(app=APP, visibility_timeout=1)
    job = running(fleet, 1)
    with fleet.server.client() as client:
        assert client.hdel(f"{KEY}state", job.id.split(":")[1]) == 1
    if not worker_lives:
        victim.kill()
        fleet.start(app=APP, visibility_timeout=1)
    wait_for(lambda: len(fleet.starts(job.id)) == 2, what="it starts again", timeout=5)
    job.result(timeout=5)


def test_f15_a_restart_under_the_same_name_is_another_worker(fleet: Fleet) -> None:
    """The new process does not keep the dead one's leases alive: the lost job runs again."""
    victim = fleet.start(app=APP, name="w", visibility_timeout=1)
    job = running(fleet, 0.5)
    victim.kill()
    fleet.start(app=APP, name="w", visibility_timeout=1)
    wait_for(lambda: len(fleet.starts(job.id)) == 2, what="the lost job runs again", timeout=3)
    job.result(timeout=5)


def test_f15_two_workers_of_one_name_are_two(fleet: Fleet) -> None:
    for _ in range(2):
        fleet.start(app=APP, name="w", visibility_timeout=1)
    wait_for(lambda: len(queue_status(fleet).workers) == 2, what="both are listed")
    ids = {row.id for row in queue_status(fleet).workers}
    assert len(ids) == 2
    assert all(one.startswith("w-") for one in ids)


@pytest.mark.parametrize(
    "stubborn", [stubborn_coroutine, stubborn_thread, stubborn_process], ids=lambda t: t.name
)
def test_f16_jobs_that_swallow_their_interruption_hold_no_slot(
    fleet: Fleet, stubborn: Task[[], None]
) -> None:
    """Four of them on two slots: after the grace each is given up and dead, and the others run."""
    fleet.start(app=APP, concurrency=2, visibility_timeout=2, stop_grace=0.5)
    bad = [fleet.app.enqueue(stubborn) for _ in range(4)]
    good = [fleet.app.enqueue(probe, label=n) for n in range(10)]
    assert [job.result(timeout=20) for job in good] == list(range(10))
    for job in bad:
        with pytest.raises(JobDeadError, match="longer than its timeout of 1 s"):
            job.result(timeout=10)
        assert (job.info().attempts, job.info().deliveries) == (1, 1)


@pytest.mark.parametrize("stubborn", [stubborn_coroutine, stubborn_thread], ids=lambda t: t.name)
def test_f16_a_worker_with_a_stuck_run_starts_anew(fleet: Fleet, stubborn: Task[[], None]) -> None:
    """The code that will not end goes with the process, which keeps its pid and nothing else."""
    worker = fleet.start(app=APP, visibility_timeout=2, stop_grace=0.5)
    bad = fleet.app.enqueue(stubborn)
    with pytest.raises(JobDeadError):
        bad.result(timeout=10)
    wait_for(lambda: worker.log.count(" serves ") == 2, what="the process starts anew", timeout=10)
    noted = len(fleet.noted("swallowed"))
    assert fleet.app.enqueue(pid_after, 0).result(timeout=10) == worker.pid
    assert len(fleet.noted("swallowed")) == noted


def test_a_blocked_event_loop_is_left_and_its_neighbours_go_back_uncounted(fleet: Fleet) -> None:
    """The coroutine that blocks is over its timeout; the process starts anew, neighbours lose nothing."""
    worker = fleet.start(app=APP, visibility_timeout=2, stop_grace=0.5)
    neighbours = [fleet.app.enqueue(pid_after, 3) for _ in range(10)]
    wait_for(lambda: len(fleet.starts()) == 10, what="the neighbours run")
    bad = fleet.app.enqueue(blocks_the_loop, 60)
    with pytest.raises(JobDeadError, match="longer than its timeout of 1 s"):
        bad.result(timeout=10)
    assert {job.result(timeout=15) for job in neighbours} == {worker.pid}
    assert [job.info().deliveries for job in neighbours] == [1] * 10
    assert counter(fleet, "recovered") == 0


def test_a_process_hung_in_c_code_is_ended_and_its_job_runs_elsewhere(fleet: Fleet) -> None:
    """Code that holds the interpreter lets no heartbeat through: the watchdog ends the process."""
    hung = fleet.start(app=APP, visibility_timeout=1)
    job = fleet.app.enqueue(holds_the_interpreter, 4)
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    other = fleet.start(app=APP, visibility_timeout=1)
    wait_for(lambda: not hung.alive, what="the watchdog ends the process", timeout=4)
    assert f"worker {hung.pid} has hung" in hung.log
    job.result(timeout=10)
    assert len(fleet.starts(job.id)) == 2
    assert other.alive


def test_a_frozen_process_is_not_ended_by_its_watchdog(fleet: Fleet) -> None:
    """Frozen for three leases it does not hang: thawed, it works on."""
    worker = fleet.start(app=APP, visibility_timeout=0.5)
    worker.freeze()
    job = fleet.app.enqueue(pid_after, 2)
    other = fleet.start(app=APP, visibility_timeout=0.5)  # takes longer than a lease to start
    assert job.result(timeout=10) == other.pid
    worker.thaw()
    assert other.end() == 0
    assert fleet.app.enqueue(pid_after, 1).result(timeout=10) == worker.pid
    assert fleet.app.job(job.id).status() is JobState.SUCCEEDED
