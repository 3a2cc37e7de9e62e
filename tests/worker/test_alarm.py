"""A job that nobody claims in time raises an alarm, also where no worker is up to notice."""

from __future__ import annotations

from redisched.core.states import JobState
from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import queue_report


def test_an_unclaimed_job_raises_an_alarm_without_any_worker(fleet: Fleet) -> None:
    """On the job itself and in the counts of its queue."""
    job = fleet.app.options(unclaimed_timeout=0.3).enqueue(probe)
    quiet = fleet.app.enqueue(probe)
    assert not job.info().alarm
    wait_for(lambda: job.info().alarm, what="the alarm")
    assert queue_report(fleet).alarms == 1
    assert not quiet.info().alarm
    assert job.status() is JobState.READY


def test_the_alarm_ends_when_the_job_is_claimed(fleet: Fleet) -> None:
    """It is not a failure: the job runs as usual."""
    job = fleet.app.options(unclaimed_timeout=0.05).enqueue(probe, label="late")
    wait_for(lambda: queue_report(fleet).alarms == 1, what="the alarm")
    fleet.start()
    assert job.result(timeout=10) == "late"
    assert not job.info().alarm
    assert queue_report(fleet).alarms == 0


def test_a_delayed_job_is_not_late_before_it_is_due(fleet: Fleet) -> None:
    """The time to be claimed in counts from its due time."""
    job = fleet.app.options(unclaimed_timeout=0.05).enqueue_in(60, probe)
    overdue = fleet.app.options(unclaimed_timeout=0.05).enqueue(probe)
    wait_for(lambda: overdue.info().alarm, what="the alarm of the other")
    assert not job.info().alarm
    assert queue_report(fleet).alarms == 1


def test_a_cancelled_job_raises_no_alarm(fleet: Fleet) -> None:
    job = fleet.app.options(unclaimed_timeout=0.05).enqueue(probe)
    wait_for(lambda: job.info().alarm, what="the alarm")
    job.cancel()
    assert not job.info().alarm
    assert queue_report(fleet).alarms == 0
