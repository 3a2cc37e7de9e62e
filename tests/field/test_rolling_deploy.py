"""F70: during a rolling deploy, old workers meet jobs of new code."""

from __future__ import annotations

from typing import Final

import pytest

from redisched.core.errors import JobDeadError
from redisched.core.states import JobState
from tests.apps.probe import probe
from tests.apps.workshop import facts
from tests.field.census import counter, queue_status
from tests.fleet import Fleet
from tests.waiting import wait_for

NEW: Final = "tests.apps.workshop:app"
"""An application that knows `facts`; the default one of the fleet does not."""


def test_f70_a_job_of_new_code_waits_for_a_worker_that_knows_it(fleet: Fleet) -> None:
    """Old workers put it back, visibly, without using an attempt, until a new one takes it."""
    old = [fleet.start(unknown_task_delay=0.2) for _ in range(2)]
    job = fleet.app.enqueue(facts)
    wait_for(lambda: counter(fleet, "deferred") >= 3, what="old workers put it back", timeout=10)
    info = job.info()
    assert info.state in {JobState.SCHEDULED, JobState.READY, JobState.PROCESSING}
    assert info.reason == f"unknown task {facts.name}"
    assert (info.attempts, info.history) == (0, ())
    new = fleet.start(app=NEW)
    found = job.result(timeout=20)
    assert isinstance(found, dict)
    assert (found["attempt"], found["delivery"]) == (1, 1)
    assert job.info().reason == ""
    assert all(worker.alive for worker in [*old, new])
    assert any(f"unknown task {facts.name}" in worker.log for worker in old)


def test_f70_a_job_that_no_worker_ever_knows_is_dead_after_its_time(fleet: Fleet) -> None:
    """Counted with the dead letters and told; it may be retried once its code is there."""
    old = fleet.start(unknown_task_delay=0.2, unknown_task_ttl=1)
    job = fleet.app.enqueue(facts)
    with pytest.raises(JobDeadError, match=f"unknown task {facts.name}"):
        job.result(timeout=10)
    info = job.info()
    assert info.ended_at is not None
    assert info.due_at is not None
    assert (info.ended_at - info.due_at).total_seconds() >= 1
    assert queue_status(fleet).dead == 1
    old.end()
    job.retry()
    fleet.start(app=NEW, unknown_task_ttl=1)
    assert isinstance(job.result(timeout=20), dict)


def test_f70_jobs_that_are_known_run_meanwhile(fleet: Fleet) -> None:
    """A hundred unknown ones take no slot from them."""
    fleet.app.enqueue_many([facts.call() for _ in range(100)])
    fleet.start(concurrency=1, unknown_task_delay=30)
    assert fleet.app.enqueue(probe, label="known").result(timeout=5) == "known"
