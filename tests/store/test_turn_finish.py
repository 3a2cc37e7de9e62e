"""turn: finishing. Only the version that claimed may speak for a job, and once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redisched.core.record import Finish, Flags, Status
from redisched.core.states import CancelOutcome, JobState
from redisched.store.operations.jobs import cancel
from redisched.store.operations.turns import Finished, Limits
from tests.store.queue import NOON, Queue, new_job

DAY = 86_400_000
ENDS = [Finish.SUCCEEDED, Finish.DEAD, Finish.CANCELLED]


@pytest.mark.parametrize("kind", ENDS)
def test_an_end_is_recorded_with_reason_and_outcome(queue: Queue, kind: Finish) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(7)
    assert queue.finish(claimed, kind, reason="so", outcome=b"out").refused == ()
    record = queue.record("a")
    assert (record.status.value, record.reason, record.outcome) == (kind.value, "so", b"out")
    assert (record.attempts, record.deliveries, record.ended) == (1, 1, NOON + 7)
    assert queue.zset("processing") == {}


@pytest.mark.parametrize("kind", ENDS)
def test_every_end_frees_the_unique_key(queue: Queue, kind: Finish) -> None:
    queue.enqueue(new_job("a", unique="key", unclaimed_ms=10))
    queue.finish(queue.claim_one(), kind)
    assert queue.unique_holder("key") is None
    assert queue.enqueue(new_job("b", unique="key"))[0].created


def test_an_end_does_not_free_a_key_that_another_job_holds_by_now(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key"))
    claimed = queue.claim_one()
    queue.redis.hset(queue.key("unique"), "key", "b")
    queue.finish(claimed, Finish.SUCCEEDED)
    assert queue.unique_holder("key") == "b"
    queue.tampered = True


def test_ended_jobs_are_kept_for_the_retention_of_their_kind(queue: Queue) -> None:
    limits = Limits(retention=timedelta(hours=1), dead_retention=timedelta(hours=2))
    queue.enqueue("done", "dead", "off", new_job("own", retention_ms=5), new_job("grave", retention_ms=5))
    kinds = {
        "done": Finish.SUCCEEDED,
        "dead": Finish.DEAD,
        "off": Finish.CANCELLED,
        "own": Finish.SUCCEEDED,
        "grave": Finish.DEAD,
    }
    finishes = [Finished(c.id, c.version, kinds[c.id]) for c in queue.claim(5)]
    queue.turn(0, finishes, limits=limits)
    hour = 3_600_000
    assert queue.zset("ended") == {b"own": NOON + 5, b"done": NOON + hour, b"off": NOON + hour}
    assert queue.zset("dead") == {b"dead": NOON + 2 * hour, b"grave": NOON + 2 * hour}


@pytest.mark.parametrize("kind", list(Finish))
def test_a_stale_version_is_refused_counted_and_told(queue: Queue, kind: Finish) -> None:
    old = queue.claim_one("a")
    queue.pass_ms(10_000)
    new = queue.claim_one(worker="w2")
    assert queue.finish(old, kind).refused == ("a",)
    assert queue.counter("refused") == 1
    assert queue.record("a").version == new.version
    assert queue.finish(new, Finish.SUCCEEDED).refused == ()


def test_a_recovered_job_refuses_its_former_worker(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(10_000)
    queue.turn(0, worker="w2")
    assert queue.look("a").state is JobState.READY
    assert queue.finish(claimed, Finish.SUCCEEDED).refused == ("a",)


def test_a_lapsed_lease_that_nobody_recovered_still_finishes(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.pass_ms(60_000)
    assert queue.finish(claimed, Finish.SUCCEEDED).refused == ()
    assert queue.look("a").state is JobState.SUCCEEDED


def test_a_job_finishes_once(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.finish(claimed, Finish.SUCCEEDED, outcome=b"first")
    assert queue.finish(claimed, Finish.DEAD, outcome=b"second").refused == ("a",)
    assert queue.record("a").outcome == b"first"


def test_a_job_finishes_once_within_one_turn(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    twice = [Finished("a", claimed.version, Finish.RETRY), Finished("a", claimed.version, Finish.SUCCEEDED)]
    assert queue.turn(0, twice).refused == ("a",)
    assert queue.look("a").state is JobState.READY


def test_a_finish_of_an_unknown_job_is_refused(queue: Queue) -> None:
    assert queue.turn(0, [Finished("nobody", 1, Finish.SUCCEEDED)]).refused == ("nobody",)


def test_a_refusal_does_not_touch_its_neighbours(queue: Queue) -> None:
    queue.enqueue("a", "b")
    a, b = queue.claim(2)
    turn = queue.turn(
        0,
        [
            Finished(a.id, a.version, Finish.SUCCEEDED),
            Finished("nobody", 1, Finish.RETRY),
            Finished(b.id, b.version + 1, Finish.DEAD),
        ],
    )
    assert turn.refused == ("nobody", "b")
    assert [queue.look(short).state for short in "ab"] == [JobState.SUCCEEDED, JobState.PROCESSING]


def test_a_finish_of_a_job_with_a_corrupt_state_is_refused_and_the_job_quarantined(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.redis.hset(queue.key("state"), "a", b"torn")
    assert queue.finish(claimed, Finish.SUCCEEDED).refused == ("a",)
    queue.pass_ms(10_000)
    queue.turn(0)
    assert queue.record("a").outcome == b"torn"
    assert queue.look("a").state is JobState.DEAD


def test_a_retry_waits_for_its_time_and_counts_an_attempt(queue: Queue) -> None:
    queue.enqueue(new_job("a", unique="key", unclaimed_ms=3))
    queue.finish(queue.claim_one(), Finish.RETRY, delay_ms=500, reason="failed", outcome=b"once")
    found, record = queue.look("a"), queue.record("a")
    assert (found.state, found.run_at_ms) == (JobState.SCHEDULED, NOON + 500)
    assert (record.attempts, record.deliveries, record.due, record.worker) == (1, 1, NOON + 500, "")
    assert (record.reason, record.outcome) == ("failed", b"once")
    assert queue.unique_holder("key") == "a"
    assert queue.zset("unclaimed") == {b"a": NOON + 503}
    queue.pass_ms(500)
    again = queue.claim_one()
    assert (again.attempts, again.deliveries, again.due_ms, again.outcome) == (1, 2, NOON + 500, b"once")


def test_a_retry_without_delay_goes_behind_the_others(queue: Queue) -> None:
    queue.enqueue("a", "b")
    queue.finish(queue.claim_one(), Finish.RETRY)
    assert queue.ready() == ["b", "a"]


def test_a_failed_attempt_ends_the_suspicion(queue: Queue) -> None:
    queue.claim_one("a")
    queue.pass_ms(10_000)
    suspect = queue.claim_one()
    assert suspect.suspect
    queue.finish(suspect, Finish.RETRY)
    assert not queue.claim_one().suspect


def test_released_jobs_go_back_to_the_head_in_their_order_uncounted(queue: Queue) -> None:
    queue.enqueue("a", "b", "c", "d")
    claims = queue.claim(3)
    assert queue.turn(0, [Finished(c.id, c.version, Finish.RELEASE) for c in claims]).refused == ()
    assert queue.ready() == ["a", "b", "c", "d"]
    record = queue.record("a")
    assert (record.status, record.attempts, record.deliveries, record.flags) == (Status.WAITING, 0, 0, 0)
    again = queue.claim(4)
    assert [claimed.id for claimed in again] == ["a", "b", "c", "d"]
    assert {claimed.deliveries for claimed in again} == {1}


def test_a_released_job_may_be_claimed_in_the_same_turn(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    turn = queue.turn(1, [Finished("a", claimed.version, Finish.RELEASE)])
    assert [again.version > claimed.version for again in turn.claimed] == [True]


def test_a_released_suspect_stays_suspect(queue: Queue) -> None:
    queue.claim_one("a")
    queue.pass_ms(10_000)
    queue.finish(queue.claim_one(), Finish.RELEASE)
    assert queue.claim_one().suspect


def test_a_deferred_job_waits_uncounted_and_keeps_its_due_time(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.finish(claimed, Finish.DEFER, delay_ms=5_000)
    found, record = queue.look("a"), queue.record("a")
    assert (found.state, found.run_at_ms) == (JobState.SCHEDULED, NOON + 5_000)
    assert (record.attempts, record.deliveries, record.due) == (0, 0, NOON)


@pytest.mark.parametrize("kind", [Finish.DEAD, Finish.CANCELLED, Finish.RETRY])
def test_a_job_asked_to_stop_ends_cancelled(queue: Queue, kind: Finish) -> None:
    queue.enqueue(new_job("a", unique="key"))
    claimed = queue.claim_one()
    assert queue.do(cancel(queue.keyspace, "a")) is CancelOutcome.STOP_REQUESTED
    queue.finish(claimed, kind, delay_ms=100, outcome=b"part")
    record = queue.record("a")
    assert (record.status, record.attempts, record.outcome) == (Status.CANCELLED, 1, b"part")
    assert queue.unique_holder("key") is None


@pytest.mark.parametrize("kind", [Finish.RELEASE, Finish.DEFER, Finish.LOST])
def test_a_job_asked_to_stop_that_comes_back_ends_cancelled_with_its_history(
    queue: Queue, kind: Finish
) -> None:
    """Such a word tells of no attempt: there is none to count, and none to replace the history."""
    queue.enqueue(new_job("a", unique="key"))
    queue.finish(queue.claim_one(), Finish.RETRY, outcome=b"history")
    claimed = queue.claim_one()
    queue.do(cancel(queue.keyspace, "a"))
    queue.finish(claimed, kind, delay_ms=100)
    record = queue.record("a")
    assert (record.status, record.reason) == (Status.CANCELLED, "cancelled")
    assert (record.attempts, record.outcome) == (1, b"history")
    assert queue.unique_holder("key") is None


def test_a_job_asked_to_stop_that_succeeds_has_succeeded(queue: Queue) -> None:
    claimed = queue.claim_one("a")
    queue.do(cancel(queue.keyspace, "a"))
    queue.finish(claimed, Finish.SUCCEEDED)
    assert queue.record("a").status is Status.SUCCEEDED
    assert queue.record("a").flags == Flags.STOP


@pytest.mark.parametrize("reason", ["x" * 255, "x" * 256, "x" * 5_000, "ß" * 200])
def test_a_long_reason_is_cut_and_does_not_spoil_the_record(queue: Queue, reason: str) -> None:
    queue.enqueue(new_job("a", unique="key"))
    queue.finish(queue.claim_one(), Finish.RETRY, reason=reason, outcome=b"\x00out")
    record = queue.record("a")
    assert (record.unique, record.outcome) == ("key", b"\x00out")
    assert record.reason[:100] == reason[:100]
    assert queue.claim_one().outcome == b"\x00out"


def test_an_outcome_of_any_bytes_and_size_is_kept(queue: Queue) -> None:
    outcome = bytes(range(256)) * 1_024
    queue.finish(queue.claim_one("a"), Finish.RETRY, outcome=outcome)
    assert queue.claim_one().outcome == outcome


def test_without_retention_nothing_but_a_tombstone_is_kept(queue: Queue) -> None:
    queue.enqueue(new_job("a", retention_ms=0))
    queue.finish(queue.claim_one(), Finish.SUCCEEDED, outcome=b"big")
    found = queue.look("a")
    assert (found.state, found.never_kept, found.record) == (JobState.PRUNED, True, None)
    assert not queue.enqueue("a")[0].created


def test_finishes_and_claims_of_one_turn_go_together(queue: Queue) -> None:
    queue.enqueue(*(f"j{i}" for i in range(256)))
    claims = queue.claim(128)
    turn = queue.turn(128, [Finished(c.id, c.version, Finish.SUCCEEDED) for c in claims])
    assert (turn.refused, len(turn.claimed), turn.more) == ((), 128, False)
    status = queue.status()
    assert (status.processing, status.ended, status.ready) == (128, 128, 0)
