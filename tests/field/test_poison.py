"""Field cases about jobs that take their process with them, and about their neighbours."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from redisched import Job
from redisched.app.task import TaskCall
from redisched.core.errors import JobDeadError
from redisched.core.states import JobState
from tests.apps.probe import kills_its_worker, probe, waits_for_file
from tests.apps.trouble import APP, exits_in_the_midst, pid_after, segfaults
from tests.fleet import Fleet
from tests.waiting import wait_for

POISONS = {
    "kill": kills_its_worker.call("kill"),
    "exit": kills_its_worker.call("exit"),
    "segfault": segfaults.call(),
}


def dead(job: Job[object]) -> None:
    """Ended after three deliveries, none of which is an attempt, and says why."""
    with pytest.raises(JobDeadError, match="worker lost 3 times"):
        job.result(timeout=30)
    info = job.info()
    assert (info.state, info.deliveries, info.attempts) == (JobState.DEAD, 3, 0)


@pytest.mark.parametrize("how", POISONS)
def test_f46_a_job_that_kills_its_worker_dies_after_three_starts(fleet: Fleet, how: str) -> None:
    """Three supervised workers and 100 normal jobs around it: those all succeed, none is lost to it."""
    fleet.start(app=APP, visibility_timeout=1, processes=3)
    call: TaskCall[object] = POISONS[how]
    before = fleet.app.enqueue_many([probe.call(0.05, label=n) for n in range(50)])
    (poison,) = fleet.app.enqueue_many([call])
    after = fleet.app.enqueue_many([probe.call(0.05, label=n) for n in range(50)])
    dead(poison)
    assert [job.result(timeout=30) for job in [*before, *after]] == [*range(50), *range(50)]
    assert len(fleet.starts(poison.id)) == 3


def test_of_a_hundred_jobs_in_hand_only_the_culprit_dies(fleet: Fleet, tmp_path: Path) -> None:
    """All in one worker's hands when one of them ends the process: 99 succeed, it is dead after three."""
    go, strike = tmp_path / "go", tmp_path / "strike"
    victim = fleet.start(app=APP, visibility_timeout=1)
    jobs = [fleet.app.enqueue(waits_for_file, str(go)) for _ in range(99)]
    culprit = fleet.app.enqueue(exits_in_the_midst, str(strike))
    wait_for(lambda: len(fleet.starts()) == 100, what="all hundred run", timeout=10)
    strike.touch()
    wait_for(lambda: not victim.alive, what="the culprit ends their process")
    go.touch()
    for _ in range(2):
        fleet.start(app=APP, visibility_timeout=1)
    dead(culprit)
    for job in jobs:
        assert job.result(timeout=60) == str(go)
    assert len(fleet.starts(culprit.id)) == 3
    assert all(worker.alive for worker in fleet.workers[1:])
    assert {job.info().deliveries for job in jobs} == {2}


def test_the_jobs_of_a_lost_worker_keep_no_others_waiting(fleet: Fleet, tmp_path: Path) -> None:
    """Twenty of them want children of their own, more than there may be, and run long: others pass them."""
    go = tmp_path / "go"
    victim = fleet.start(visibility_timeout=1)
    lost = [fleet.app.enqueue(waits_for_file, str(go)) for _ in range(20)]
    wait_for(lambda: len(fleet.starts()) == 20, what="all run", timeout=10)
    victim.kill()
    fleet.start(visibility_timeout=1)
    wait_for(lambda: len(fleet.starts()) > 20, what="the first of them runs again", timeout=15)
    assert [fleet.app.enqueue(probe, label=n).result(timeout=5) for n in range(5)] == list(range(5))
    assert not fleet.noted("end", lost[0].id)
    go.touch()
    for job in lost:
        job.result(timeout=30)
    assert [job.info().deliveries for job in lost] == [2] * 20


def test_a_worker_that_ends_when_nothing_is_left_runs_all_jobs_of_a_lost_one(fleet: Fleet) -> None:
    """Also those that waited for a child."""
    victim = fleet.start(app=APP, visibility_timeout=0.5)
    lost = [fleet.app.enqueue(pid_after, 0.5) for _ in range(12)]
    wait_for(lambda: len(fleet.starts()) == 12, what="all run")
    victim.kill()
    wait_for(lambda: next_lease_end(fleet) < time.time() * 1000, what="the leases have lapsed")
    assert fleet.start(app=APP, burst=True, visibility_timeout=5, ready=False).process.wait(40) == 0
    assert {job.status() for job in lost} == {JobState.SUCCEEDED}


def next_lease_end(fleet: Fleet) -> float:
    with fleet.server.client() as client:
        return float(client.zrange("rs:{test:default}:processing", -1, -1, withscores=True)[0][1])
