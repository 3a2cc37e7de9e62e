"""pause: a queue hands out nothing until it is resumed."""

from __future__ import annotations

from redisched.store.operations.queues import pause, resume
from tests.store.queue import Queue


def test_pause_and_resume_say_whether_they_changed_anything(queue: Queue) -> None:
    assert [queue.do(pause(queue.keyspace)) for _ in range(2)] == [True, False]
    assert queue.status().paused
    assert [queue.do(resume(queue.keyspace)) for _ in range(2)] == [True, False]
    assert not queue.status().paused


def test_jobs_can_be_stored_meanwhile(queue: Queue) -> None:
    queue.do(pause(queue.keyspace))
    queue.enqueue("a")
    assert queue.claim(1) == []
    queue.do(resume(queue.keyspace))
    assert queue.claim_one().id == "a"


def test_a_resumed_queue_wakes_a_waiter(queue: Queue) -> None:
    queue.do(pause(queue.keyspace))
    assert queue.redis.llen(queue.key("wake")) == 0
    queue.do(resume(queue.keyspace))
    assert queue.redis.llen(queue.key("wake")) == 1
