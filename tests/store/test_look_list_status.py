"""look, list_jobs and status: what is where. They write nothing."""

from __future__ import annotations

import pytest

from redisched.core.record import Finish, Status
from redisched.core.states import JobState
from redisched.store.operations.jobs import cancel, list_jobs, reschedule
from redisched.store.operations.turns import Finished, enlist
from redisched.store.scripts import script
from tests.store.queue import NOON, Queue, new_job


def listed(queue: Queue, place: str, offset: int = 0, limit: int = 100) -> list[str]:
    return [short for short, _ in queue.do(list_jobs(queue.keyspace, place, offset=offset, limit=limit)).rows]


def full(queue: Queue) -> None:
    """A job in every state; `ready`, `late` and `runs` are alive."""
    queue.enqueue("done", "dead", "runs", "ready", new_job("late", delay_ms=50, unclaimed_ms=5), "off")
    done, dead, _ = queue.claim(3)
    finishes = [
        Finished("done", done.version, Finish.SUCCEEDED),
        Finished("dead", dead.version, Finish.DEAD),
    ]
    queue.turn(0, finishes)
    queue.do(cancel(queue.keyspace, "off"))


@pytest.mark.parametrize("name", ["look", "list_jobs", "list_schedules", "status"])
def test_they_are_declared_as_reading_only(name: str) -> None:
    assert script(name).text.startswith("#!lua flags=no-writes\n")


def test_a_look_at_every_state(queue: Queue) -> None:
    full(queue)
    states = {name: queue.look(name).state for name in ("done", "dead", "runs", "ready", "late", "off", "no")}
    assert states == {
        "done": JobState.SUCCEEDED,
        "dead": JobState.DEAD,
        "runs": JobState.PROCESSING,
        "ready": JobState.READY,
        "late": JobState.SCHEDULED,
        "off": JobState.CANCELLED,
        "no": JobState.NOT_FOUND,
    }
    assert (queue.look("late").run_at_ms, queue.look("late").now_ms) == (NOON + 50, NOON)


def test_a_look_at_what_cannot_be_read_says_why(queue: Queue) -> None:
    queue.tampered = True
    queue.enqueue("body", "state")
    queue.redis.hset(queue.key("jobs"), "body", b"torn body")
    queue.redis.hset(queue.key("state"), "state", b"torn")
    for short in ("body", "state"):
        found = queue.look(short)
        assert (found.state, found.record) == (JobState.DEAD, None)
        assert found.fault is not None
        assert "of this version of redisched" in found.fault


def test_each_place_lists_its_own(queue: Queue) -> None:
    full(queue)
    places = ("scheduled", "ready:0", "ready:1", "processing", "ended", "dead", "unclaimed")
    assert {place: sorted(listed(queue, place)) for place in places} == {
        "scheduled": ["late"],
        "ready:0": [],
        "ready:1": ["ready"],
        "processing": ["runs"],
        "ended": ["done", "off"],
        "dead": ["dead"],
        "unclaimed": ["late"],
    }


@pytest.mark.parametrize("place", ["scheduled", "ready:1", "processing"])
def test_pages_follow_one_another(queue: Queue, place: str) -> None:
    names = [f"j{i}" for i in range(7)]
    queue.enqueue(*(new_job(name, delay_ms=10 + i) for i, name in enumerate(names)))
    queue.pass_ms(0 if place == "scheduled" else 100)
    queue.turn(7 if place == "processing" else 0)
    pages = [listed(queue, place, offset, 3) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert sorted(name for page in pages for name in page) == names
    assert queue.do(list_jobs(queue.keyspace, place, limit=1)).total == 7


def test_a_listing_says_what_a_look_says(queue: Queue) -> None:
    full(queue)
    for place in ("scheduled", "ready:1", "processing", "ended", "dead"):
        for short, found in queue.do(list_jobs(queue.keyspace, place)).rows:
            assert found == queue.look(short)


@pytest.mark.parametrize("odd", ["1:2:3", "line\nfeed", "nul\0", "größe", "12:"])
def test_ids_of_any_characters_are_listed(queue: Queue, odd: str) -> None:
    queue.enqueue(odd)
    assert listed(queue, "ready:1") == [odd]
    claimed = queue.claim_one()
    assert listed(queue, "processing") == [odd]
    queue.finish(claimed, Finish.SUCCEEDED)
    assert listed(queue, "ended") == [odd]


def test_stale_entries_and_foreign_members_are_left_out(queue: Queue) -> None:
    queue.enqueue("gone", "moved", "stays")
    queue.do(cancel(queue.keyspace, "gone"))
    queue.do(reschedule(queue.keyspace, "moved", at_ms=NOON + 5))
    for place in ("processing", "ended", "dead", "scheduled"):
        queue.redis.zadd(queue.key(place), {b"\xff\xfe": 0, b"1:nobody": 1})
    queue.redis.rpush(queue.key("ready:1"), b"\xff", b"")
    assert listed(queue, "ready:1") == ["stays"]
    assert listed(queue, "ended") == ["gone"]
    assert listed(queue, "scheduled") == ["moved"]
    assert (listed(queue, "processing"), listed(queue, "dead")) == ([], [])
    queue.tampered = True


def test_the_counts_of_an_empty_queue(queue: Queue) -> None:
    status = queue.status()
    numbers = (status.scheduled, status.ready, status.processing, status.ended, status.dead, status.alarms)
    assert numbers == (0, 0, 0, 0, 0, 0)
    assert (status.now_ms, status.next_run_ms, status.paused) == (NOON, None, False)
    assert (status.counters, status.workers) == ({}, ())


def test_the_counts_of_a_queue(queue: Queue) -> None:
    full(queue)
    status = queue.status()
    numbers = (status.scheduled, status.ready, status.processing, status.ended, status.dead, status.alarms)
    assert numbers == (1, 1, 1, 2, 1, 0)
    assert status.next_run_ms == NOON + 50
    assert status.counters == {"enqueued": 6, "cancelled": 1, "stale": 1}


def test_the_newest_workers_are_named(queue: Queue) -> None:
    for n in range(3):
        queue.do(enlist(queue.keyspace, worker=f"w{n}", about=b"about %d" % n))
        queue.pass_ms(1)
    rows = [(row.id, row.last_seen_ms, row.about) for row in queue.status().workers]
    assert rows == [(f"w{n}", NOON + n, b"about %d" % n) for n in (2, 1, 0)]


def test_a_record_in_python_is_the_record_in_lua(queue: Queue) -> None:
    """Every field, with different values: both sides must agree on the layout."""
    queue.enqueue(
        new_job(
            "a", priority=2, expires_ms=11, unclaimed_ms=22, retention_ms=33, unique="größe", at_ms=NOON - 4
        )
    )
    queue.finish(queue.claim_one(), Finish.RETRY, delay_ms=0, reason="why", outcome=b"\0out")
    queue.pass_ms(5)
    claimed = queue.claim_one()
    queue.do(cancel(queue.keyspace, "a"))
    record = queue.record("a")
    assert (record.status, record.priority, record.attempts, record.deliveries) == (
        Status.PROCESSING,
        2,
        1,
        2,
    )
    assert (record.created, record.due, record.claimed, record.ended) == (NOON, NOON, NOON + 5, 0)
    assert (record.expires, record.unclaimed, record.retention) == (11, 22, 33)
    assert (record.worker, record.reason, record.unique, record.outcome) == ("w1", "why", "größe", b"\0out")
    assert (record.version, record.flags) == (claimed.version, 2)
    assert record.generation > 0
