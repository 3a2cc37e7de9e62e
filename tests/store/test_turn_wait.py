"""turn: how long to wait. One waiter watches the next due instant, and a hint wakes one waiter."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redisched.core.record import Finish
from redisched.store.operations.jobs import cancel, reschedule, revive
from redisched.store.operations.queues import pause, resume
from redisched.store.operations.turns import Limits, Turn, enlist, leave
from tests.store.queue import LONGEST, NOON, Queue, new_job


def waits(queue: Queue, worker: str) -> Turn:
    """The turn of a worker that would wait after it."""
    return queue.turn(10, worker=worker, longest=LONGEST)


def token(queue: Queue) -> bool:
    """Whether there is a hint; it is taken, as a waiter would."""
    return queue.redis.lpop(queue.key("wake")) is not None


def timer(queue: Queue) -> bytes | None:
    return queue.redis.get(queue.key("timer"))  # type: ignore[return-value]


def test_with_nothing_to_come_a_waiter_waits_the_longest_wait(queue: Queue) -> None:
    assert waits(queue, "w1").wait_ms == 5_000


def test_one_waiter_watches_the_next_due_instant_and_the_others_wait_longest(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    assert [waits(queue, f"w{n}").wait_ms for n in (1, 2, 3)] == [700, 5_000, 5_000]
    assert timer(queue) == b"%d w1" % (NOON + 700)


def test_the_watcher_keeps_watching(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    waits(queue, "w1")
    queue.pass_ms(300)
    assert [waits(queue, name).wait_ms for name in ("w2", "w1")] == [5_000, 400]


def test_the_timer_expires_by_itself_a_second_past_the_instant(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    waits(queue, "w1")
    assert 1_000 < queue.redis.pttl(queue.key("timer")) <= 1_700


def test_when_the_watcher_is_gone_the_next_waiter_watches(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    waits(queue, "w1")
    queue.redis.delete(queue.key("timer"))  # as its TTL does
    assert waits(queue, "w2").wait_ms == 700


def test_a_nearer_instant_wakes_a_waiter_who_then_watches_it(queue: Queue) -> None:
    queue.enqueue(new_job("later", delay_ms=2_000))
    waits(queue, "w1")
    token(queue)
    queue.enqueue(new_job("soon", delay_ms=500))
    assert token(queue)
    assert waits(queue, "w2").wait_ms == 500
    assert timer(queue) == b"%d w2" % (NOON + 500)


def test_an_instant_behind_the_one_watched_wakes_nobody(queue: Queue) -> None:
    queue.enqueue(new_job("soon", delay_ms=500))
    waits(queue, "w1")
    token(queue)
    queue.enqueue(new_job("later", delay_ms=2_000))
    assert not token(queue)


def test_with_nobody_watching_any_instant_leaves_a_hint(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=86_400_000))
    assert token(queue)


def test_there_is_one_hint_at_most(queue: Queue) -> None:
    for n in range(5):
        queue.enqueue(f"j{n}", new_job(f"k{n}", delay_ms=n))
    assert [token(queue), token(queue)] == [True, False]


def test_a_watcher_that_becomes_full_hands_on(queue: Queue) -> None:
    queue.enqueue(new_job("later", delay_ms=3_000))
    waits(queue, "w1")
    queue.enqueue("now")
    token(queue)
    turn = queue.turn(1, worker="w1", longest=LONGEST)
    assert (len(turn.claimed), turn.wait_ms) == (1, 0)
    assert (timer(queue), token(queue)) == (None, True)
    assert waits(queue, "w2").wait_ms == 3_000


def test_a_claim_that_leaves_ready_jobs_behind_wakes_another(queue: Queue) -> None:
    queue.enqueue("a", "b")
    token(queue)
    turn = queue.turn(1, worker="w1", longest=LONGEST)
    assert (turn.more, token(queue)) == (True, True)


def test_a_worker_with_room_left_that_knows_of_more_does_not_wait(queue: Queue) -> None:
    queue.redis.rpush(queue.key("ready:1"), *(f"1{i}:gone" for i in range(1_500)))
    queue.redis.hset(queue.key("stats"), "stale", 1_500)
    turns = [waits(queue, "w1") for _ in range(10)]
    assert (turns[0].claimed, turns[0].more, turns[0].wait_ms) == ((), True, 0)
    assert turns[-1].wait_ms == 5_000


def test_due_jobs_beyond_the_bound_of_a_turn_are_not_waited_for(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"j{i}", delay_ms=1) for i in range(600)))
    queue.pass_ms(1)
    queue.do(pause(queue.keyspace))
    assert waits(queue, "w1").wait_ms == 0
    assert [waits(queue, "w1").wait_ms for _ in range(9)][-1] == 5_000


def test_a_paused_queue_does_not_keep_its_workers_busy(queue: Queue) -> None:
    queue.enqueue("a", new_job("b", delay_ms=100))
    queue.do(pause(queue.keyspace))
    assert waits(queue, "w1").wait_ms == 100
    queue.pass_ms(100)
    assert (waits(queue, "w1").more, waits(queue, "w1").wait_ms) == (False, 5_000)
    token(queue)
    queue.do(resume(queue.keyspace))
    assert token(queue)


def test_the_end_of_a_lease_is_an_instant_like_any_other(queue: Queue) -> None:
    queue.claim_one("a")
    assert waits(queue, "w2").wait_ms == 5_000
    queue.pass_ms(9_000)
    assert waits(queue, "w2").wait_ms == 1_000
    queue.pass_ms(1_000)
    assert [claimed.id for claimed in waits(queue, "w2").claimed] == ["a"]


def test_a_worker_that_leaves_hands_on_what_it_watched(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    waits(queue, "w1")
    token(queue)
    queue.do(leave(queue.keyspace, worker="w1"))
    assert (timer(queue), token(queue)) == (None, True)
    assert waits(queue, "w2").wait_ms == 700


def test_a_worker_that_leaves_without_watching_leaves_the_timer_alone(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    waits(queue, "w1")
    queue.do(enlist(queue.keyspace, worker="w2", about=b"x"))
    queue.do(leave(queue.keyspace, worker="w2"))
    assert timer(queue) == b"%d w1" % (NOON + 700)


def test_names_of_workers_may_hold_spaces_and_line_feeds(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    name = "on host\n1 2"
    waits(queue, name)
    assert waits(queue, name).wait_ms == 700
    assert waits(queue, "w2").wait_ms == 5_000


def test_a_timer_that_cannot_be_read_counts_for_nothing(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=700))
    queue.redis.set(queue.key("timer"), b"\xff torn", px=60_000)
    assert waits(queue, "w1").wait_ms == 700


def test_every_way_to_work_leaves_a_hint(queue: Queue) -> None:
    """Enqueue, reschedule, revive and a retry make work ready or bring the next instant nearer."""
    queue.enqueue(new_job("a", delay_ms=4_000))
    waits(queue, "w1")
    token(queue)
    queue.do(reschedule(queue.keyspace, "a", at_ms=NOON + 100))
    assert token(queue)
    queue.do(reschedule(queue.keyspace, "a", at_ms=None))
    assert token(queue)
    queue.do(cancel(queue.keyspace, "a"))
    queue.do(revive(queue.keyspace, "a"))
    assert token(queue)
    queue.finish(queue.claim_one(), Finish.RETRY, delay_ms=50)
    assert token(queue)


def test_far_instants_and_clock_steps_do_not_make_a_wait_longer_than_the_longest(queue: Queue) -> None:
    queue.enqueue(new_job("a", at_ms=253_402_300_799_999))
    assert waits(queue, "w1").wait_ms == 5_000
    queue.pass_ms(-3_600_000)
    assert waits(queue, "w1").wait_ms == 5_000
    assert waits(queue, "w2").wait_ms <= 5_000


@pytest.mark.parametrize("place", ["scheduled", "schedules", "processing"])
def test_a_foreign_score_with_a_fraction_stops_no_turn(queue: Queue, place: str) -> None:
    """The wait goes on to the next whole millisecond, so that it does not end just before the instant."""
    queue.tampered = True
    queue.redis.zadd(queue.key(place), {"1:foreign": NOON + 700.5})
    assert waits(queue, "w1").wait_ms == 701
    assert timer(queue) == b"%d w1" % (NOON + 701)
    assert 0 < queue.redis.pttl(queue.key("timer")) <= 1_701
    queue.pass_ms(701)
    waits(queue, "w1")


@pytest.mark.parametrize("score", ["inf", "-inf"])
def test_a_foreign_score_without_end_stops_no_turn(queue: Queue, score: str) -> None:
    queue.tampered = True
    queue.redis.zadd(queue.key("processing"), {"foreign": score})
    assert [waits(queue, "w1").wait_ms, waits(queue, "w1").wait_ms] == [5_000, 5_000]


def test_limits_say_how_long_a_timer_may_be_overdue(queue: Queue) -> None:
    queue.turn(1, longest=timedelta(seconds=2), limits=Limits(overdue=timedelta(seconds=3)))
    assert 3_000 < queue.redis.pttl(queue.key("timer")) <= 5_000
