"""turn: repetition. A turn whose reply was lost gets the same claims again, and does nothing twice."""

from __future__ import annotations

import pytest

from redisched.core.record import Finish
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel
from redisched.store.operations.turns import Finished, enlist, leave
from tests.store.queue import NOON, Queue


def test_the_same_turn_again_gives_the_same_claims(queue: Queue) -> None:
    queue.enqueue("a", "b", "c")
    first = queue.turn(2, turn_id="t")
    again = queue.turn(2, turn_id="t")
    assert again.claimed == first.claimed
    assert again.more
    assert queue.ready() == ["c"]


def test_its_finishes_count_once_and_its_refusals_are_told_again(queue: Queue) -> None:
    queue.enqueue("a", "b")
    a, b = queue.claim(2)
    finishes = [
        Finished("a", a.version, Finish.RETRY),
        Finished("b", b.version + 1, Finish.SUCCEEDED),
    ]
    replies = [queue.turn(0, finishes, turn_id="t") for _ in range(3)]
    assert [reply.refused for reply in replies] == [("b",)] * 3
    assert (queue.record("a").attempts, queue.counter("refused")) == (1, 1)
    assert queue.ready() == ["a"]


def test_a_turn_that_claimed_nothing_stays_empty(queue: Queue) -> None:
    queue.turn(5, turn_id="t")
    queue.enqueue("a")
    assert queue.turn(5, turn_id="t").claimed == ()
    assert len(queue.turn(5).claimed) == 1


def test_only_the_last_turn_of_a_worker_is_kept(queue: Queue) -> None:
    for n in range(3):
        queue.turn(1, turn_id=f"turn {n}")
    assert len(queue.hash("turns")) == 1


@pytest.mark.parametrize(("last", "late"), [("10", "9"), ("2", "1"), ("last", "3"), ("last 2", "11")])
def test_a_turn_that_arrives_after_a_later_one_does_nothing(queue: Queue, last: str, late: str) -> None:
    """Its connection was given up and healed: what it claimed would be run by nobody."""
    queue.enqueue("a", "b", "c")
    a, b = queue.turn(2, turn_id="0").claimed
    claimed = queue.turn(1, [Finished("a", a.version, Finish.SUCCEEDED)], turn_id=last).claimed
    words = [Finished("b", b.version, Finish.DEAD)]
    queue.enqueue("d")
    answer = queue.turn(5, words, turn_id=late)
    assert (answer.claimed, answer.refused, answer.more) == ((), (), False)
    assert (queue.look("b").state, queue.ready()) == (JobState.PROCESSING, ["d"])
    assert queue.turn(1, turn_id=last).claimed == claimed


@pytest.mark.parametrize(("last", "new"), [("9", "10"), ("5", "last"), ("last", "last 2")])
def test_a_later_turn_is_taken_as_a_new_one(queue: Queue, last: str, new: str) -> None:
    queue.enqueue("a", "b")
    queue.turn(1, turn_id=last)
    assert [claimed.id for claimed in queue.turn(1, turn_id=new).claimed] == ["b"]


def test_workers_do_not_get_each_others_claims(queue: Queue) -> None:
    queue.enqueue("a", "b")
    mine = queue.turn(1, worker="w1", turn_id="t")
    theirs = queue.turn(1, worker="w2", turn_id="t")
    assert [turn.claimed[0].id for turn in (mine, theirs)] == ["a", "b"]


def test_a_repeated_turn_gives_its_jobs_a_whole_lease(queue: Queue) -> None:
    """The reply may have been lost for nearly as long as the lease."""
    queue.enqueue("a")
    queue.turn(1, turn_id="t")
    queue.pass_ms(9_900)
    assert [claimed.id for claimed in queue.turn(1, turn_id="t").claimed] == ["a"]
    assert queue.look("a").lease_end_ms == NOON + 9_900 + 10_000


def test_jobs_recovered_meanwhile_are_not_given_again(queue: Queue) -> None:
    queue.enqueue("a", "b")
    queue.turn(2, turn_id="t")
    queue.pass_ms(10_000)
    (other,) = queue.claim(1, worker="w2")
    again = queue.turn(2, turn_id="t")
    assert (other.id, again.claimed) == ("a", ())
    assert queue.look("b").state is JobState.READY


def test_a_job_cancelled_meanwhile_is_given_with_its_request_to_stop(queue: Queue) -> None:
    queue.enqueue("a")
    (first,) = queue.turn(1, turn_id="t").claimed
    queue.do(cancel(queue.keyspace, "a"))
    (again,) = queue.turn(1, turn_id="t").claimed
    assert (first.flags, again.flags) == (0, 2)


def test_a_corrupt_memory_of_a_turn_counts_for_nothing(queue: Queue) -> None:
    queue.enqueue("a")
    for torn in (b"", b"\xc1", b"torn", b"\x93\x01", b"\x05"):
        queue.redis.hset(queue.key("turns"), "w1", torn)
        queue.turn(0, turn_id="t")
        queue.redis.hset(queue.key("turns"), "w1", torn)
    assert len(queue.turn(1, turn_id="t").claimed) == 1


def test_a_worker_that_left_is_forgotten_with_its_turn(queue: Queue) -> None:
    queue.do(enlist(queue.keyspace, worker="w1", about=b"me"))
    queue.turn(1)
    queue.do(leave(queue.keyspace, worker="w1"))
    assert [queue.hash("turns"), queue.hash("fleet"), queue.zset("workers")] == [{}, {}, {}]


def test_workers_not_seen_for_long_are_forgotten(queue: Queue) -> None:
    for name in ("w1", "w2"):
        queue.do(enlist(queue.keyspace, worker=name, about=name.encode()))
        queue.turn(1, worker=name)
    queue.pass_ms(60_000)
    assert queue.do(enlist(queue.keyspace, worker="w2", about=b"still here")) == 1
    assert queue.hash("fleet") == {b"w2": b"still here"}
    assert queue.hash("turns").keys() == {b"w2"}


def test_a_worker_that_comes_back_after_long_is_not_forgotten_at_once(queue: Queue) -> None:
    queue.do(enlist(queue.keyspace, worker="w1", about=b"me"))
    queue.pass_ms(3_600_000)
    assert queue.do(enlist(queue.keyspace, worker="w1", about=b"me")) == 0
    assert queue.hash("fleet") == {b"w1": b"me"}


def test_forgetting_is_bounded(queue: Queue) -> None:
    queue.redis.zadd(queue.key("workers"), {f"w{i}": i for i in range(150)})
    assert queue.do(enlist(queue.keyspace, worker="new", about=b"me")) == 100
    assert queue.do(enlist(queue.keyspace, worker="new", about=b"me")) == 50
