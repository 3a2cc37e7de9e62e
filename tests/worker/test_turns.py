"""Turns that do not get through, and queues and kinds of jobs that must not stand in each other's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from redisched import JobDeadError, JobState
from tests.apps.probe import noop, probe, probe_process, probe_thread
from tests.apps.trouble import APP, blocks_the_loop
from tests.conftest import ServerFactory
from tests.fleet import Fleet
from tests.processes import Processes
from tests.waiting import wait_for


@pytest.fixture
def breakable(fresh_server: ServerFactory, processes: Processes, tmp_path: Path) -> Fleet:
    """Workers on a server that the test may end."""
    return Fleet(fresh_server(), processes, tmp_path)


def test_words_of_a_later_queue_do_not_wait_for_an_earlier_one(fleet: Fleet) -> None:
    """A finished job of `low` is not run again because `high` has work for longer than a lease."""
    low, high = (fleet.app.options(queue=name) for name in ("low", "high"))
    fleet.start(queues=["high", "low"], visibility_timeout=1, concurrency=4)
    job = low.enqueue(probe, 0.3)
    wait_for(lambda: fleet.starts(job.id), what="the job of the low queue starts")
    fleet.start(queues=["low"], visibility_timeout=1)
    for _ in range(10):
        high.enqueue_many([noop.call() for _ in range(2_000)])
    job.result(timeout=10)
    assert (len(fleet.starts(job.id)), job.info().deliveries) == (1, 1)
    wait_for(lambda: not fleet.server.client().llen("rs:{test:high}:ready:1"), what="all done", timeout=30)


@pytest.mark.parametrize("signals", [1, 2])
def test_a_worker_ends_when_told_to_though_its_server_is_gone(breakable: Fleet, signals: int) -> None:
    worker = breakable.start(shutdown_grace=1)
    breakable.server.kill()
    wait_for(lambda: "did not get through" in worker.log or signals == 1, what="a turn fails", timeout=10)
    for _ in range(signals):
        worker.terminate()
    assert worker.process.wait(12) in {0, 1}


def test_a_queue_with_a_foreign_key_keeps_no_other_queue_waiting(fleet: Fleet) -> None:
    with fleet.server.client() as client:
        client.set("rs:{test:bad}:scheduled", "foreign")
        worker = fleet.start(queues=["bad", "good"])
        job = fleet.app.options(queue="good").enqueue(probe, label="x")
        assert job.result(timeout=5) == "x"
        assert "bad" in worker.log
        client.delete("rs:{test:bad}:scheduled")
    job = fleet.app.options(queue="bad").enqueue(probe, label="y")
    assert job.result(timeout=10) == "y"
    assert worker.end() == 0


def test_long_jobs_of_one_kind_keep_no_other_kind_waiting(fleet: Fleet) -> None:
    """All process slots are busy; coroutines and threads have room."""
    fleet.start()
    slow = [fleet.app.enqueue(probe_process, 6) for _ in range(12)]
    wait_for(fleet.starts, what="a process job runs")
    quick = [fleet.app.enqueue(task, label=n) for n, task in enumerate([probe, probe_thread] * 5)]
    assert [job.result(timeout=5) for job in quick] == list(range(10))
    assert sum(job.status() is JobState.SUCCEEDED for job in slow) == 0
    for job in slow:
        job.cancel()


def test_a_burst_waits_for_what_it_has_put_aside(fleet: Fleet) -> None:
    """More process jobs than process slots, in an application that has other kinds, too."""
    jobs = [fleet.app.enqueue(probe_process, 0.3) for _ in range(8)]
    worker = fleet.start(burst=True)
    assert worker.process.wait(30) == 0
    assert [job.status() for job in jobs] == [JobState.SUCCEEDED] * 8


def test_a_worker_that_cannot_start_what_is_ready_does_not_spin(fleet: Fleet) -> None:
    """Process slots are full and many process jobs wait: it looks a few times a second, not a hundred."""
    fleet.app.enqueue_many([probe_process.call(30) for _ in range(300)])
    fleet.start()
    wait_for(lambda: len(fleet.starts()) >= 2, what="the process slots are full")
    with fleet.server.client() as client:
        before = client.info("commandstats")["cmdstat_evalsha"]["calls"]
        quick = fleet.app.enqueue(probe, label="x")
        quick.result(timeout=15)
        spent = client.info("commandstats")["cmdstat_evalsha"]["calls"] - before
        created = quick.info().created_at
    assert created is not None
    seconds = fleet.starts(quick.id)[0].at_ms / 1000 - created.timestamp()
    assert spent < 60 + 60 * seconds


def test_jobs_claimed_after_an_outage_longer_than_a_lease_start_once(breakable: Fleet) -> None:
    """Their leases count from the turn that claimed them, not from the first that did not get through."""
    worker = breakable.start(visibility_timeout=1)
    breakable.server.stop()
    wait_for(lambda: "did not get through" in worker.log, what="a turn fails", timeout=15)
    wait_for(lambda: worker.log.count("did not get through") >= 3, what="longer than a lease", timeout=15)
    breakable.server.cont()
    jobs = breakable.app.enqueue_many([probe.call(0.6) for _ in range(8)])
    for job in jobs:
        job.result(timeout=15)
    assert set(breakable.start_counts().values()) == {1}


def test_what_had_ended_before_the_loop_was_blocked_is_not_run_again(fleet: Fleet) -> None:
    """A thread's job ends while a coroutine blocks the loop: its word is among the last ones."""
    worker = fleet.start(app=APP, visibility_timeout=2, stop_grace=0.5)
    ends = fleet.app.enqueue(probe_thread, 1.0, label="kept")
    wait_for(lambda: fleet.starts(ends.id), what="the thread's job runs")
    with pytest.raises(JobDeadError):
        fleet.app.enqueue(blocks_the_loop, 60).result(timeout=10)
    assert ends.result(timeout=10) == "kept"
    assert (len(fleet.starts(ends.id)), ends.info().deliveries) == (1, 1)
    assert worker.alive
