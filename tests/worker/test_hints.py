"""A hint that work is there is used or passed on, whenever it comes."""

from __future__ import annotations

from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Turn
from redisched.worker.lane import Lane
from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for

NOTHING = Turn(now_ms=0, more=False, wait_ms=5000, refused=(), claimed=(), due=())


def test_a_hint_from_before_a_turn_is_used_by_it() -> None:
    lane = Lane(Keyspace("test", "default"), token=True)
    lane.next_turn_id()
    lane.learn(NOTHING, wanted=1)
    assert not lane.is_due()


def test_a_hint_that_comes_during_a_turn_calls_for_another() -> None:
    """The turn may have looked before the job was there: its answer says nothing of the hint."""
    lane = Lane(Keyspace("test", "default"))
    lane.next_turn_id()
    lane.token = True
    lane.learn(NOTHING, wanted=1)
    assert lane.is_due()


def test_a_job_enqueued_behind_a_turn_under_way_does_not_wait_for_the_longest_wait(fleet: Fleet) -> None:
    """The turn has run, its answer is late, and the hint of the new job comes before that."""
    fleet.start(env={"REDISCHED_FAILPOINTS": "worker.after_turn=sleep:300"})
    # Long enough for the worker to ask for hints while it runs.
    fleet.app.enqueue(probe, seconds=0.5).result(timeout=10)
    with fleet.server.client() as client:
        wait_for(lambda: client.exists("rs:{test:default}:timer"), what="the turn that finds nothing")
    job = fleet.app.enqueue(probe)
    job.result(timeout=10)
    (start,) = fleet.starts(job.id)
    assert start.at_ms - start.due_ms < 2500
