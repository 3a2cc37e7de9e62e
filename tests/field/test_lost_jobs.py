"""Field cases about jobs that get lost: with a worker, with the server, between two places."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from redisched import Every, Job
from redisched.core.states import CancelOutcome, JobState
from tests.apps.probe import probe, waits_for_file
from tests.apps.trouble import APP, pid_after
from tests.conftest import ServerFactory
from tests.field.census import places, queue_status
from tests.fleet import Fleet, WorkerProcess
from tests.processes import Processes
from tests.waiting import wait_for

SWEEP_SECONDS = 1.0
"""How long after a lease's end the idle workers may find it at the latest (see TIMER_OVERDUE)."""


@pytest.mark.parametrize("rounds", [8, pytest.param(50, marks=pytest.mark.nightly)])
def test_f09_killing_the_promoting_worker_at_any_moment_loses_no_job(fleet: Fleet, rounds: int) -> None:
    """503 jobs fall due while one worker after another is killed: at each moment all are somewhere."""
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    rng = random.Random(seed)
    span = rounds * 0.9
    due = [fleet.app.enqueue_in(rng.uniform(0, span), probe, label=n) for n in range(503)]
    future = fleet.app.enqueue_many([probe.call() for _ in range(100)], delay="1h")
    for _ in range(rounds):
        worker = fleet.start(visibility_timeout=0.5, max_deliveries=100)
        time.sleep(rng.uniform(0, 0.3))  # the moment of the kill
        worker.kill()
        assert places(queue_status(fleet)) == 603

    fleet.start(visibility_timeout=0.5, max_deliveries=100)
    for job in due:
        job.result(timeout=30)
    assert places(queue_status(fleet)) == 603
    assert {job.status() for job in future} == {JobState.SCHEDULED}
    assert fleet.start_counts().keys() == {job.id for job in due}
    for job in due:
        assert len(fleet.starts(job.id)) <= job.info().deliveries


def second_start(fleet: Fleet, job: Job[object], killed: float, within: float) -> float:
    """Seconds from the kill to the start of the job elsewhere."""
    wait_for(lambda: len(fleet.starts(job.id)) == 2, what="the job runs elsewhere", timeout=within + 5)
    return fleet.starts(job.id)[1].at_ms / 1000 - killed


def test_f10_a_job_of_a_killed_worker_runs_again_elsewhere(fleet: Fleet, tmp_path: Path) -> None:
    """Within the visibility timeout and a sweep, and its second delivery counts."""
    victim = fleet.start(visibility_timeout=2)
    job = fleet.app.enqueue(waits_for_file, str(tmp_path / "go"))
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    fleet.start(visibility_timeout=2)
    victim.kill()
    assert second_start(fleet, job, time.time(), 2 + SWEEP_SECONDS + 1) <= 2 + SWEEP_SECONDS + 1
    (tmp_path / "go").touch()
    job.result(timeout=10)
    assert job.info().deliveries == 2


def test_f10_a_job_of_the_only_worker_runs_when_one_is_back(fleet: Fleet) -> None:
    """Its lease has lapsed long since: a worker that starts takes it at once."""
    victim = fleet.start(app=APP, visibility_timeout=0.5)
    job = fleet.app.enqueue(pid_after, 0.2)
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    victim.kill()
    time.sleep(1)  # longer than the lease
    assert job.status() is JobState.PROCESSING
    fleet.start(app=APP, visibility_timeout=0.5)
    assert second_start(fleet, job, time.time(), SWEEP_SECONDS + 1) <= SWEEP_SECONDS + 1
    job.result(timeout=10)
    assert job.info().deliveries == 2


def lost(fleet: Fleet, how: Callable[[WorkerProcess], None]) -> Job[int]:
    """A job that was running when its worker, with default settings, was lost."""
    worker = fleet.start(app=APP)
    job = fleet.app.enqueue(pid_after, 2)
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    assert fleet.starts(job.id)[0].pid == worker.pid
    how(worker)
    return job


def test_by_default_a_lost_workers_job_runs_elsewhere_within_15_seconds(fleet: Fleet) -> None:
    """Whether the worker was killed or is frozen."""
    jobs = [lost(fleet, WorkerProcess.kill), lost(fleet, WorkerProcess.freeze)]
    at = time.time()
    fleet.start(app=APP)
    assert all(second_start(fleet, job, at, 15) <= 15 for job in jobs)
    for job in jobs:
        job.result(timeout=10)


def kept(
    fresh_server: ServerFactory, processes: Processes, directory: Path, jobs: int, delay: float
) -> tuple[Fleet, list[Job[object]]]:
    """Jobs on a server that keeps what it acknowledged, and two workers."""
    fleet = Fleet(fresh_server(appendfsync="always"), processes, directory)
    for _ in range(2):
        fleet.start(visibility_timeout=2)
    return fleet, fleet.app.enqueue_many(
        [probe.call(1 if not delay else 0) for _ in range(jobs)], delay=delay
    )


