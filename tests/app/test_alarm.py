"""Whether a job raises its alarm is one rule: for the job, for a listing, and for the counts of its queue."""

from __future__ import annotations

from redisched.app.inspection import job_info
from redisched.core.ids import public_id
from redisched.core.record import Finish
from redisched.store.operations.jobs import list_jobs
from tests.store.conftest import queue as queue  # noqa: PLC0414 - a fixture
from tests.store.queue import Queue, new_job


def alarms(queue: Queue, short: str) -> tuple[bool, bool, int]:
    """As told by a look at the job, by the listing of where it waits, and by the counts."""
    look = queue.look(short)
    ((_, row),) = queue.do(list_jobs(queue.keyspace, "unclaimed")).rows
    job_id = public_id(queue.keyspace.queue, short)
    return job_info(job_id, look).alarm, job_info(job_id, row).alarm, queue.status().alarms


def test_a_job_due_long_ago_has_its_whole_time_to_be_claimed(queue: Queue) -> None:
    """The time counts from when it could be claimed first."""
    queue.enqueue(new_job("a", at_ms=queue.now_ms - 1_000, unclaimed_ms=50))
    assert alarms(queue, "a") == (False, False, 0)
    queue.pass_ms(50)
    assert alarms(queue, "a") == (True, True, 1)


def test_a_job_handed_back_has_its_whole_time_again(queue: Queue) -> None:
    queue.enqueue(new_job("a", unclaimed_ms=50))
    claimed = queue.claim_one()
    queue.pass_ms(49)
    queue.finish(claimed, Finish.RELEASE)
    queue.pass_ms(49)
    assert alarms(queue, "a") == (False, False, 0)
    queue.pass_ms(1)
    assert alarms(queue, "a") == (True, True, 1)


def test_a_due_job_that_no_worker_has_made_ready_raises_its_alarm(queue: Queue) -> None:
    """No worker at all is what the alarm is for."""
    queue.enqueue(new_job("a", delay_ms=50, unclaimed_ms=5))
    queue.pass_ms(55)
    assert alarms(queue, "a") == (True, True, 1)
