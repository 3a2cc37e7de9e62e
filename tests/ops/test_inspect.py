"""Counts and lists of a queue agree, also where somebody deleted what they count."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from redisched import JobInfo
from redisched.ops.inspect import Place, QueueReport, jobs_of, report
from tests.ops.yard import Yard

COUNTED = (Place.SCHEDULED, Place.READY, Place.PROCESSING, Place.ENDED, Place.DEAD)


def listed(yard: Yard, *places: Place, limit: int = 1_000) -> list[JobInfo]:
    return yard.run(jobs_of(yard.keyspace, places, limit=limit))


def ids(jobs: Iterable[JobInfo]) -> list[str]:
    return [job.id.removeprefix("default:") for job in jobs]


def counts(found: QueueReport) -> list[int]:
    return [getattr(found, place.value) for place in COUNTED]


def one_of_each(yard: Yard, *names: str) -> None:
    """`name-…` in each place."""
    yard.dead(*(f"{name}-dead" for name in names))
    yard.succeeded(*(f"{name}-ended" for name in names))
    yard.processing(*(f"{name}-processing" for name in names))
    yard.ready(*(f"{name}-ready" for name in names))
    yard.scheduled(*(f"{name}-scheduled" for name in names))


def test_an_empty_queue_holds_nothing(yard: Yard) -> None:
    found = yard.run(report(yard.keyspace))

    assert counts(found) == [0, 0, 0, 0, 0]
    assert (found.next_run_at, found.workers, found.paused) == (None, (), False)
    assert listed(yard, *Place) == []


def test_jobs_are_listed_and_counted_where_they_are(yard: Yard) -> None:
    one_of_each(yard, "a")

    found = yard.run(report(yard.keyspace))

    for place in COUNTED:
        assert ids(listed(yard, place)) == [f"a-{place.value}"]
    assert counts(found) == [1, 1, 1, 1, 1]
    assert found.now is not None
    assert found.next_run_at is not None
    assert found.next_run_at - found.now > timedelta(minutes=59)


def test_ready_jobs_are_listed_in_the_order_in_which_they_are_claimed(yard: Yard) -> None:
    for job, priority in (("third", 3), ("first", 0), ("second", 1)):
        yard.app.options(job_id=job, priority=priority).enqueue("yard.task")

    assert ids(listed(yard, Place.READY)) == ["first", "second", "third"]
    assert ids(listed(yard, Place.READY, limit=2)) == ["first", "second"]


def test_a_stale_entry_is_neither_listed_nor_counted(yard: Yard) -> None:
    gone, moved, _ = yard.ready("gone", "moved", "stays")
    gone.cancel()
    moved.reschedule(delay=3600)

    assert ids(listed(yard, Place.READY)) == ["stays"]
    assert yard.run(report(yard.keyspace)).ready == 1


def test_f77_ghosts_are_neither_listed_nor_counted_and_go(yard: Yard) -> None:
    """F77: records deleted by hand, one in each place; lists, counts and members agree afterwards."""
    one_of_each(yard, "a", "b")
    yard.delete_record(*(f"a-{place.value}" for place in COUNTED))

    found = yard.run(report(yard.keyspace))

    assert counts(found) == [1, 1, 1, 1, 1]
    assert [len(listed(yard, place)) for place in COUNTED] == [1, 1, 1, 1, 1]
    for place in ("scheduled", "processing", "ended", "dead"):
        assert yard.redis.zcard(yard.key(place)) == 1


def test_f77_an_alarm_of_a_job_that_is_gone_ends(yard: Yard) -> None:
    """F77: a counter that returns to 0."""
    yard.app.options(job_id="a", unclaimed_timeout="1ms").enqueue("yard.task")
    yard.delete_record("a")

    assert yard.run(report(yard.keyspace)).alarms == 0
    assert not yard.redis.exists(yard.key("unclaimed"))


def test_f77_a_job_enqueued_again_after_it_was_deleted_counts_once(yard: Yard) -> None:
    """F77: the entry of the deleted job is not the new job's."""
    yard.scheduled("a")
    yard.ready("b")
    yard.delete_record("a", "b")
    yard.scheduled("a")
    yard.ready("b")

    assert counts(yard.run(report(yard.keyspace)))[:2] == [1, 1]
    assert ids(listed(yard, Place.SCHEDULED, Place.READY)) == ["a", "b"]


def test_more_jobs_than_a_page_holds_are_listed_and_counted(yard: Yard) -> None:
    names = [f"j{number:03}" for number in range(250)]
    yard.ready(*names)
    yard.delete_record(*names[50:150])

    assert ids(listed(yard, Place.READY)) == names[:50] + names[150:]
    assert yard.run(report(yard.keyspace)).ready == 150


def test_a_place_too_large_to_be_looked_through_is_counted_by_its_length(yard: Yard) -> None:
    names = [f"j{number:03}" for number in range(250)]
    yard.ready(*names)
    yard.delete_record(names[0])

    assert yard.run(report(yard.keyspace, most=200)).ready == 250


def test_a_job_that_cannot_be_read_is_listed_with_the_reason(yard: Yard) -> None:
    """It is no ghost: the next claim puts it aside, and nobody lost it."""
    yard.ready("a")
    yard.redis.hset(yard.key("jobs"), "a", b"rubbish that is longer than any head")

    assert yard.run(report(yard.keyspace)).ready == 1
    (found,) = listed(yard, Place.READY)
    assert (found.task, found.reason != "") == (None, True)
