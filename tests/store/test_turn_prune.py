"""turn and prune: ended jobs go after their time or over their number; ids stay known for the window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from redisched.core.record import Finish
from redisched.core.states import JobState
from redisched.store.operations.turns import Finished, Limits, prune
from tests.store.queue import HOUR, NOON, Queue, new_job

SECOND = timedelta(seconds=1)
BRIEF = Limits(retention=SECOND, dead_retention=2 * SECOND, window=timedelta())


def end(queue: Queue, ids: Sequence[str], kind: Finish = Finish.SUCCEEDED, limits: Limits = BRIEF) -> None:
    """Store, claim and finish jobs; they are kept as `limits` say."""
    queue.enqueue(*ids)
    queue.turn(0, [Finished(c.id, c.version, kind) for c in queue.claim(len(ids))], limits=limits)


def pruned(queue: Queue, limits: Limits = BRIEF, limit: int = 500) -> int:
    return queue.do(prune(queue.keyspace, limits=limits.packed(), limit=limit))


def test_an_empty_queue_has_nothing_to_prune(queue: Queue) -> None:
    assert pruned(queue) == 0


@pytest.mark.parametrize(("kind", "kept_ms"), [(Finish.SUCCEEDED, 1_000), (Finish.DEAD, 2_000)])
def test_an_ended_job_goes_when_its_retention_is_over(queue: Queue, kind: Finish, kept_ms: int) -> None:
    end(queue, ["a"], kind)
    queue.pass_ms(kept_ms - 1)
    assert pruned(queue) == 0
    queue.pass_ms(1)
    assert pruned(queue) == 1
    assert queue.look("a").state is JobState.NOT_FOUND
    assert [queue.hash(part) for part in ("jobs", "state")] == [{}, {}]


def test_every_turn_prunes_too(queue: Queue) -> None:
    end(queue, ["a"])
    queue.pass_ms(1_000)
    queue.turn(1, limits=BRIEF)
    assert queue.look("a").state is JobState.NOT_FOUND


def test_over_the_number_those_go_first_that_would_go_first(queue: Queue) -> None:
    for short in ("a", "b", "c", "d"):
        end(queue, [short])
        queue.pass_ms(1)
    few = Limits(retained_jobs=2, window=timedelta())
    assert pruned(queue, few) == 2
    assert list(queue.zset("ended")) == [b"c", b"d"]


def test_dead_jobs_have_a_number_of_their_own(queue: Queue) -> None:
    end(queue, ["a", "b", "c"], Finish.DEAD)
    end(queue, ["d"])
    assert pruned(queue, Limits(retained_jobs=0, dead_jobs=1, window=timedelta())) == 3
    assert list(queue.zset("dead")) == [b"c"]


def test_pruning_is_bounded(queue: Queue) -> None:
    end(queue, [f"j{i}" for i in range(20)])
    queue.pass_ms(1_000)
    assert [pruned(queue, limit=8) for _ in range(4)] == [8, 8, 4, 0]
    assert pruned(queue, limit=0) == 0


def test_under_load_a_turn_prunes_more_than_it_ends(queue: Queue) -> None:
    """Or the history would grow for as long as the load lasts."""
    limits = Limits(retained_jobs=100, window=timedelta())
    end(queue, [f"old{i}" for i in range(400)], limits=limits)
    for n in range(20):
        end(queue, [f"j{n}-{i}" for i in range(128)], limits=limits)
    assert len(queue.zset("ended")) <= 100 + 128


def test_within_the_window_a_pruned_id_is_still_known(queue: Queue) -> None:
    limits = Limits(retention=timedelta(), window=10 * SECOND)
    queue.pass_ms(-4_000)
    queue.enqueue("a")
    queue.pass_ms(4_000)
    queue.finish(queue.claim_one(), Finish.SUCCEEDED, limits=limits)
    assert queue.zset("tombstones") == {b"a": NOON + 6_000}
    assert queue.look("a").state is JobState.PRUNED
    assert not queue.enqueue("a")[0].created
    queue.pass_ms(5_999)
    assert (pruned(queue, limits), queue.enqueue("a")[0].created) == (0, False)
    queue.pass_ms(1)
    assert (pruned(queue, limits), queue.enqueue("a")[0].created) == (1, True)


def test_after_the_window_a_pruned_id_is_unknown_at_once(queue: Queue) -> None:
    limits = Limits(retention=SECOND, window=SECOND)
    end(queue, ["a"], limits=limits)
    queue.pass_ms(1_000)
    assert pruned(queue, limits) == 1
    assert (queue.zset("tombstones"), queue.enqueue("a")[0].created) == ({}, True)


def test_a_job_never_kept_is_told_from_one_kept_long_enough(queue: Queue) -> None:
    limits = Limits(retention=SECOND, window=10 * SECOND)
    queue.enqueue("kept", new_job("not kept", retention_ms=0))
    queue.turn(0, [Finished(c.id, c.version, Finish.SUCCEEDED) for c in queue.claim(2)], limits=limits)
    queue.pass_ms(1_000)
    pruned(queue, limits)
    assert [queue.look(short).never_kept for short in ("kept", "not kept")] == [False, True]


def test_tombstones_are_pruned_within_the_same_bound(queue: Queue) -> None:
    limits = Limits(retention=timedelta(), window=SECOND)
    end(queue, [f"j{i}" for i in range(20)], limits=limits)
    queue.pass_ms(1_000)
    assert [pruned(queue, limits, limit=15) for _ in range(3)] == [15, 5, 0]
    assert queue.hash("jobs") == {}


def test_foreign_members_do_not_block_pruning(queue: Queue) -> None:
    end(queue, ["a"])
    for shelf in ("ended", "dead", "tombstones"):
        queue.redis.zadd(queue.key(shelf), {b"\xff": 0, b"": 1, b"nobody": 2})
    queue.pass_ms(1_000)
    assert pruned(queue) == 10
    assert [queue.zset(shelf) for shelf in ("ended", "dead", "tombstones")] == [{}, {}, {}]


def test_a_live_job_on_the_shelf_of_the_ended_is_not_pruned(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    queue.claim(1)
    queue.redis.zadd(queue.key("ended"), {"a": 0})
    pruned(queue)
    assert queue.look("a").state is JobState.PROCESSING
    assert queue.zset("ended") == {}


@pytest.mark.parametrize("shelf", ["ended", "dead"])
def test_a_waiting_job_without_options_on_a_shelf_is_not_pruned(queue: Queue, shelf: str) -> None:
    """It has no state that would say so."""
    queue.enqueue("a", new_job("later", delay_ms=HOUR))
    queue.redis.zadd(queue.key(shelf), {"a": 0, "later": 0})
    pruned(queue)
    assert queue.zset(shelf) == {}
    assert [queue.look(short).state for short in ("a", "later")] == [JobState.READY, JobState.SCHEDULED]
    assert queue.claim_one().id == "a"


def test_an_ended_job_with_a_corrupt_state_is_pruned(queue: Queue) -> None:
    end(queue, ["a"])
    queue.redis.hset(queue.key("state"), "a", b"torn")
    queue.pass_ms(1_000)
    assert pruned(queue) == 1
    assert queue.look("a").state is JobState.NOT_FOUND