def test_f11_delayed_jobs_outlive_a_restart_of_the_server(
    fresh_server: ServerFactory, processes: Processes, tmp_path: Path
) -> None:
    """50 jobs wait while the server is killed and comes back: they start in time, and nobody lent a hand."""
    fleet, jobs = kept(fresh_server, processes, tmp_path, 50, 2)
    fleet.server.restart()
    for job in jobs:
        job.result(timeout=10)
    assert fleet.start_counts() == {job.id: 1 for job in jobs}
    assert all(0 <= x.at_ms - x.due_ms <= 2000 for x in fleet.starts())
    fleet.close()


def test_f11_running_jobs_outlive_a_restart_of_the_server(
    fresh_server: ServerFactory, processes: Processes, tmp_path: Path
) -> None:
    """50 jobs run while the server is killed and comes back: their workers go on and say how they ended."""
    fleet, jobs = kept(fresh_server, processes, tmp_path, 50, 0)
    wait_for(lambda: len(fleet.starts()) == 50, what="all jobs run")
    fleet.server.restart()
    back = time.time() * 1000
    for job in jobs:
        job.result(timeout=10)
    assert fleet.start_counts() == {job.id: 1 for job in jobs}
    assert all(x.at_ms <= back + 2000 for x in fleet.noted("end"))
    assert all(worker.alive for worker in fleet.workers)
    fleet.close()


def following_slots_run(fleet: Fleet, count: int) -> None:
    """From now on, a run in each of so many slots in a row."""
    first = (int(time.time()) + 1) * 1000
    wanted = set(range(first, first + 1000 * count, 1000))
    wait_for(
        lambda: wanted <= {x.due_ms for x in fleet.starts() if x.facts["slot"]},
        what=f"the slots {sorted(wanted)} run",
        timeout=count + 8,
    )


def every_second(fleet: Fleet) -> None:
    fleet.app.schedules.upsert("tick", probe.call(), Every(seconds=1))


def test_f12_a_schedule_outlives_the_worker_that_claimed_its_slot(fleet: Fleet) -> None:
    """Killed as it has the occurrence in hand: later slots come from the definition, not from that run."""
    every_second(fleet)
    victim = fleet.start(
        visibility_timeout=1, env={"REDISCHED_FAILPOINTS": "worker.before_run=kill"}, ready=False
    )
    wait_for(lambda: not victim.alive, what="the worker dies with an occurrence in hand", timeout=20)
    assert queue_status(fleet).processing == 1
    fleet.start(visibility_timeout=1)
    following_slots_run(fleet, 3)


def test_f12_cancelling_one_occurrence_cancels_just_that_one(fleet: Fleet) -> None:
    """The pending job of a slot, cancelled by its id: it never runs, and the slots after it do."""
    every_second(fleet)
    fleet.app.pause()
    fleet.start()
    wait_for(lambda: queue_status(fleet).ready, what="an occurrence is pending")
    with fleet.server.client(decode=True) as client:
        (pending, *_) = client.hkeys("rs:{test:default}:jobs")
    job = fleet.app.job(f"default:{pending}")
    assert job.cancel() is CancelOutcome.CANCELLED
    fleet.app.resume()
    following_slots_run(fleet, 3)
    assert job.status() is JobState.CANCELLED
    assert not fleet.starts(job.id)


def test_f12_a_schedule_outlives_a_restart_of_all_its_workers(fleet: Fleet) -> None:
    """The last worker ends, another starts: the slots go on with the next one."""
    every_second(fleet)
    first = fleet.start(visibility_timeout=1)
    wait_for(fleet.starts, what="a slot runs", timeout=10)
    assert first.end() == 0
    fleet.start(visibility_timeout=1)
    following_slots_run(fleet, 3)


def test_f13_expiry_counts_from_the_due_time(fleet: Fleet) -> None:
    """A delay longer than the expiry does no harm: with a worker up the job runs."""
    fleet.start()
    job = fleet.app.options(expires=0.5).enqueue_in(1.5, probe, label="ran")
    assert job.result(timeout=10) == "ran"


def test_f13_a_job_that_nobody_starts_in_time_expires(fleet: Fleet) -> None:
    """And says so."""
    job = fleet.app.options(expires=0.3).enqueue_in(0.3, probe)
    time.sleep(1)  # no worker until it is too late
    fleet.start()
    wait_for(lambda: job.status() is JobState.EXPIRED, what="the job expires")
    assert not fleet.starts(job.id)
