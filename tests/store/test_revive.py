"""revive: an ended job runs again, as if it never had."""

from __future__ import annotations

import pytest

from redisched.core.record import Finish, Status
from redisched.core.states import ReviveOutcome
from redisched.store.operations.jobs import Revived, revive
from tests.store.queue import NOON, Queue, new_job


def revived(queue: Queue, short: str) -> Revived:
    return queue.do(revive(queue.keyspace, short))


@pytest.mark.parametrize("kind", [Finish.SUCCEEDED, Finish.DEAD, Finish.CANCELLED])
def test_an_ended_job_runs_again_counted_anew(queue: Queue, kind: Finish) -> None:
    queue.enqueue(new_job("a", unique="key", unclaimed_ms=5))
    old = queue.claim_one()
    queue.finish(old, kind, outcome=b"history")
    queue.pass_ms(1_000)
    assert revived(queue, "a") == Revived(ReviveOutcome.REVIVED)
    record = queue.record("a")
    assert (record.status, record.attempts, record.deliveries, record.flags) == (Status.WAITING, 0, 0, 0)
    assert (record.due, record.ended, record.outcome) == (NOON + 1_000, 0, b"history")
    assert queue.unique_holder("key") == "a"
    assert (queue.zset("ended"), queue.zset("dead")) == ({}, {})
    new = queue.claim_one()
    assert new.version > old.version
    assert queue.finish(old, Finish.SUCCEEDED).refused == ("a",)


def test_an_expired_job_runs_when_it_is_revived(queue: Queue) -> None:
    queue.enqueue(new_job("a", expires_ms=5))
    queue.pass_ms(6)
    assert queue.claim(1) == []
    revived(queue, "a")
    assert queue.claim_one().id == "a"


def test_a_poison_job_has_all_its_deliveries_again(queue: Queue) -> None:
    queue.enqueue("a")
    queue.claim_one()
    queue.pass_ms(10_000)
    for _ in range(2):
        queue.finish(queue.claim_one(), Finish.LOST)
    assert queue.record("a").status is Status.DEAD
    assert revived(queue, "a").outcome is ReviveOutcome.REVIVED
    claimed = queue.claim_one()
    assert (claimed.deliveries, claimed.suspect) == (1, False)


def test_a_unique_key_held_by_another_is_told(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    queue.finish(queue.claim_one(), Finish.DEAD)
    queue.enqueue(new_job("größe\0", unique="key"))
    assert revived(queue, "a") == Revived(ReviveOutcome.UNIQUE_KEY_HELD, "größe\0")
    assert queue.record("a").status is Status.DEAD
    assert queue.unique_holder("key") == "größe\0"


def test_a_job_that_has_not_ended_is_left_alone(queue: Queue) -> None:
    queue.enqueue("waits", "runs")
    queue.claim(1)
    assert [revived(queue, short).outcome for short in ("waits", "runs")] == [ReviveOutcome.NOT_ENDED] * 2


def test_an_unknown_or_pruned_job_is_not_found(queue: Queue) -> None:
    queue.enqueue(new_job("a", retention_ms=0))
    queue.finish(queue.claim_one(), Finish.SUCCEEDED)
    assert [revived(queue, short).outcome for short in ("nobody", "a")] == [ReviveOutcome.NOT_FOUND] * 2


def test_a_job_can_be_revived_again_and_again(queue: Queue) -> None:
    queue.enqueue("a")
    for _ in range(3):
        queue.finish(queue.claim_one(), Finish.DEAD)
        assert revived(queue, "a").outcome is ReviveOutcome.REVIVED
        assert revived(queue, "a").outcome is ReviveOutcome.NOT_ENDED
    assert queue.counter("revived") == 3
    assert queue.ready() == ["a"]
