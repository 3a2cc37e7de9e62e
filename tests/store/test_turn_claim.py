"""turn: claiming. Best priority first, then first in first out, under a lease written before the reply."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redisched.core.config import TURN_ELEMENTS
from redisched.core.record import BEGAN, Finish, Status
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel, reschedule
from redisched.store.operations.queues import pause, resume
from redisched.store.operations.turns import Limits
from tests.store.queue import NOON, Queue, new_job


def test_an_empty_queue_gives_nothing(queue: Queue) -> None:
    turn = queue.turn(10)
    assert (turn.claimed, turn.due, turn.refused, turn.more) == ((), (), (), False)
    assert turn.now_ms == NOON


def test_a_claimed_job_is_processing_under_a_lease(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    assert (claimed.id, claimed.body, claimed.outcome) == ("a", b"body", b"")
    assert (claimed.attempts, claimed.deliveries, claimed.flags, claimed.suspect) == (0, 1, 0, False)
    assert (claimed.created_ms, claimed.due_ms, claimed.claimed_ms) == (NOON, NOON, NOON)
    found = queue.look("a")
    assert (found.state, found.lease_end_ms) == (JobState.PROCESSING, NOON + 10_000)
    assert queue.record("a").worker == "w1"


def test_never_more_than_wanted_and_none_twice(queue: Queue) -> None:
    queue.enqueue(*(f"j{i}" for i in range(7)))
    turns = [queue.turn(3, worker=f"w{n}") for n in range(4)]
    assert [len(turn.claimed) for turn in turns] == [3, 3, 1, 0]
    assert [turn.more for turn in turns] == [True, True, False, False]
    assert [claimed.id for turn in turns for claimed in turn.claimed] == [f"j{i}" for i in range(7)]


def test_wanting_nothing_claims_nothing(queue: Queue) -> None:
    queue.enqueue("a")
    turn = queue.turn(0)
    assert (turn.claimed, turn.more) == ((), True)


def test_better_priorities_go_first(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"p{n}-{i}", priority=n) for i in range(2) for n in (3, 1, 0, 2)))
    first, rest = queue.claim(5), queue.claim(5)
    assert [claimed.id for claimed in first] == ["p0-0", "p0-1", "p1-0", "p1-1", "p2-0"]
    assert [claimed.id for claimed in rest] == ["p2-1", "p3-0", "p3-1"]


def test_versions_rise_and_are_never_given_twice(queue: Queue) -> None:
    queue.enqueue("a", "b")
    seen = [claimed.version for claimed in queue.claim(2)]
    for _ in range(2):
        queue.pass_ms(10_000)
        seen += [claimed.version for claimed in queue.claim(2)]
    assert seen == sorted(set(seen))
    assert len(seen) == 6


def test_an_id_reused_after_it_was_pruned_gets_a_new_version(queue: Queue) -> None:
    """The fencing token of the first job must not fit the second."""
    limits = Limits(window=timedelta())
    first = queue.claim_one("a")
    queue.finish(first, Finish.SUCCEEDED)
    queue.pass_ms(86_400_000)
    queue.turn(0, limits=limits)
    assert queue.look("a").state is JobState.NOT_FOUND
    second = queue.claim_one("a")
    assert second.version > first.version
    assert queue.finish(first, Finish.DEAD).refused == ("a",)
    assert queue.record("a").status is Status.PROCESSING


def test_stale_entries_are_skipped_and_do_not_cost_a_claim(queue: Queue) -> None:
    queue.enqueue("cancelled", "moved", "stays")
    queue.do(cancel(queue.keyspace, "cancelled"))
    queue.do(reschedule(queue.keyspace, "moved", at_ms=NOON + 100))
    assert queue.status().ready == 1
    assert [claimed.id for claimed in queue.claim(3)] == ["stays"]
    assert (queue.ready(), queue.counter("stale")) == ([], 0)
    queue.pass_ms(100)
    assert [claimed.id for claimed in queue.claim(3)] == ["moved"]


def test_a_job_rescheduled_to_now_twice_is_claimed_once(queue: Queue) -> None:
    queue.enqueue("a")
    for _ in range(2):
        queue.do(reschedule(queue.keyspace, "a", at_ms=None))
    assert queue.ready() == ["a"] * 3
    assert queue.status().ready == 1
    assert [claimed.id for claimed in queue.claim(3)] == ["a"]


def test_one_job_is_found_behind_many_stale_entries(queue: Queue) -> None:
    queue.enqueue(*(f"j{i}" for i in range(200)), "last")
    for i in range(200):
        queue.do(cancel(queue.keyspace, f"j{i}"))
    assert [claimed.id for claimed in queue.claim(1)] == ["last"]


def test_a_flood_of_stale_entries_is_worked_off_in_bounded_turns(queue: Queue) -> None:
    queue.redis.rpush(queue.key("ready:1"), *(f"1{i}:gone{i}" for i in range(2_500)))
    queue.redis.hset(queue.key("stats"), "stale", 2_500)
    queue.enqueue("last")
    turns = [queue.turn(10)]
    while not turns[-1].claimed and len(turns) < 50:
        assert turns[-1].more
        turns.append(queue.turn(10))
    assert [claimed.id for claimed in turns[-1].claimed] == ["last"]
    assert len(turns) >= 2_500 / TURN_ELEMENTS
    assert not turns[-1].more


def test_a_paused_queue_hands_out_nothing_until_resumed(queue: Queue) -> None:
    queue.enqueue("a", new_job("b", delay_ms=10))
    queue.do(pause(queue.keyspace))
    queue.pass_ms(10)
    turn = queue.turn(5)
    assert (turn.claimed, turn.more) == ((), False)
    assert queue.ready() == ["a", "b"]
    queue.do(resume(queue.keyspace))
    assert [claimed.id for claimed in queue.claim(5)] == ["a", "b"]


def test_a_paused_queue_takes_the_finishes_of_running_jobs(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.do(pause(queue.keyspace))
    assert queue.finish(claimed, Finish.SUCCEEDED).refused == ()
    assert queue.look("a").state is JobState.SUCCEEDED


@pytest.mark.parametrize(("late_ms", "expected"), [(50, Status.PROCESSING), (51, Status.EXPIRED)])
def test_a_job_not_started_in_time_expires(queue: Queue, late_ms: int, expected: Status) -> None:
    queue.enqueue(new_job("a", delay_ms=100, expires_ms=50, unique="key", unclaimed_ms=10))
    queue.pass_ms(100 + late_ms)
    queue.turn(1)
    assert queue.record("a").status is expected


def test_an_expired_job_frees_its_unique_key(queue: Queue) -> None:
    queue.enqueue(new_job("a", expires_ms=50, unique="key"))
    queue.pass_ms(51)
    assert queue.claim(1) == []
    record = queue.record("a")
    assert (record.status, record.reason, record.ended) == (
        Status.EXPIRED,
        "not started in time",
        NOON + 51,
    )
    assert queue.unique_holder("key") is None


def test_expiry_does_not_concern_a_second_start(queue: Queue) -> None:
    queue.enqueue(new_job("retried", expires_ms=50), new_job("lost", expires_ms=50))
    retried, _ = queue.claim(2)
    queue.finish(retried, Finish.RETRY, delay_ms=1_000)
    queue.pass_ms(20_000)
    assert {claimed.id for claimed in queue.claim(2)} == {"retried", "lost"}


def test_a_job_handed_back_after_it_began_does_not_expire(queue: Queue) -> None:
    """It had started in time, though nothing else is counted of that start."""
    queue.enqueue(new_job("a", expires_ms=50))
    queue.finish(queue.claim_one(), Finish.RELEASE, reason=BEGAN)
    queue.pass_ms(51)
    again = queue.claim_one()
    assert (again.attempts, again.deliveries) == (0, 1)


def test_a_job_handed_back_before_it_began_expires(queue: Queue) -> None:
    queue.enqueue(new_job("a", expires_ms=50))
    queue.finish(queue.claim_one(), Finish.RELEASE)
    queue.pass_ms(51)
    assert queue.claim() == []
    assert queue.record("a").status is Status.EXPIRED


def test_a_claimed_job_is_no_longer_unclaimed(queue: Queue) -> None:
    queue.enqueue(new_job("a", unclaimed_ms=10))
    queue.pass_ms(10)
    assert queue.status().alarms == 1
    queue.claim(1)
    assert queue.status().alarms == 0


def test_a_corrupt_body_is_quarantined_and_the_others_go_on(queue: Queue) -> None:
    queue.tampered = True
    queue.enqueue("good", "bad", "short", "fine")
    queue.redis.hset(queue.key("jobs"), mapping={"bad": b"garbage of some length, yes", "short": b"j1"})
    assert [claimed.id for claimed in queue.claim(4)] == ["good", "fine"]
    for short in ("bad", "short"):
        record = queue.record(short)
        assert (record.status, record.reason) == (Status.DEAD, "the job body is corrupt")
    assert queue.counter("quarantined") == 2
    assert queue.ready() == []


CORRUPT_STATES = {
    "garbage": b"garbage",
    "empty": b"",
    "other version": b"\x02" + b"\x01" * 100,
    "no such status": b"\x01\x63" + b"\x00" * 80,
    "no such priority": b"\x01\x01" + b"\x00" * 12 + b"\x09" + b"\x00" * 80,
    "length beyond the end": b"\x01\x01" + b"\x00" * 61 + b"\xff",
}


@pytest.mark.parametrize("name", CORRUPT_STATES)
def test_a_corrupt_state_is_quarantined_with_its_raw_bytes(queue: Queue, name: str) -> None:
    queue.tampered = True
    raw = CORRUPT_STATES[name]
    queue.enqueue(new_job("bad", unclaimed_ms=5, unique="key"), "good")
    queue.redis.hset(queue.key("state"), "bad", raw)
    assert [claimed.id for claimed in queue.claim(2)] == ["good"]
    record = queue.record("bad")
    assert (record.status, record.reason, record.outcome) == (Status.DEAD, "the state record is corrupt", raw)
    assert list(queue.zset("dead")) == [b"bad"]
    assert queue.zset("unclaimed") == {}
    assert queue.enqueue(new_job("next", unique="key"))[0].created


def test_foreign_entries_in_a_ready_list_do_not_block(queue: Queue) -> None:
    queue.redis.rpush(queue.key("ready:1"), b"foreign", b"\xff\xfe", b"", b"11:nobody", b"99:")
    queue.enqueue("a")
    assert [claimed.id for claimed in queue.claim(1)] == ["a"]
    assert (queue.ready(), queue.counter("stale")) == ([], 0)


def test_an_entry_that_is_there_twice_is_claimed_once(queue: Queue) -> None:
    queue.enqueue("a")
    queue.redis.rpush(queue.key("ready:1"), *queue.entries())
    assert [claimed.id for claimed in queue.claim(2)] == ["a"]
    assert queue.ready() == []


def test_a_member_that_is_no_text_is_readable(queue: Queue) -> None:
    """One job with an id of torn bytes must not hide the others of the same turn."""
    queue.enqueue("ab", "good")
    body = queue.hash("jobs")[b"ab"]
    queue.redis.hset(queue.key("jobs"), b"\xff\xfe", body)
    queue.redis.hdel(queue.key("jobs"), "ab")
    entry, good = queue.entries()
    queue.redis.delete(queue.key("ready:1"))
    queue.redis.rpush(queue.key("ready:1"), entry.replace(b"ab", b"\xff\xfe"), good)
    assert [claimed.id for claimed in queue.claim(2)] == ["\\xff\\xfe", "good"]


def test_a_long_worker_name_does_not_spoil_the_record(queue: Queue) -> None:
    queue.enqueue("a")
    (claimed,) = queue.claim(1, worker="w" * 300)
    assert queue.record("a").worker == "w" * 255
    assert queue.finish(claimed, Finish.SUCCEEDED, outcome=b"done").refused == ()
    assert queue.record("a").outcome == b"done"


def test_a_turn_for_a_thousand_jobs_is_still_one_turn(queue: Queue) -> None:
    queue.enqueue(*(new_job(f"j{i}", unique=f"u{i}") for i in range(1000)))
    assert len(queue.claim(1000)) == 1000
