"""reschedule: a waiting job gets another run time."""

from __future__ import annotations

import pytest

from redisched.core.record import Finish
from redisched.core.states import JobState, RescheduleOutcome
from redisched.store.operations.jobs import cancel, reschedule
from tests.store.queue import NOON, Queue, new_job

Outcome = RescheduleOutcome


def moved(queue: Queue, short: str, at_ms: int | None = None, delay_ms: int = 0) -> RescheduleOutcome:
    return queue.do(reschedule(queue.keyspace, short, at_ms=at_ms, delay_ms=delay_ms))


@pytest.mark.parametrize("from_ms", [0, 500])
@pytest.mark.parametrize("to_ms", [0, 100, 900])
def test_a_waiting_job_runs_at_its_new_time_only(queue: Queue, from_ms: int, to_ms: int) -> None:
    queue.enqueue(new_job("a", b"the same", delay_ms=from_ms, unique="key", unclaimed_ms=5))
    assert moved(queue, "a", delay_ms=to_ms) is Outcome.RESCHEDULED
    assert queue.zset("unclaimed") == {b"a": NOON + to_ms + 5}
    if to_ms:
        queue.pass_ms(to_ms - 1)
        assert queue.claim(1) == []
        queue.pass_ms(1)
    claimed = queue.claim_one()
    assert (claimed.due_ms, claimed.body) == (NOON + to_ms, b"the same")
    queue.finish(claimed, Finish.SUCCEEDED)
    queue.pass_ms(2_000)
    assert queue.claim(5) == []


def test_by_time_and_by_delay_are_the_same(queue: Queue) -> None:
    queue.enqueue("a", "b")
    moved(queue, "a", at_ms=NOON + 70)
    moved(queue, "b", delay_ms=70)
    assert [queue.look(short).run_at_ms for short in "ab"] == [NOON + 70] * 2


def test_a_time_that_has_passed_is_now(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=100))
    moved(queue, "a", at_ms=NOON - 100)
    assert queue.look("a").state is JobState.READY
    assert queue.claim_one().due_ms == NOON - 100


def test_the_end_of_the_year_9999(queue: Queue) -> None:
    queue.enqueue("a")
    moved(queue, "a", at_ms=253_402_300_799_999)
    assert queue.look("a").run_at_ms == 253_402_300_799_999


def test_the_same_time_again_changes_nothing_to_be_seen(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=100))
    for _ in range(3):
        assert moved(queue, "a", at_ms=NOON + 100) is Outcome.RESCHEDULED
    assert len(queue.zset("scheduled")) == 1


def test_a_running_job_is_not_moved(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    assert moved(queue, "a", delay_ms=5) is Outcome.ALREADY_STARTED
    assert queue.finish(claimed, Finish.SUCCEEDED).refused == ()


def test_an_ended_job_is_not_moved(queue: Queue) -> None:
    queue.enqueue("a")
    queue.do(cancel(queue.keyspace, "a"))
    assert moved(queue, "a") is Outcome.ALREADY_ENDED


def test_an_unknown_job_is_not_found(queue: Queue) -> None:
    assert moved(queue, "nobody") is Outcome.NOT_FOUND


def test_a_retry_that_waits_can_be_brought_forward(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.RETRY, delay_ms=60_000, outcome=b"first")
    moved(queue, "a")
    again = queue.claim_one()
    assert (again.attempts, again.outcome) == (1, b"first")


def test_expiry_goes_with_the_new_time(queue: Queue) -> None:
    queue.enqueue(new_job("a", expires_ms=50))
    moved(queue, "a", delay_ms=1_000)
    queue.pass_ms(1_050)
    assert queue.claim_one().id == "a"
