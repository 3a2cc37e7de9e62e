"""cancel: a waiting job ends; a running one is asked to stop."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redisched.core.record import Finish, Flags, Status
from redisched.core.states import CancelOutcome, JobState
from redisched.store.operations.jobs import cancel
from tests.store.queue import NOON, Queue, new_job


def cancelled(queue: Queue, short: str, retention: timedelta = timedelta(hours=1)) -> CancelOutcome:
    return queue.do(cancel(queue.keyspace, short, retention))


@pytest.mark.parametrize("delay_ms", [0, 1_000])
def test_a_waiting_job_ends(queue: Queue, delay_ms: int) -> None:
    queue.enqueue(new_job("a", delay_ms=delay_ms, unique="key", unclaimed_ms=10))
    assert cancelled(queue, "a") is CancelOutcome.CANCELLED
    record = queue.record("a")
    assert (record.status, record.reason, record.ended) == (Status.CANCELLED, "cancelled", NOON)
    assert queue.unique_holder("key") is None
    assert queue.zset("ended") == {b"a": NOON + 3_600_000}
    queue.pass_ms(1_000)
    assert queue.claim(1) == []
    assert queue.counter("cancelled") == 1


def test_a_job_without_a_state_of_its_own_ends_too(queue: Queue) -> None:
    queue.enqueue("a")
    assert cancelled(queue, "a") is CancelOutcome.CANCELLED
    assert queue.look("a").state is JobState.CANCELLED


def test_a_running_job_is_asked_to_stop(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    claimed = queue.claim_one()
    assert [cancelled(queue, "a") for _ in range(2)] == [CancelOutcome.STOP_REQUESTED] * 2
    record = queue.record("a")
    assert (record.status, record.version, record.flags) == (
        Status.PROCESSING,
        claimed.version,
        Flags.STOP,
    )
    assert queue.unique_holder("key") == "a"


def test_an_ended_job_stays_as_it_ended(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.SUCCEEDED, outcome=b"out")
    assert cancelled(queue, "a") is CancelOutcome.ALREADY_ENDED
    assert (queue.record("a").status, queue.record("a").outcome) == (Status.SUCCEEDED, b"out")


@pytest.mark.parametrize("short", ["nobody", "", "x" * 1_000, "\0"])
def test_an_unknown_job_is_not_found(queue: Queue, short: str) -> None:
    assert cancelled(queue, short) is CancelOutcome.NOT_FOUND


def test_a_pruned_job_is_not_found(queue: Queue) -> None:
    queue.enqueue(new_job("a", retention_ms=0))
    queue.finish(queue.claim_one(), Finish.SUCCEEDED)
    assert cancelled(queue, "a") is CancelOutcome.NOT_FOUND


def test_a_retry_that_waits_can_be_cancelled_and_keeps_its_history(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.RETRY, delay_ms=100, outcome=b"first attempt")
    assert cancelled(queue, "a") is CancelOutcome.CANCELLED
    assert (queue.record("a").outcome, queue.record("a").attempts) == (b"first attempt", 1)
    assert queue.zset("scheduled") == {}


def test_the_jobs_own_retention_holds(queue: Queue) -> None:
    queue.enqueue(new_job("a", retention_ms=5))
    cancelled(queue, "a")
    assert queue.zset("ended") == {b"a": NOON + 5}


def test_a_cancelled_job_in_a_ready_list_is_not_counted_as_ready(queue: Queue) -> None:
    queue.enqueue("a", "b")
    cancelled(queue, "a")
    assert (queue.status().ready, queue.ready()) == (1, ["a", "b"])


def test_a_corrupt_job_is_left_to_be_quarantined(queue: Queue) -> None:
    queue.enqueue("a")
    queue.redis.hset(queue.key("jobs"), "a", b"torn body")
    assert cancelled(queue, "a") is CancelOutcome.NOT_FOUND
    queue.turn(1)
    assert queue.record("a").status is Status.DEAD
