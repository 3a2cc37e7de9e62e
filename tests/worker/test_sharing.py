"""Several workers on one queue share its jobs fairly."""

from __future__ import annotations

from collections import Counter

from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for


def test_no_job_sits_claimed_while_another_worker_idles(fleet: Fleet) -> None:
    """A claim that finds no slot is held for 20 ms, then given back: the other worker may have one."""
    pids = {fleet.start(concurrency=10).pid for _ in range(2)}
    jobs = fleet.app.enqueue_many([probe.call(1.0) for _ in range(100)])
    wait_for(lambda: len(fleet.noted("end")) == 100, what="all jobs end", timeout=30)
    starts = fleet.starts()
    assert Counter(start.id for start in starts) == Counter(job.id for job in jobs)
    shares = Counter(start.pid for start in starts)
    assert set(shares) == pids
    assert min(shares.values()) >= 40
    claimed_at = {job.id: job.info().started_at for job in jobs}
    waited = [start.at_ms / 1000 - at.timestamp() for start in starts if (at := claimed_at[start.id])]
    assert len(waited) == 100
    assert max(waited) < 0.3, "from the claim that stood to the start: the hold, and the machine's noise"


def test_unstarted_claims_of_a_worker_that_ends_go_to_the_other_one(fleet: Fleet) -> None:
    """At once, and in their order."""
    first = fleet.start(concurrency=1)
    jobs = fleet.app.enqueue_many([probe.call(0.02, n) for n in range(40)])
    wait_for(lambda: len(fleet.noted("end")) >= 5, what="some jobs end", timeout=10)
    assert first.end() == 0
    fleet.start(concurrency=1)
    wait_for(lambda: len(fleet.noted("end")) == 40, what="all jobs end", timeout=20)
    assert [start.id for start in fleet.starts()] == [job.id for job in jobs]
