"""A run that takes too long is ended, in whichever way its kind allows."""

from __future__ import annotations

import pytest

from redisched.core.errors import JobDeadError
from redisched.core.states import CancelOutcome, JobState
from tests.apps.probe import probe, probe_process
from tests.apps.workshop import blocks, loops, sleeps, stubborn
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import WORKSHOP, is_alive


def test_a_coroutine_over_its_time_is_cancelled(fleet: Fleet) -> None:
    fleet.start(app=WORKSHOP)
    job = fleet.app.options(timeout=0.3).enqueue(sleeps, 60)
    with pytest.raises(JobDeadError, match=r"timeout of 0\.3 s"):
        job.result(timeout=10)
    assert fleet.noted("cancelled", job.id)


def test_a_process_over_its_time_is_killed(fleet: Fleet) -> None:
    worker = fleet.start()
    job = fleet.app.options(timeout=2).enqueue(probe_process, 60)
    with pytest.raises(JobDeadError, match="timeout of 2 s"):
        job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    wait_for(lambda: not is_alive(start.pid), what="the child is gone")
    assert worker.alive


def test_a_thread_over_its_time_is_interrupted(fleet: Fleet) -> None:
    """Between two Python instructions; the worker needs no new start."""
    worker = fleet.start(app=WORKSHOP)
    job = fleet.app.options(timeout=0.3).enqueue(loops, 60)
    with pytest.raises(JobDeadError, match=r"timeout of 0\.3 s"):
        job.result(timeout=10)
    assert fleet.noted("interrupted", job.id)
    assert worker.log.count(" serves ") == 1


def test_a_thread_that_cannot_be_interrupted_makes_its_process_start_anew(fleet: Fleet) -> None:
    """Under the same pid, so that who started it needs to do nothing. Its slot would be lost otherwise."""
    worker = fleet.start(app=WORKSHOP, stop_grace=0.3)
    job = fleet.app.options(timeout=0.2).enqueue(stubborn, 60)
    with pytest.raises(JobDeadError, match=r"timeout of 0\.2 s"):
        job.result(timeout=10)
    wait_for(lambda: worker.log.count(" serves ") == 2, what="it starts anew", timeout=15)
    assert worker.alive
    after = fleet.app.enqueue(sleeps, 0)
    after.result(timeout=10)
    assert fleet.starts(after.id)[0].pid == worker.pid
    assert not fleet.noted("end", job.id)


def test_a_coroutine_that_blocks_its_loop_makes_its_process_start_anew(fleet: Fleet) -> None:
    """No cancellation reaches it; its neighbours go back uncounted."""
    worker = fleet.start(app=WORKSHOP, stop_grace=0.3)
    neighbour = fleet.app.enqueue(sleeps, 4)
    wait_for(lambda: fleet.starts(neighbour.id), what="the neighbour runs", timeout=10)
    job = fleet.app.options(timeout=0.2).enqueue(blocks, 60)
    with pytest.raises(JobDeadError, match=r"timeout of 0\.2 s"):
        job.result(timeout=15)
    neighbour.result(timeout=20)
    assert [start.facts["attempt"] for start in fleet.starts(neighbour.id)] == [1, 1]
    assert neighbour.info().deliveries == 1
    assert {start.pid for start in fleet.starts()} == {worker.pid}


def test_a_run_within_its_time_knows_nothing_of_it(fleet: Fleet) -> None:
    fleet.start()
    assert fleet.app.options(timeout=30).enqueue(probe, 0.1, label=1).result(timeout=10) == 1


def test_a_thread_that_only_was_asked_to_end_is_interrupted_at_its_timeout(fleet: Fleet) -> None:
    """A request that a task does not look at must not cost the worker its process."""
    worker = fleet.start(app=WORKSHOP, visibility_timeout=1, stop_grace=2)
    job = fleet.app.options(timeout=2.5).enqueue(loops, 60)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    assert job.cancel() is CancelOutcome.STOP_REQUESTED
    wait_for(lambda: job.status().is_end, what="its end", timeout=10)
    assert job.status() is JobState.CANCELLED
    assert fleet.noted("interrupted", job.id)
    assert worker.log.count(" serves ") == 1


def test_a_thread_that_was_asked_to_end_and_cannot_be_interrupted_is_given_up_after_the_grace(
    fleet: Fleet,
) -> None:
    worker = fleet.start(app=WORKSHOP, visibility_timeout=1, stop_grace=0.3)
    job = fleet.app.options(timeout=1.5).enqueue(stubborn, 60)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    job.cancel()
    wait_for(lambda: worker.log.count(" serves ") == 2, what="it starts anew", timeout=15)
    assert job.status() is JobState.CANCELLED
