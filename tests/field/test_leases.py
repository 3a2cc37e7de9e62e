"""Field cases about leases: they last as long as their worker lives, and no longer."""

from __future__ import annotations

import threading
from collections import Counter

from tests.apps.probe import probe, probe_process, probe_thread
from tests.apps.trouble import APP, pid_after, short
from tests.field.census import audit_now, counter, queue_status
from tests.fleet import Fleet
from tests.waiting import wait_for


def test_f05_a_delay_longer_than_the_visibility_timeout_means_one_run(fleet: Fleet) -> None:
    """A future job is leased to nobody before it is due: 100 jobs, one run each, none early."""
    for _ in range(3):
        fleet.start(visibility_timeout=0.5)
    jobs = fleet.app.enqueue_many([probe.call(label=n) for n in range(100)], delay=2)
    assert queue_status(fleet).scheduled == 100
    for job in jobs:
        job.result(timeout=10)
    assert fleet.start_counts() == {job.id: 1 for job in jobs}
    assert all(x.at_ms >= x.due_ms and x.delivery == 1 for x in fleet.starts())


def test_f06_a_job_longer_than_the_visibility_timeout_runs_once(fleet: Fleet) -> None:
    """Heartbeats keep the lease of a coroutine, a thread and a child, with idle workers waiting for it."""
    for _ in range(4):
        fleet.start(visibility_timeout=0.7)
    jobs = [fleet.app.enqueue(task, seconds=4) for task in (probe, probe_thread, probe_process)]
    for job in jobs:
        job.result(timeout=15)
    assert Counter(x.event for x in fleet.noted()) == {"start": 3, "end": 3}
    assert [job.info().deliveries for job in jobs] == [1, 1, 1]
    assert counter(fleet, "recovered") == 0


def test_f07_a_zombies_word_is_refused_and_it_works_on(fleet: Fleet) -> None:
    """Frozen past its lease, thawed after another's result: its word is refused, counted and logged."""
    zombie = fleet.start(app=APP, visibility_timeout=1)
    job = fleet.app.enqueue(pid_after, 0.5)
    wait_for(lambda: fleet.starts(job.id), what="the job starts")
    zombie.freeze()
    other = fleet.start(app=APP, visibility_timeout=1)
    result = job.result(timeout=10)
    assert result != zombie.pid
    zombie.thaw()
    wait_for(lambda: counter(fleet, "refused") == 1, what="the zombie's word is refused")
    wait_for(lambda: f"job {job.id}: our word was refused" in zombie.log, what="it says so")

    info = job.info()
    assert (job.result(), info.deliveries, info.attempts) == (result, 2, 1)
    assert len(info.history) == 1
    assert other.end() == 0
    assert fleet.app.enqueue(pid_after, 0).result(timeout=10) == zombie.pid
    assert zombie.alive
    assert counter(fleet, "refused") == 1
    assert zombie.log.count("refused") == 1


def test_f08_a_fresh_claim_is_never_swept_as_stuck(fleet: Fleet) -> None:
    """Claim and lease are one step: 20,000 short jobs under a sweep every 50 ms, no sweep, no second run."""
    jobs = 20_000
    fleet.app.pause()
    for at in range(0, jobs, 1000):
        fleet.app.enqueue_many([short.call(5) for _ in range(at, at + 1000)])
    for _ in range(4):
        fleet.start(app=APP, visibility_timeout=2, concurrency=16)
    swept, ending = [], threading.Event()

    def sweep() -> None:
        while not ending.wait(0.05):
            swept.append(audit_now(fleet))

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        fleet.app.resume()
        wait_for(lambda: not (found := queue_status(fleet)).ready and not found.processing,
                 what="all jobs have run", timeout=90)  # fmt: skip
    finally:
        ending.set()
        sweeper.join()
    counts = fleet.start_counts()
    assert len(counts) == jobs
    assert set(counts.values()) == {1}
    assert sum(one.looked_at for one in swept) > 0
    assert sum(one.mended for one in swept) == 0
    assert [counter(fleet, name) for name in ("recovered", "mended", "refused")] == [0, 0, 0]
