"""Bulk calls on dead letters go on where one of them cannot be moved."""

from __future__ import annotations

import pytest

from redisched import JobState, ReviveOutcome
from redisched.core.record import Finish
from redisched.ops.dead_letters import Retried, purge_all, retry_all
from tests.ops.yard import Yard

MANY = [f"j{number:03}" for number in range(250)]


def states(yard: Yard, *ids: str) -> set[JobState]:
    return {yard.app.job(f"default:{job}").status() for job in ids}


@pytest.mark.parametrize("ids", [[], MANY[:1], MANY], ids=len)
def test_all_dead_letters_run_again(yard: Yard, ids: list[str]) -> None:
    yard.dead(*ids)

    assert yard.run(retry_all(yard.keyspace)) == Retried(len(ids), {})
    assert states(yard, *ids) <= {JobState.READY}


@pytest.mark.parametrize("ids", [[], MANY[:1], MANY], ids=len)
def test_all_dead_letters_are_dropped_and_nothing_else(yard: Yard, ids: list[str]) -> None:
    yard.dead(*ids)
    yard.succeeded("fine")
    yard.ready("waits")

    assert yard.run(purge_all(yard.keyspace)) == len(ids)
    assert states(yard, *ids) <= {JobState.PRUNED}
    assert states(yard, "fine", "waits") == {JobState.SUCCEEDED, JobState.READY}


def test_f77_ghosts_among_dead_letters_stop_neither_retry_nor_purge(yard: Yard) -> None:
    """F77: 100 of 250 records were deleted by hand; the bulk call moves the other 150, and no ghost stays."""
    yard.dead(*MANY)
    yard.delete_record(*MANY[20:120])

    assert yard.run(retry_all(yard.keyspace)) == Retried(150, {})
    assert yard.redis.zcard(yard.key("dead")) == 0

    claimed = [job.id for job in yard.claim(250)]
    assert sorted(claimed) == sorted(MANY[:20] + MANY[120:])


def test_f77_purging_goes_on_past_ghosts(yard: Yard) -> None:
    """F77: the same for dropping."""
    yard.dead(*MANY)
    yard.delete_record(*MANY[20:120])

    assert yard.run(purge_all(yard.keyspace)) == 150
    assert yard.redis.zcard(yard.key("dead")) == 0


def test_a_dead_letter_whose_unique_key_is_held_stays_and_is_named(yard: Yard) -> None:
    yard.app.options(job_id="old", unique="k").enqueue("yard.task")
    yard.finish(Finish.DEAD, *yard.claim(1))
    yard.dead(*MANY[:150])
    yard.app.options(job_id="new", unique="k").enqueue("yard.task")

    found = yard.run(retry_all(yard.keyspace))

    assert found == Retried(150, {"default:old": ReviveOutcome.UNIQUE_KEY_HELD})
    assert states(yard, "old") == {JobState.DEAD}
