"""A paused queue hands out nothing; what runs goes on."""

from __future__ import annotations

from pathlib import Path

from redisched.core.states import JobState
from tests.apps.probe import probe, waits_for_file
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import queue_report


def test_a_paused_queue_hands_out_no_job_until_it_is_resumed(fleet: Fleet) -> None:
    """The worker goes on serving its other queue meanwhile."""
    fleet.start(queues=["default", "other"])
    assert fleet.app.pause()
    waiting = fleet.app.enqueue(probe, label="waits")
    for _ in range(3):
        fleet.app.options(queue="other").enqueue(probe).result(timeout=10)
    assert waiting.status() is JobState.READY
    assert queue_report(fleet).paused
    assert fleet.app.resume()
    assert waiting.result(timeout=10) == "waits"


def test_resuming_wakes_an_idle_worker(fleet: Fleet) -> None:
    """Well before its longest idle wait is over."""
    fleet.start(longest_wait=5)
    fleet.app.pause()
    job = fleet.app.enqueue(probe)
    fleet.app.resume()
    job.result(timeout=3)


def test_a_job_that_runs_when_its_queue_is_paused_ends_as_usual(fleet: Fleet, tmp_path: Path) -> None:
    fleet.start()
    file = tmp_path / "go"
    job = fleet.app.enqueue(waits_for_file, str(file))
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    fleet.app.pause()
    file.touch()
    assert job.result(timeout=10) == str(file)
    fleet.app.resume()


def test_a_delayed_job_falls_due_in_a_paused_queue_and_waits(fleet: Fleet) -> None:
    """Due is not started: it is ready, and starts after the pause."""
    fleet.start(queues=["default", "other"])
    fleet.app.pause()
    job = fleet.app.enqueue_in(0.1, probe)
    wait_for(lambda: job.status() is JobState.READY, what="it falls due")
    fleet.app.options(queue="other").enqueue(probe).result(timeout=10)
    assert not fleet.starts(job.id)
    fleet.app.resume()
    job.result(timeout=10)


def test_pausing_twice_changes_nothing_the_second_time(fleet: Fleet) -> None:
    assert [fleet.app.pause(), fleet.app.pause()] == [True, False]
    assert [fleet.app.resume(), fleet.app.resume()] == [True, False]
