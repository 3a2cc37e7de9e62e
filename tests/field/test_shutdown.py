"""Field cases about ending a worker: in time, with everything handed back, whatever its jobs raise."""

from __future__ import annotations

import signal
import time

import pytest

from redisched.app.task import Task
from redisched.core.errors import JobDeadError
from redisched.core.states import JobState
from tests.apps.probe import probe, probe_process, probe_thread
from tests.apps.trouble import (
    APP,
    ESCAPES,
    lingers,
    pid_after,
    raises,
    raises_in_process,
    raises_in_subtask,
    raises_in_thread,
    stubborn_coroutine,
)
from tests.field.census import queue_status
from tests.fleet import Fleet
from tests.waiting import wait_for


@pytest.mark.parametrize("task", [probe, probe_thread, probe_process], ids=lambda t: t.name)
def test_f71_what_outlasts_the_grace_runs_elsewhere_at_once(
    fleet: Fleet, task: Task[[float, object], object]
) -> None:
    """A long lease is no reason to wait: it is handed back, uncounted, and the exit code is 0."""
    first = fleet.start(visibility_timeout=300, shutdown_grace=1)
    job = fleet.app.enqueue(task, 60, None)
    wait_for(lambda: fleet.starts(job.id), what="the job starts", timeout=10)
    fleet.start(visibility_timeout=300)
    told = time.time()
    assert first.end() == 0
    wait_for(lambda: len(fleet.starts(job.id)) == 2, what="the other worker starts it", timeout=10)
    second = fleet.starts(job.id)[1]
    assert 1 <= second.at_ms / 1000 - told <= 1 + 5
    assert second.delivery == 1
    assert (job.info().attempts, job.status()) == (0, JobState.PROCESSING)


def test_what_ends_within_the_grace_ends_here(fleet: Fleet) -> None:
    """SIGTERM ends claiming at once and lets what runs end: nothing is handed back."""
    worker = fleet.start()
    running = fleet.app.enqueue(probe, 1, label="here")
    wait_for(lambda: fleet.starts(running.id), what="the job starts")
    worker.terminate()
    wait_for(lambda: "claiming nothing more" in worker.log, what="it has heard")
    later = fleet.app.enqueue(probe)
    assert worker.process.wait(10) == 0
    assert running.result(timeout=1) == "here"
    assert later.status() is JobState.READY
    assert queue_status(fleet).processing == 0


def test_a_second_sigterm_ends_the_worker_at_once_and_loses_nothing(fleet: Fleet) -> None:
    """Coroutine, thread and child in hand, and 30 s of grace: it does not wait, and all are handed back."""
    worker = fleet.start(shutdown_grace=30, visibility_timeout=300)
    jobs = [fleet.app.enqueue(task, 60) for task in (probe, probe_thread, probe_process)]
    wait_for(lambda: len(fleet.starts()) == 3, what="all run", timeout=10)
    worker.terminate()
    wait_for(lambda: "claiming nothing more" in worker.log, what="it has heard the first")
    assert worker.alive
    told = time.monotonic()
    assert worker.end() == 0
    assert time.monotonic() - told < 5
    assert {job.status() for job in jobs} == {JobState.READY}
    assert [job.info().deliveries for job in jobs] == [0, 0, 0]
    assert queue_status(fleet).processing == 0


@pytest.mark.parametrize("kind", ESCAPES)
def test_f72_what_a_job_raises_ends_only_that_job(fleet: Fleet, kind: str) -> None:
    """From a coroutine, its subtask, a thread and a child: that job is dead, its sibling and worker live."""
    worker = fleet.start(app=APP)
    sibling = fleet.app.enqueue(pid_after, 1)
    wait_for(lambda: fleet.starts(sibling.id), what="the sibling runs")
    tasks = (raises, raises_in_subtask, raises_in_thread, raises_in_process)
    for job in [fleet.app.enqueue(task, kind) for task in tasks]:
        with pytest.raises(JobDeadError, match=kind):
            job.result(timeout=10)
        assert (job.info().attempts, job.info().deliveries) == (1, 1)
    assert sibling.result(timeout=10) == worker.pid
    assert worker.end() == 0
    assert queue_status(fleet).processing == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_f72_ctrl_c_hands_back_what_runs_and_closes_cleanly(fleet: Fleet, number: signal.Signals) -> None:
    """One job awaits, one takes a second longer to be cancelled: both go back, no trace, no lease."""
    worker = fleet.start(app=APP, shutdown_grace=0.5, stop_grace=3)
    jobs = [fleet.app.enqueue(probe, 60), fleet.app.enqueue(lingers, 60, 0.7)]
    wait_for(lambda: len(fleet.starts()) == 2, what="both run")
    worker.process.send_signal(number)
    assert worker.process.wait(10) == 0
    assert "Traceback" not in worker.log
    assert jobs[0].status() is JobState.READY
    assert jobs[1].result(timeout=1) == "lingered"
    assert queue_status(fleet).processing == 0
    with fleet.server.client() as client:
        assert client.hlen("rs:{test:default}:turns") == 0


def test_f72_a_coroutine_that_swallows_its_cancellation_does_not_hold_up_the_end(fleet: Fleet) -> None:
    """It is handed back and left behind: the process ends, with exit code 0."""
    worker = fleet.start(app=APP, shutdown_grace=0.2)
    job = fleet.app.options(timeout=60).enqueue(stubborn_coroutine)
    wait_for(lambda: fleet.starts(job.id), what="it runs")
    assert worker.end(timeout=10) == 0
    assert (job.status(), job.info().deliveries) == (JobState.READY, 0)


def test_a_worker_told_to_end_while_it_starts_anew_ends(fleet: Fleet) -> None:
    """A stuck run makes the process start anew once its neighbour has ended; SIGTERM comes meanwhile."""
    worker = fleet.start(app=APP, stop_grace=0.3, shutdown_grace=20)
    neighbour = fleet.app.enqueue(pid_after, 3)
    stuck = fleet.app.enqueue(stubborn_coroutine)
    with pytest.raises(JobDeadError):
        stuck.result(timeout=10)
    wait_for(lambda: "this process starts anew" in worker.log, what="it is about to start anew")
    assert neighbour.status() is JobState.PROCESSING
    assert worker.end() == 0
    assert neighbour.result(timeout=1) == worker.pid
