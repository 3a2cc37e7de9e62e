"""How many jobs a worker claims: what it can start, and what it will be able to start in a moment."""

from __future__ import annotations

from redisched.core.config import ASYNC_CONCURRENCY, BATCH, thread_concurrency
from redisched.worker.run import Kind
from redisched.worker.slots import PROBE_JOBS, PROBE_SECONDS, Slots, slot_limits

ALL = set(Kind)


def slots(concurrency: int = 10) -> Slots:
    return Slots(dict.fromkeys(Kind, concurrency), concurrency)


def test_a_given_concurrency_limits_all_kinds_together() -> None:
    """Ten coroutines leave no slot for an eleventh, nor for a thread."""
    found = slots(10)
    for _ in range(10):
        found.start(Kind.ASYNC, 0.0)
    assert found.free(Kind.ASYNC) == found.free(Kind.THREAD) == 0


def test_an_ended_run_frees_its_slot() -> None:
    found = slots(1)
    found.start(Kind.THREAD, 0.0)
    found.end(Kind.THREAD)
    assert found.free(Kind.THREAD) == 1


def test_without_a_concurrency_each_kind_has_the_default_limit() -> None:
    limits = slot_limits(None)
    assert limits[Kind.ASYNC] == ASYNC_CONCURRENCY
    assert limits[Kind.THREAD] == thread_concurrency()


def test_an_idle_worker_wants_what_it_can_start() -> None:
    assert slots(10).wanted(ALL, backlog=0, now=0.0) == 10


def test_a_full_worker_wants_nothing() -> None:
    found = slots(2)
    found.start(Kind.ASYNC, 0.0)
    found.start(Kind.ASYNC, 0.0)
    assert found.wanted(ALL, backlog=0, now=0.0) == 0


def test_what_is_claimed_and_not_started_is_not_claimed_again() -> None:
    assert slots(10).wanted(ALL, backlog=4, now=0.0) == 6
    assert slots(10).wanted(ALL, backlog=40, now=0.0) == 0


def test_the_scarcest_kind_decides_where_any_may_come() -> None:
    """A claim cannot choose its kind: more than the scarcest can start would lie unstarted."""
    found = Slots({Kind.ASYNC: 100, Kind.THREAD: 8, Kind.PROCESS: 2}, 110)
    assert found.wanted(ALL, backlog=0, now=0.0) == 2
    assert found.wanted({Kind.ASYNC}, backlog=0, now=0.0) == min(100, BATCH)


def test_kinds_seen_lately_decide_over_those_that_may_come() -> None:
    """An application of a hundred coroutines and one rare process task is served at full width."""
    found = Slots({Kind.ASYNC: 100, Kind.THREAD: 8, Kind.PROCESS: 2}, 110)
    found.start(Kind.ASYNC, 0.0)
    assert found.wanted(ALL, backlog=0, now=1.0) == min(99, BATCH)
    assert found.wanted(ALL, backlog=0, now=100.0) == 2


def test_where_one_kind_is_full_and_another_free_a_few_are_claimed_now_and_then() -> None:
    """What is ready may be of either kind: what finds no slot steps aside, and the next probe waits."""
    found = Slots({Kind.ASYNC: 100, Kind.THREAD: 8, Kind.PROCESS: 2}, 110)
    for _ in range(2):
        found.start(Kind.PROCESS, 0.0)
    assert found.wanted(ALL, backlog=0, now=0.0) == PROBE_JOBS
    found.note_claim(left_over=3, now=0.0)
    assert found.wanted(ALL, backlog=3, now=0.1) == 0
    assert found.wanted(ALL, backlog=0, now=PROBE_SECONDS - 0.01) == 0
    assert found.wanted(ALL, backlog=0, now=PROBE_SECONDS) == PROBE_JOBS
    found.note_claim(left_over=0, now=PROBE_SECONDS)
    assert found.wanted(ALL, backlog=0, now=PROBE_SECONDS) == PROBE_JOBS


def test_quick_jobs_are_claimed_ahead_by_what_ends_within_the_hold() -> None:
    """A thousand a second end 20 in 20 ms: they are claimed before their slots are free."""
    found = slots(1)
    found.start(Kind.ASYNC, 0.0)
    found.count_ended(250, 0.0)
    assert found.wanted({Kind.ASYNC}, backlog=0, now=0.01) == 20


def test_the_pace_of_a_while_ago_counts_no_more() -> None:
    found = slots(1)
    found.start(Kind.ASYNC, 0.0)
    found.count_ended(250, 0.0)
    assert found.wanted({Kind.ASYNC}, backlog=0, now=1.0) == 0


def test_one_turn_claims_a_batch_at_the_most() -> None:
    found = slots(10_000)
    found.count_ended(1_000_000, 0.0)
    assert found.wanted(ALL, backlog=0, now=0.0) == BATCH
