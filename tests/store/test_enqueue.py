"""enqueue: 1 to n jobs, for now or for later; the same id again stores nothing."""

from __future__ import annotations

import pytest

from redisched.core.errors import ArgumentError
from redisched.core.record import UNSET, Finish, Status
from redisched.core.states import JobState
from redisched.store.operations.jobs import Stored, cancel
from tests.store.queue import NOON, Queue, new_job

YEAR_9999 = 253_402_300_799_999

ODD_IDS = ["line\nfeed", "nul\0byte", "größe ✓ 語", "1:2:3", "x" * 256, "{tag}", "\r\n$5\r\nHELLO\r\n"]


def test_a_job_for_now_is_ready(queue: Queue) -> None:
    assert queue.enqueue("a") == [Stored(True)]
    found = queue.look("a")
    assert (found.state, found.body) == (JobState.READY, b"body")
    record = queue.record("a")
    assert (record.created, record.due, record.status) == (NOON, NOON, Status.WAITING)


def test_a_job_for_later_is_scheduled(queue: Queue) -> None:
    queue.enqueue(new_job("in", delay_ms=1), new_job("at", at_ms=NOON + 5))
    assert [queue.look(short).run_at_ms for short in ("in", "at")] == [NOON + 1, NOON + 5]
    assert queue.look("at").state is JobState.SCHEDULED


def test_a_time_that_has_passed_is_now_and_stays_the_due_time(queue: Queue) -> None:
    queue.enqueue(new_job("late", at_ms=NOON - 5_000), new_job("exact", at_ms=NOON))
    assert [queue.look(short).state for short in ("late", "exact")] == [JobState.READY] * 2
    assert queue.record("late").due == NOON - 5_000


def test_the_end_of_the_year_9999_is_a_time_like_any_other(queue: Queue) -> None:
    queue.enqueue(new_job("far", at_ms=YEAR_9999, unclaimed_ms=1_000))
    assert queue.look("far").run_at_ms == YEAR_9999
    assert queue.record("far").due == YEAR_9999


def test_the_same_id_again_stores_nothing(queue: Queue) -> None:
    queue.enqueue("a")
    assert queue.enqueue(new_job("a", b"other", unique="key"), "b") == [Stored(False), Stored(True)]
    assert queue.look("a").body == b"body"
    assert queue.unique_holder("key") is None


def test_the_same_id_twice_in_one_call_is_one_job(queue: Queue) -> None:
    assert queue.enqueue("a", new_job("a", b"other")) == [Stored(True), Stored(False)]
    assert queue.look("a").body == b"body"
    assert queue.status().ready == 1


def test_no_jobs_is_no_error(queue: Queue) -> None:
    assert queue.enqueue() == []
    assert queue.redis.keys("rs:*") == []


def test_jobs_run_in_the_order_of_the_call(queue: Queue) -> None:
    queue.enqueue("a", "b", "c")
    queue.enqueue("d")
    assert [claimed.id for claimed in queue.claim(10)] == ["a", "b", "c", "d"]


def test_options_are_kept(queue: Queue) -> None:
    queue.enqueue(
        new_job("a", priority=3, expires_ms=1, unclaimed_ms=2, retention_ms=0, unique="key"), new_job("b")
    )
    record = queue.record("a")
    assert (record.priority, record.expires, record.unclaimed, record.retention, record.unique) == (
        3,
        1,
        2,
        0,
        "key",
    )
    plain = queue.record("b")
    assert (plain.expires, plain.unclaimed, plain.retention, plain.unique) == (0, 0, UNSET, "")


def test_a_unique_key_is_held_until_its_job_ends(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    assert queue.enqueue(new_job("b", unique="key")) == [Stored(False, "a")]
    queue.finish(queue.claim_one(), Finish.SUCCEEDED)
    assert queue.enqueue(new_job("b", unique="key")) == [Stored(True)]


def test_of_two_jobs_with_one_unique_key_in_one_call_the_first_is_stored(queue: Queue) -> None:
    first, second = new_job("a", unique="key"), new_job("b", unique="key")
    assert queue.enqueue(first, second) == [Stored(True), Stored(False, "a")]


def test_a_repeat_of_the_job_that_holds_the_key_is_told_from_another(queue: Queue) -> None:
    job = new_job("a", unique="key")
    queue.enqueue(job)
    assert queue.enqueue(job) == [Stored(False)]


def test_a_unique_key_whose_holder_is_gone_is_free(queue: Queue) -> None:
    """A key that nobody could free any more would refuse its jobs for ever."""
    queue.redis.hset(queue.key("unique"), mapping={"gone": "nobody", "ended": "over", "bad": "torn"})
    queue.enqueue("over", "torn")
    for claimed in queue.claim(2):
        queue.finish(claimed, Finish.SUCCEEDED)
    queue.redis.hset(queue.key("state"), "torn", b"torn")
    jobs = [new_job(key, unique=key) for key in ("gone", "ended", "bad")]
    assert queue.enqueue(*jobs) == [Stored(True)] * 3
    queue.tampered = True


@pytest.mark.parametrize("odd", ODD_IDS)
def test_an_id_of_any_characters_goes_through_its_whole_life(queue: Queue, odd: str) -> None:
    queue.enqueue(new_job(odd, odd.encode() + b"\x00\xff\xc1", delay_ms=1, unique=odd))
    queue.pass_ms(1)
    claimed = queue.claim_one()
    assert (claimed.id, claimed.body) == (odd, odd.encode() + b"\x00\xff\xc1")
    assert not queue.finish(claimed, Finish.SUCCEEDED, outcome=b"\xc1\x00").refused
    assert queue.record(odd).outcome == b"\xc1\x00"
    assert queue.unique_holder(odd) is None


def test_a_body_is_opaque(queue: Queue) -> None:
    bodies = [b"", b"j1", b"x", bytes(range(256)) * 400]
    queue.enqueue(*(new_job(f"{i}", body) for i, body in enumerate(bodies)))
    assert [claimed.body for claimed in queue.claim(10)] == bodies


def test_the_largest_call_is_a_thousand_jobs(queue: Queue) -> None:
    def jobs(count: int) -> list[str]:
        return [f"j{i}" for i in range(count)]

    with pytest.raises(ArgumentError, match="1001"):
        queue.enqueue(*jobs(1001))
    assert queue.redis.keys("rs:*") == []
    assert queue.enqueue(*jobs(1000)) == [Stored(True)] * 1000
    assert queue.status().ready == 1000


def test_a_unique_key_too_long_for_its_record_is_refused(queue: Queue) -> None:
    queue.enqueue(new_job("long", unique="k" * 65_535))
    assert queue.record("long").unique == "k" * 65_535
    with pytest.raises(ArgumentError, match="unique"):
        queue.enqueue(new_job("longer", unique="k" * 65_536))


def test_enqueued_jobs_are_counted_and_repeats_are_not(queue: Queue) -> None:
    queue.enqueue("a", "b", "a")
    queue.enqueue("a")
    assert queue.counter("enqueued") == 2


def test_a_job_that_ended_is_still_known(queue: Queue) -> None:
    queue.enqueue("a")
    queue.do(cancel(queue.keyspace, "a"))
    assert queue.enqueue("a") == [Stored(False)]
    queue.turn(1)


def test_an_unclaimed_alarm_is_set_from_the_run_time(queue: Queue) -> None:
    queue.enqueue(new_job("a", delay_ms=100, unclaimed_ms=50), new_job("b", at_ms=NOON - 9, unclaimed_ms=50))
    assert queue.zset("unclaimed") == {b"b": NOON + 50, b"a": NOON + 150}
