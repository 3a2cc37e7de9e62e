"""A call repeated because its reply was lost gives its first answer, and does nothing the second time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from redisched.core.record import Finish
from redisched.core.states import CancelOutcome, RescheduleOutcome, ReviveOutcome
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations.jobs import Revived, cancel, discard, reschedule, revive
from redisched.store.operations.queues import pause, resume
from redisched.store.operations.schedules import Put, put_schedule, remove_schedule
from tests.store.queue import NOON, Queue, new_job

T = TypeVar("T")


def put(keyspace: Keyspace) -> Operation[Put]:
    return put_schedule(keyspace, "s", spec=b"spec", after_ms=NOON, next_ms=NOON + 1, wall="")


def test_a_revival_repeated_after_its_short_run_does_not_run_the_job_again(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.DEAD)
    operation = revive(queue.keyspace, "a")
    assert queue.do(operation) == Revived(ReviveOutcome.REVIVED)
    queue.finish(queue.claim_one(), Finish.SUCCEEDED)
    assert queue.do(operation) == Revived(ReviveOutcome.REVIVED)
    assert queue.claim() == []


def test_a_revival_that_found_its_unique_key_held_says_so_again(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    queue.finish(queue.claim_one(), Finish.DEAD)
    queue.enqueue(new_job("größe\0", unique="key"))
    operation = revive(queue.keyspace, "a")
    queue.do(operation)
    queue.do(cancel(queue.keyspace, "größe\0"))
    assert queue.do(operation) == Revived(ReviveOutcome.UNIQUE_KEY_HELD, "größe\0")


def answers(queue: Queue, make: Callable[[Keyspace], Operation[T]]) -> list[T]:
    """Of a call, of its repeat, and of another call of the same."""
    operation = make(queue.keyspace)
    return [queue.do(operation), queue.do(operation), queue.do(make(queue.keyspace))]


def test_a_repeated_cancel_says_that_it_cancelled(queue: Queue) -> None:
    queue.enqueue("a")
    said = answers(queue, lambda keys: cancel(keys, "a"))
    assert said == [CancelOutcome.CANCELLED, CancelOutcome.CANCELLED, CancelOutcome.ALREADY_ENDED]


def test_a_repeated_discard_counts_what_the_first_dropped(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.SUCCEEDED)
    assert answers(queue, lambda keys: discard(keys, ["a"], timedelta())) == [1, 1, 0]


def test_a_repeated_pause_says_that_it_paused(queue: Queue) -> None:
    assert answers(queue, pause) == [True, True, False]


def test_a_repeated_put_says_that_it_created_the_schedule(queue: Queue) -> None:
    assert answers(queue, put) == [Put.CREATED, Put.CREATED, Put.UNCHANGED]


def test_a_repeated_resume_gives_its_first_answer_and_ends_no_later_pause(queue: Queue) -> None:
    queue.do(pause(queue.keyspace))
    operation = resume(queue.keyspace)
    assert queue.do(operation)
    queue.do(pause(queue.keyspace))
    assert queue.do(operation)
    assert queue.status().paused


def test_a_repeated_reschedule_does_not_undo_a_later_one(queue: Queue) -> None:
    queue.enqueue("a")
    operation = reschedule(queue.keyspace, "a", at_ms=NOON + 5)
    queue.do(operation)
    queue.do(reschedule(queue.keyspace, "a", at_ms=NOON + 9))
    assert queue.do(operation) is RescheduleOutcome.RESCHEDULED
    assert queue.look("a").run_at_ms == NOON + 9


def test_a_repeated_removal_spares_a_schedule_made_since(queue: Queue) -> None:
    queue.do(put(queue.keyspace))
    operation = remove_schedule(queue.keyspace, "s")
    assert queue.do(operation)
    queue.do(put(queue.keyspace))
    assert queue.do(operation)
    assert queue.zset("schedules") == {b"s": NOON + 1}


def test_that_nothing_was_found_is_the_first_answer_too(queue: Queue) -> None:
    operation = cancel(queue.keyspace, "a")
    queue.do(operation)
    queue.enqueue("a")
    assert queue.do(operation) is CancelOutcome.NOT_FOUND
    assert queue.ready() == ["a"]


def test_an_answer_is_kept_for_a_minute(queue: Queue) -> None:
    """Longer than any caller repeats a call, and no longer, since there may be many."""
    operation = cancel(queue.keyspace, "a")
    queue.do(operation)
    assert 50_000 < queue.redis.pttl(operation.keys[-1]) <= 60_000
