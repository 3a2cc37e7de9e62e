"""discard: ended jobs go now; live ones stay."""

from __future__ import annotations

from datetime import timedelta

from redisched.core.record import Finish
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel, discard
from redisched.store.operations.turns import Finished
from tests.store.queue import NOON, Queue, new_job

WINDOW = timedelta(minutes=10)


def discarded(queue: Queue, *shorts: str, window: timedelta = WINDOW) -> int:
    return queue.do(discard(queue.keyspace, shorts, window))


def test_ended_jobs_go_and_live_ones_stay(queue: Queue) -> None:
    queue.enqueue("done", "dead", "off", "runs", "waits", new_job("later", delay_ms=5))
    done, dead, off, _ = queue.claim(4)
    queue.do(cancel(queue.keyspace, "off"))
    queue.turn(
        0,
        [
            Finished(done.id, done.version, Finish.SUCCEEDED),
            Finished(dead.id, dead.version, Finish.DEAD),
            Finished(off.id, off.version, Finish.RELEASE),
        ],
    )
    shorts = ["done", "dead", "off", "runs", "waits", "later", "nobody"]
    assert discarded(queue, *shorts) == 3
    states = {short: queue.look(short).state for short in shorts}
    assert states == {
        "done": JobState.PRUNED,
        "dead": JobState.PRUNED,
        "off": JobState.PRUNED,
        "runs": JobState.PROCESSING,
        "waits": JobState.READY,
        "later": JobState.SCHEDULED,
        "nobody": JobState.NOT_FOUND,
    }


def test_their_ids_stay_known_for_the_window(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.DEAD)
    discarded(queue, "a")
    assert queue.zset("tombstones") == {b"a": NOON + 600_000}
    assert not queue.enqueue("a")[0].created


def test_without_a_window_an_id_is_free_at_once(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.DEAD)
    assert discarded(queue, "a", "a", window=timedelta()) == 1
    assert queue.enqueue("a")[0].created


def test_a_waiting_job_on_the_shelf_of_the_ended_stays_and_is_not_counted(queue: Queue) -> None:
    """Whether or not it has a state to say that it waits."""
    queue.enqueue("plain", new_job("with options", unique="key"))
    queue.redis.zadd(queue.key("ended"), {"plain": NOON, "with options": NOON})
    assert discarded(queue, "plain", "with options") == 0
    assert queue.zset("ended") == {}
    assert queue.ready() == ["plain", "with options"]


def test_none_and_twice(queue: Queue) -> None:
    assert discarded(queue) == 0
    queue.finish(queue.claim_one("a"), Finish.SUCCEEDED)
    assert [discarded(queue, "a"), discarded(queue, "a")] == [1, 0]


def test_a_corrupt_ended_job_can_be_discarded(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.SUCCEEDED)
    queue.redis.hset(queue.key("state"), "a", b"torn")
    queue.redis.hset(queue.key("jobs"), "a", b"torn")
    assert discarded(queue, "a") == 1
    assert queue.look("a").state is JobState.NOT_FOUND
