"""extend: keep claimed jobs. Refused once the lease has lapsed, or when another has the job."""

from __future__ import annotations

from datetime import timedelta

from redisched.core.record import Finish
from redisched.store.operations.jobs import cancel
from redisched.store.operations.turns import Claimed, Extension, extend
from tests.store.queue import NOON, Queue

KEPT, STOPPING, LOST = Extension(True, False), Extension(True, True), Extension(False, False)


def extended(queue: Queue, *runs: Claimed | tuple[str, int], worker: str = "w1") -> list[Extension]:
    pairs = [(run.id, run.version) if isinstance(run, Claimed) else run for run in runs]
    return queue.do(extend(queue.keyspace, worker=worker, lease=timedelta(seconds=10), runs=pairs))


def test_a_lease_runs_anew_from_now(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(9_999)
    assert extended(queue, claimed) == [KEPT]
    assert queue.look("a").lease_end_ms == NOON + 19_999
    assert queue.claim(1, worker="w2") == []


def test_no_runs_only_shows_that_the_worker_lives(queue: Queue) -> None:
    assert extended(queue) == []
    assert queue.zset("workers") == {b"w1": NOON}


def test_a_lapsed_lease_is_lost_even_before_it_is_recovered(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(10_000)
    assert extended(queue, claimed) == [LOST]
    assert queue.look("a").lease_end_ms == NOON + 10_000


def test_a_stale_version_is_lost(queue: Queue) -> None:
    old = queue.claim_one("a")
    queue.pass_ms(10_000)
    new = queue.claim_one(worker="w2")
    assert extended(queue, old) == [LOST]
    assert extended(queue, new, worker="w2") == [KEPT]


def test_each_run_is_answered_for_itself(queue: Queue) -> None:
    queue.enqueue("a", "b", "c")
    a, b, c = queue.claim(3)
    queue.do(cancel(queue.keyspace, "b"))
    queue.finish(c, Finish.SUCCEEDED)
    assert extended(queue, a, b, c, ("nobody", 1), ("a", a.version + 1)) == [KEPT, STOPPING, LOST, LOST, LOST]


def test_a_corrupt_state_is_lost_and_spares_the_others(queue: Queue) -> None:
    queue.enqueue("a", "b")
    a, b = queue.claim(2)
    queue.redis.hset(queue.key("state"), "a", b"torn")
    assert extended(queue, a, b) == [LOST, KEPT]
    queue.tampered = True


def test_a_thousand_runs_are_one_call(queue: Queue) -> None:
    queue.enqueue(*(f"j{i}" for i in range(1_000)))
    claims = queue.claim(1_000)
    assert extended(queue, *claims) == [KEPT] * 1_000
