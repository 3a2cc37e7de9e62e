"""audit: a walk that mends what no ordinary path would find, a part at a time."""

from __future__ import annotations

from datetime import timedelta

from redisched.core.states import JobState
from redisched.store.operations.turns import Audit, audit
from tests.store.queue import Queue, new_job

MINUTE = timedelta(minutes=1)


def audited(queue: Queue, limit: int = 500) -> Audit:
    return queue.do(audit(queue.keyspace, every=MINUTE, limit=limit))


def test_an_empty_queue(queue: Queue) -> None:
    assert audited(queue) == Audit(0, 0)


def test_a_whole_queue_is_left_as_it_is(queue: Queue) -> None:
    queue.enqueue(new_job("later", delay_ms=5, unique="u"), new_job("waits", unique="v"), "runs")
    queue.claim(1)
    before = queue.hash("state")
    assert audited(queue) == Audit(0, 2)
    assert queue.hash("state") == before


def test_a_job_without_its_lease_comes_back_as_a_suspect(queue: Queue) -> None:
    queue.claim_one("a")
    queue.redis.zrem(queue.key("processing"), "a")
    assert audited(queue) == Audit(1, 1)
    assert queue.look("a").state is JobState.READY
    assert queue.redis.llen(queue.key("wake")) == 1
    assert queue.claim_one().suspect
    assert queue.counter("mended") == 1


def test_the_fleet_walks_once_in_a_while(queue: Queue) -> None:
    queue.claim_one("a")
    audited(queue)
    queue.pass_ms(59_999)
    assert audited(queue) == Audit(0, 0)
    queue.pass_ms(1)
    assert audited(queue).looked_at == 1


def test_a_clock_set_back_does_not_stop_the_walks(queue: Queue) -> None:
    queue.claim_one("a")
    audited(queue)
    queue.pass_ms(-86_400_000)
    assert audited(queue).looked_at == 1


def test_a_walk_looks_at_a_bounded_part_and_goes_on_where_it_stopped(queue: Queue) -> None:
    count = 2_000
    for start in range(0, count, 1_000):
        queue.enqueue(*(new_job(f"j{start + i}", unclaimed_ms=1) for i in range(1_000)))
    lost = [claimed.id for claimed in queue.claim(20)]
    queue.redis.zrem(queue.key("processing"), *lost)
    walks: list[Audit] = []
    while sum(walk.looked_at for walk in walks) < count:
        walks.append(audited(queue, limit=100))
        queue.pass_ms(60_000)
    assert max(walk.looked_at for walk in walks) < 300
    assert len(walks) < 40
    assert sum(walk.mended for walk in walks) == 20


def test_corrupt_states_are_passed_over(queue: Queue) -> None:
    queue.enqueue("a")
    queue.redis.hset(queue.key("state"), mapping={"a": b"torn", "nobody": b""})
    assert audited(queue) == Audit(0, 2)
    queue.tampered = True
