"""turn: recovery. A job whose lease has lapsed runs again, alone; and not for ever."""

from __future__ import annotations

from redisched.core.record import Finish, Status
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel
from redisched.store.operations.turns import Finished, Limits
from tests.store.queue import NOON, Queue, new_job


def test_a_lease_holds_until_its_last_moment(queue: Queue) -> None:
    queue.claim_one("a")
    queue.pass_ms(9_999)
    assert queue.claim(1, worker="w2") == []
    queue.pass_ms(1)
    assert [claimed.id for claimed in queue.claim(1, worker="w2")] == ["a"]


def test_a_job_lost_by_its_worker_runs_again_as_a_suspect(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key", unclaimed_ms=5))
    queue.claim_one()
    queue.pass_ms(10_000)
    queue.turn(0)
    record = queue.record("a")
    assert (record.status, record.worker, record.deliveries, record.attempts) == (Status.WAITING, "", 1, 0)
    assert queue.unique_holder("key") == "a"
    assert queue.zset("unclaimed") == {b"a": NOON + 10_005}
    again = queue.claim_one(worker="w2")
    assert (again.suspect, again.deliveries) == (True, 2)
    assert queue.counter("recovered") == 1


def test_recovered_jobs_go_before_the_others_in_their_order(queue: Queue) -> None:
    queue.enqueue("a", "b", "c")
    queue.claim(1)
    queue.pass_ms(1)
    queue.claim(1)
    queue.pass_ms(10_000)
    assert [claimed.id for claimed in queue.claim(3)] == ["a", "b", "c"]


def test_a_job_that_takes_its_processes_along_dies_at_max_deliveries(queue: Queue) -> None:
    """Its worker at first; then, as a suspect, the child that it has for itself."""
    queue.enqueue(new_job("poison", unique="key"))
    assert queue.claim_one().deliveries == 1
    queue.pass_ms(10_000)
    for delivery in (2, 3):
        (claimed,) = queue.claim(1, worker=f"w{delivery}")
        assert claimed.deliveries == delivery
        queue.finish(claimed, Finish.LOST)
    assert queue.claim(1) == []
    record = queue.record("poison")
    assert (record.status, record.reason) == (Status.DEAD, "worker lost 3 times")
    assert (queue.unique_holder("key"), list(queue.zset("dead"))) == (None, [b"poison"])


def test_a_suspect_whose_workers_are_lost_has_the_benefit_of_the_doubt(queue: Queue) -> None:
    """It ran in a child: that its worker died is hardly its doing. Five times as often, then it is dead."""
    queue.enqueue("a")
    for _ in range(15):
        queue.claim_one()
        queue.pass_ms(10_000)
    assert queue.claim(1) == []
    assert queue.record("a").reason == "worker lost 15 times"


def test_failed_attempts_are_no_lost_workers(queue: Queue) -> None:
    """A crash is not a failure: five attempts that failed in order leave every delivery to lose."""
    queue.enqueue("a")
    for _ in range(5):
        queue.finish(queue.claim_one(), Finish.RETRY)
    for _ in range(2):
        queue.finish(queue.claim_one(), Finish.LOST)
    claimed = queue.claim_one()
    assert claimed.deliveries == 8
    queue.finish(claimed, Finish.LOST)
    assert queue.record("a").reason == "worker lost 3 times"


def test_a_poison_job_costs_its_neighbours_nothing(queue: Queue) -> None:
    queue.enqueue("poison", "neighbour")
    for _ in range(3):
        claims = {claimed.id: claimed for claimed in queue.claim(2)}
        queue.finish(claims["neighbour"], Finish.RELEASE)
        queue.finish(claims["poison"], Finish.LOST)
    assert queue.record("poison").status is Status.DEAD
    assert (queue.record("neighbour").status, queue.record("neighbour").deliveries) == (Status.WAITING, 0)


def test_the_history_of_a_job_outlives_its_worker(queue: Queue) -> None:
    queue.enqueue("a")
    queue.finish(queue.claim_one(), Finish.RETRY, outcome=b"first attempt")
    queue.claim_one()
    queue.pass_ms(10_000)
    queue.turn(0, limits=Limits(max_deliveries=1))
    assert queue.record("a").status is Status.DEAD
    assert queue.record("a").outcome == b"first attempt"


def test_a_job_asked_to_stop_does_not_run_again(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    queue.claim_one()
    queue.do(cancel(queue.keyspace, "a"))
    queue.pass_ms(10_000)
    assert queue.claim(1) == []
    assert queue.look("a").state is JobState.CANCELLED
    assert queue.unique_holder("key") is None


def test_a_hundred_leases_a_turn_and_the_rest_in_the_next(queue: Queue) -> None:
    queue.enqueue(*(f"j{i}" for i in range(150)))
    queue.claim(150)
    queue.pass_ms(10_000)
    first = queue.turn(0)
    assert queue.status().processing == 50
    assert first.more
    queue.turn(0)
    assert (queue.status().processing, queue.status().ready) == (0, 150)


def test_foreign_members_do_not_block_recovery(queue: Queue) -> None:
    queue.enqueue("a", "waits")
    queue.claim(1)
    foreign = {b"nobody": 0, b"\xff\xfe": 1, b"": 2, b"x" * 1_000: NOON}
    queue.redis.zadd(queue.key("processing"), foreign)
    queue.redis.zadd(queue.key("processing"), {"-inf": "-inf"})
    queue.pass_ms(10_000)
    assert [claimed.id for claimed in queue.claim(2, worker="w2")] == ["a", "waits"]
    assert set(queue.zset("processing")) == {b"a", b"waits"}
    assert (queue.counter("ghosts"), queue.counter("recovered")) == (5, 1)


def test_an_ended_job_among_the_leases_is_left_as_it_ended(queue: Queue) -> None:
    queue.finish(queue.claim_one("a"), Finish.SUCCEEDED, outcome=b"out")
    queue.redis.zadd(queue.key("processing"), {"a": 0})
    queue.turn(0)
    assert (queue.look("a").state, queue.record("a").outcome) == (JobState.SUCCEEDED, b"out")


def test_a_lease_of_a_job_whose_state_is_lost_gives_the_job_back(queue: Queue) -> None:
    queue.claim_one("a")
    queue.redis.hdel(queue.key("state"), "a")
    queue.pass_ms(10_000)
    assert queue.claim_one().suspect


def test_corrupt_jobs_among_the_leases_are_quarantined(queue: Queue) -> None:
    queue.enqueue("bad state", "bad body", "good")
    queue.claim(3)
    queue.redis.hset(queue.key("state"), "bad state", b"torn")
    queue.redis.hdel(queue.key("state"), "bad body")
    queue.redis.hset(queue.key("jobs"), "bad body", b"torn")
    queue.pass_ms(10_000)
    assert [claimed.id for claimed in queue.claim(3)] == ["good"]
    reasons = {queue.record(short).reason for short in ("bad state", "bad body")}
    assert reasons == {"the state record is corrupt", "the job body is corrupt"}
    assert queue.zset("dead").keys() == {b"bad state", b"bad body"}


def test_a_clock_set_back_only_lengthens_leases(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(-3_600_000)
    assert queue.claim(1, worker="w2") == []
    assert queue.turn(0, [Finished("a", claimed.version, Finish.SUCCEEDED)]).refused == ()
