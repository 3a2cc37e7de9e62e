"""redisched in ten short steps; each is one idea, and all of it really happens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from redisched import CancelOutcome, Cron, JobDeadError, JobState, PayloadError, RescheduleOutcome
from tests.apps.probe import app, fails_until, probe
from tests.fleet import Fleet


def test_1_a_task_is_a_function_and_can_be_called_as_one() -> None:
    assert app.tasks["tests.apps.probe.probe"] is probe


def test_2_a_job_is_one_call_of_it_and_waits_until_a_worker_comes(fleet: Fleet) -> None:
    job = fleet.app.enqueue(probe, label="first")
    assert job.status() is JobState.READY
    fleet.start()
    assert job.result(timeout=10) == "first"
    assert job.status() is JobState.SUCCEEDED


def test_3_a_job_can_be_for_later(fleet: Fleet) -> None:
    job = fleet.app.enqueue_in(timedelta(minutes=10), probe)
    assert job.status() is JobState.SCHEDULED
    assert job.cancel() is CancelOutcome.CANCELLED


def test_4_or_for_an_instant_and_that_can_be_changed(fleet: Fleet) -> None:
    job = fleet.app.enqueue_at(datetime(2030, 1, 1, tzinfo=UTC), probe)
    assert job.reschedule("2031-01-01T00:00Z") is RescheduleOutcome.RESCHEDULED
    assert job.info().due_at == datetime(2031, 1, 1, tzinfo=UTC)
    job.cancel()


def test_5_the_same_id_is_the_same_job(fleet: Fleet) -> None:
    first = fleet.app.options(job_id="invoice-42").enqueue_in("1h", probe)
    again = fleet.app.options(job_id="invoice-42").enqueue_in("1h", probe)
    assert (first.created, again.created, again.id) == (True, False, first.id)
    first.cancel()


def test_6_a_unique_key_is_held_until_its_job_ends(fleet: Fleet) -> None:
    holder = fleet.app.options(unique="report").enqueue_in("1h", probe)
    assert fleet.app.options(unique="report").enqueue(probe).id == holder.id
    holder.cancel()
    assert fleet.app.options(unique="report").enqueue_in("1h", probe).created


def test_7_a_failure_is_tried_again(fleet: Fleet) -> None:
    fleet.start()
    assert fleet.app.enqueue(fails_until, 2).result(timeout=10) == 2


def test_8_until_it_is_dead_and_a_dead_job_can_be_run_again(fleet: Fleet) -> None:
    fleet.start()
    job = fleet.app.enqueue(fails_until, 99)
    with pytest.raises(JobDeadError, match="attempt 5 fails"):
        job.result(timeout=20)
    assert "ValueError" in (job.info().traceback or "")
    job.retry()
    assert job.status() is not JobState.DEAD


def test_9_what_cannot_be_carried_is_refused_at_the_call(fleet: Fleet) -> None:
    with pytest.raises(PayloadError, match="label"):
        fleet.app.enqueue(probe, label=object())


def test_10_a_schedule_makes_a_job_for_each_of_its_slots(fleet: Fleet) -> None:
    fleet.app.schedules.upsert("weekly", probe.call(), Cron("0 9 * * MON", tz="Europe/London"))
    first, second = fleet.app.schedules.next("weekly", 2)
    assert timedelta(days=6, hours=22) < second - first < timedelta(days=7, hours=2)
