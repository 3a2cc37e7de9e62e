"""Workers that end by themselves: in burst mode, and after a number of jobs."""

from __future__ import annotations

from redisched.core.states import JobState
from tests.apps.probe import probe
from tests.apps.workshop import enqueues
from tests.fleet import Fleet
from tests.worker.watching import WORKSHOP, queue_report


def test_a_burst_ends_with_exit_code_0_when_nothing_is_left_to_do_now(fleet: Fleet) -> None:
    jobs = fleet.app.enqueue_many([probe.call(0.05, n) for n in range(20)])
    later = fleet.app.enqueue_in(60, probe)
    worker = fleet.start(burst=True, concurrency=4, ready=False)
    assert worker.process.wait(20) == 0
    assert {job.status() for job in jobs} == {JobState.SUCCEEDED}
    assert later.status() is JobState.SCHEDULED


def test_a_burst_over_nothing_ends_at_once(fleet: Fleet) -> None:
    assert fleet.start(burst=True, queues=["a", "b"], ready=False).process.wait(20) == 0


def test_a_burst_serves_all_its_queues(fleet: Fleet) -> None:
    jobs = [fleet.app.options(queue=queue).enqueue(probe) for queue in ("a", "b", "a", "b")]
    assert fleet.start(burst=True, queues=["a", "b"], ready=False).process.wait(20) == 0
    assert {job.status() for job in jobs} == {JobState.SUCCEEDED}


def test_a_burst_does_what_its_jobs_enqueue(fleet: Fleet) -> None:
    """What is there when the first job ends is work to do now."""
    job = fleet.app.enqueue(enqueues, "tests.apps.workshop.enqueues", "x")
    worker = fleet.start(app=WORKSHOP, burst=True, concurrency=1, ready=False)
    assert worker.process.wait(20) == 0
    child = fleet.app.job(str(job.result(timeout=5)))
    assert child.status().is_end


def test_a_burst_leaves_a_paused_queue_alone(fleet: Fleet) -> None:
    job = fleet.app.enqueue(probe)
    fleet.app.pause()
    assert fleet.start(burst=True, ready=False).process.wait(20) == 0
    assert job.status() is JobState.READY
    fleet.app.resume()


def test_a_worker_ends_after_about_its_number_of_jobs(fleet: Fleet) -> None:
    """It hands back what it claimed beyond that: nothing is lost, nothing is counted."""
    fleet.app.enqueue_many([probe.call(0.02) for _ in range(30)])
    assert fleet.start(max_jobs=5, concurrency=1, ready=False).process.wait(20) == 0
    left = queue_report(fleet)
    assert 5 <= left.ended <= 15
    assert left.ended + left.ready == 30
    assert left.processing == 0
