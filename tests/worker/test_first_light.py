"""A job for now, for later, for a date: each runs once, at its time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.apps.probe import fails_until, probe, probe_process, probe_thread
from tests.fleet import Fleet


def test_jobs_of_every_kind_run_and_return(fleet: Fleet) -> None:
    """Coroutine, thread, process: the result comes back."""
    fleet.start()
    jobs = [fleet.app.enqueue(task, label=n) for n, task in enumerate([probe, probe_thread, probe_process])]
    assert [job.result(timeout=10) for job in jobs] == [0, 1, 2]


def test_a_delayed_job_starts_at_its_time_and_never_before(fleet: Fleet) -> None:
    fleet.start()
    job = fleet.app.enqueue_in(0.3, probe)
    job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    assert 0 <= start.at_ms - start.due_ms < 500


def test_a_job_for_an_instant_starts_at_that_instant(fleet: Fleet) -> None:
    fleet.start()
    when = datetime.now(UTC) + timedelta(milliseconds=250)
    job = fleet.app.enqueue_at(when, probe)
    job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    assert start.at_ms / 1000 >= when.timestamp()


def test_a_failing_job_is_tried_again_until_it_succeeds(fleet: Fleet) -> None:
    fleet.start()
    job = fleet.app.enqueue(fails_until, 3)
    assert job.result(timeout=10) == 3
    assert [x.facts["attempt"] for x in fleet.starts(job.id)] == [1, 2, 3]


def test_a_worker_ends_cleanly_and_leaves_no_lease(fleet: Fleet) -> None:
    worker = fleet.start()
    fleet.app.enqueue(probe).result(timeout=10)
    assert worker.end() == 0
    with fleet.server.client() as client:
        assert client.zcard("rs:{test:default}:processing") == 0
        assert client.hlen("rs:{test:default}:turns") == 0
