"""turn: promotion. Due jobs become ready, never early, in the order of their times."""

from __future__ import annotations

from redisched.core.config import TURN_ELEMENTS
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel
from redisched.store.operations.turns import Limits
from tests.store.queue import NOON, Queue, new_job


def test_a_job_is_promoted_at_its_time_and_not_a_moment_before(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=100))
    queue.pass_ms(99)
    assert queue.claim(1) == []
    queue.pass_ms(1)
    claimed = queue.claim_one()
    assert (claimed.id, claimed.due_ms, claimed.claimed_ms) == ("a", NOON + 100, NOON + 100)


def test_due_jobs_become_ready_in_the_order_of_their_times(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"at{ms}", delay_ms=ms) for ms in (30, 10, 20)))
    queue.pass_ms(30)
    assert [claimed.id for claimed in queue.claim(3)] == ["at10", "at20", "at30"]


def test_each_goes_to_the_list_of_its_priority(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"p{n}", delay_ms=1, priority=n) for n in range(4)))
    queue.pass_ms(1)
    queue.turn(0)
    assert [queue.ready(n) for n in range(4)] == [[f"p{n}"] for n in range(4)]


def test_a_turn_that_claims_nothing_promotes_nevertheless(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=1))
    queue.pass_ms(1)
    assert queue.turn(0).more
    assert queue.look("a").state is JobState.READY


def test_promotion_is_bounded_and_goes_on_in_the_next_turn(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"j{i:03}", delay_ms=i + 1) for i in range(800)))
    queue.pass_ms(800)
    queue.turn(0)
    assert 0 < queue.status().ready <= TURN_ELEMENTS / 2
    for _ in range(9):
        queue.turn(0)
    turn = queue.turn(0, longest=Limits().overdue)
    assert (turn.more, queue.status().scheduled) == (True, 0)
    assert queue.ready() == [f"j{i:03}" for i in range(800)]


def test_a_turn_promotes_at_least_what_it_wants(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"j{i}", delay_ms=1) for i in range(400)))
    queue.pass_ms(1)
    assert len(queue.claim(400)) == 400


def test_a_cancelled_job_is_not_promoted(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=1))
    queue.do(cancel(queue.keyspace, "a"))
    queue.pass_ms(1)
    assert queue.claim(1) == []
    assert queue.counter("stale") == 0


def test_foreign_members_do_not_block_promotion(queue: Queue) -> None:
    members = [b"foreign", b"", b"\xff", b"9", b"1no colon", b"7123:job", b"0\0:x"]
    queue.redis.zadd(queue.key("scheduled"), dict.fromkeys(members, NOON))
    queue.redis.zadd(queue.key("scheduled"), {"-inf": "-inf"})
    queue.enqueue("a")
    assert [claimed.id for claimed in queue.claim(1)] == ["a"]
    queue.claim(10)
    assert queue.zset("scheduled") == {}
    assert [queue.ready(n) for n in range(4)] == [[], [], [], []]
    assert queue.counter("ghosts") == 6


def test_a_job_of_a_queue_that_stood_still_for_a_month_is_due(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=1))
    queue.pass_ms(30 * 86_400_000)
    claimed = queue.claim_one()
    assert claimed.claimed_ms - claimed.due_ms == 30 * 86_400_000 - 1
