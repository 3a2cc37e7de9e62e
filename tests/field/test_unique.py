"""Field cases about uniqueness: a key or an id belongs to a job's record, and is free when that has ended."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import pytest

from redisched import CancelOutcome, Every, Job, JobDeadError, JobNotFoundError, JobState, ReviveOutcome
from tests.apps.probe import fails_until, kills_its_worker, probe, waits_for_file
from tests.fleet import ROOT, Fleet
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ServerFactory
    from tests.faults.clock import Clock
    from tests.processes import Processes

UNIQUE: Final = "rs:{test:default}:unique"
WINDOW: Final = timedelta(minutes=10)


# -- F49


def test_f49_a_killed_workers_job_keeps_its_unique_key_until_it_has_ended(
    fleet: Fleet, tmp_path: Path
) -> None:
    """Taken before the kill, after it, while the job runs again; every refusal names the holder."""
    gate = tmp_path / "gate"
    unique = fleet.app.options(unique="report")
    first = fleet.start(visibility_timeout=1)
    holder = unique.enqueue(waits_for_file, str(gate))
    wait_for(lambda: fleet.starts(holder.id), what="the job to run")
    assert held_by(fleet) == holder.id
    first.kill()
    assert held_by(fleet) == holder.id
    fleet.start(visibility_timeout=1)
    wait_for(lambda: len(fleet.starts(holder.id)) == 2, what="the job to run again", timeout=10)
    assert held_by(fleet) == holder.id
    gate.touch()
    holder.result(timeout=10)
    following = unique.enqueue(probe)
    assert following.created
    following.result(timeout=10)
    with fleet.server.client() as client:
        assert not client.exists(UNIQUE)


def test_f49_a_unique_job_that_kills_every_worker_frees_its_key_when_it_is_dead(fleet: Fleet) -> None:
    """As many deliveries as allowed, then dead: the next job of that key is accepted."""
    unique = fleet.app.options(unique="report")
    fleet.start(visibility_timeout=1)
    holder = unique.enqueue(kills_its_worker)
    wait_for(lambda: fleet.starts(holder.id), what="the first kill")
    fleet.start(visibility_timeout=1)
    with pytest.raises(JobDeadError):
        holder.result(timeout=20)
    assert unique.enqueue(probe).created


def held_by(fleet: Fleet) -> str:
    """The holder, as a refused enqueue names it."""
    refused = fleet.app.options(unique="report").enqueue(probe)
    assert not refused.created
    return refused.id


# -- F50


def test_f50_an_id_whose_job_is_kept_gives_that_job_and_not_a_second_run(fleet: Fleet) -> None:
    """A Job with created=False, whose result is that of the run there was; `retry` runs it anew."""
    fleet.start()
    options = fleet.app.options(job_id="x")
    job = options.enqueue(probe, label="first")
    assert (job.created, job.id) == (True, "default:x")
    assert job.result(timeout=10) == "first"
    again = options.enqueue(probe, label="second")
    assert (again.created, again.id) == (False, "default:x")
    assert again.result(timeout=1) == "first"
    assert fleet.start_counts() == {"default:x": 1}
    assert again.retry() is ReviveOutcome.REVIVED
    wait_for(lambda: len(fleet.starts("default:x")) == 2, what="the second run")
    assert again.result(timeout=10) == "first"


def test_f50_a_failed_job_of_a_given_id_runs_again_by_retry_with_its_attempts_counted_anew(
    fleet: Fleet,
) -> None:
    """Dead, then revived: the attempts start from one."""
    fleet.start()
    job = fleet.app.options(job_id="x").enqueue(fails_until, 9)
    with pytest.raises(JobDeadError):
        job.result(timeout=10)
    assert not fleet.app.options(job_id="x").enqueue(fails_until, 9).created
    assert job.retry() is ReviveOutcome.REVIVED
    wait_for(lambda: len(fleet.starts(job.id)) == 10, what="five attempts more", timeout=10)
    assert [x.facts["attempt"] for x in fleet.starts(job.id)] == [1, 2, 3, 4, 5] * 2


def test_f50_an_id_runs_anew_once_its_job_and_the_idempotency_window_are_gone(
    fresh_server: ServerFactory, clock: Clock, processes: Processes, tmp_path: Path
) -> None:
    """Pruned within the window it leaves a tombstone: created=False still. After the window: a new job."""
    server = fresh_server(env=clock.env())
    with closing(Fleet(server, processes, tmp_path)) as fleet:
        fleet.start(visibility_timeout=1)
        options = fleet.app.options(job_id="x", retention=60)
        first = options.enqueue(probe, label="first")
        assert first.result(timeout=10) == "first"
        clock.step(61_000)
        wait_for(lambda: first.status() is JobState.PRUNED, what="the job to be pruned", timeout=15)
        refused = options.enqueue(probe, label="second")
        assert (refused.created, refused.id) == (False, first.id)
        clock.step(int(WINDOW.total_seconds() * 1000))
        wait_for(lambda: first.status() is JobState.NOT_FOUND, what="its tombstone to go", timeout=15)
        with pytest.raises(JobNotFoundError):
            first.result()
        second = options.enqueue(probe, label="third")
        assert (second.created, second.id) == (True, first.id)
        assert second.result(timeout=10) == "third"


# -- F51


def test_f51_a_cancelled_unique_job_leaves_its_key_at_once(fleet: Fleet) -> None:
    """Delayed, cancelled, enqueued again: a new job that runs."""
    unique = fleet.app.options(unique="mail")
    first = unique.enqueue_in(60, probe)
    assert not unique.enqueue(probe).created
    assert first.cancel() is CancelOutcome.CANCELLED
    assert_free(fleet, first)


def test_f51_a_unique_job_cancelled_by_the_command_line_leaves_its_key_at_once(
    fleet: Fleet, processes: Processes
) -> None:
    """`redisched jobs cancel` in a process of its own."""
    first = fleet.app.options(unique="mail").enqueue_in(60, probe)
    cancelling = processes.spawn(
        *(sys.executable, "-m", "redisched", "jobs", "cancel", first.id), env=fleet.env(), cwd=ROOT
    )
    assert cancelling.wait(20) == 0
    assert_free(fleet, first)


def assert_free(fleet: Fleet, ended: Job[object]) -> None:
    """The key is accepted again, and its new holder runs alone."""
    second = fleet.app.options(unique="mail").enqueue(probe)
    assert second.created
    assert second.id != ended.id
    fleet.start()
    second.result(timeout=10)
    assert fleet.start_counts() == {second.id: 1}
    with fleet.server.client() as client:
        assert not client.exists(UNIQUE)


# -- F52


def test_f52_a_schedule_shorter_than_a_minute_runs_every_slot(fleet: Fleet) -> None:
    """Every second, with a body of 100 ms: no least time of any lock leaves a slot out."""
    for _ in range(2):
        fleet.start()
    fleet.app.schedules.upsert("often", probe.call(seconds=0.1), Every(seconds=1))
    wait_for(lambda: len(fleet.noted("end")) >= 5, what="five runs", timeout=15)
    fleet.app.schedules.remove("often")
    slots = [str(x.facts["slot"]) for x in fleet.starts()]
    assert len(set(slots)) == len(slots)
    due = sorted(x.due_ms for x in fleet.starts())
    assert {later - sooner for sooner, later in pairwise(due)} == {1000}
    assert all(x.at_ms - x.due_ms < 1000 for x in fleet.starts())
