"""Field cases about retries: of failed jobs, and of a server that is not there."""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import closing
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Final

import pytest

from redisched import Job, JobDeadError, JobState, Retry
from redisched.store import backoff
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.operations.queues import ping
from tests.apps.probe import fails_until, probe
from tests.fleet import Fleet
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ServerFactory
    from tests.processes import Processes

ATTEMPTS: Final = 500
RECONNECTS: Final = 1_100
FAILING: Final = 1_000
BASE_SECONDS: Final = 10
BIN_MS: Final = 100


def test_f47_a_job_survives_more_failures_than_its_formula_has_numbers(fleet: Fleet) -> None:
    """5 ** 500 is no float: each of 500 attempts comes at most the cap after the one before."""
    retry = Retry(max_attempts=ATTEMPTS, base=0.001, factor=5, cap=0.002, jitter="none")
    fleet.start()
    job = fleet.app.options(retry=retry).enqueue(fails_until, ATTEMPTS)
    assert job.result(timeout=60) == ATTEMPTS
    starts = fleet.starts(job.id)
    assert [x.facts["attempt"] for x in starts] == list(range(1, ATTEMPTS + 1))
    gaps = [later.at_ms - sooner.at_ms for sooner, later in itertools.pairwise(starts)]
    assert median(gaps[-100:]) < 100


def test_f47_a_job_out_of_attempts_is_dead_with_its_last_failure(fleet: Fleet) -> None:
    """It does not disappear."""
    fleet.start()
    retry = Retry(max_attempts=20, base=0.001, factor=5, cap=0.002)
    job = fleet.app.options(retry=retry).enqueue(fails_until, 99)
    with pytest.raises(JobDeadError, match="attempt 20 fails"):
        job.result(timeout=20)
    assert job.status() is JobState.DEAD
    assert fleet.start_counts()[job.id] == 20


def test_f47_a_client_still_connects_after_1100_failures(
    fresh_server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back-offs that count their failures raise at 1,024; the pauses here are shortened, nothing else."""
    monkeypatch.setattr(backoff, "LONGEST_PAUSE", 0.0001)
    server = fresh_server()
    server.shutdown()
    located: list[int] = []

    def locate() -> Address:
        located.append(1)
        if len(located) > RECONNECTS and not server.alive:
            server.start()
        return Address.parse(server.url)

    executor = Executor(locate, patience=Patience(60))
    assert executor.send(ping())
    assert len(located) == RECONNECTS + 1
    executor.close()


def test_f47_a_worker_goes_on_after_a_server_that_was_away(
    fresh_server: ServerFactory, processes: Processes, tmp_path: Path
) -> None:
    """Its loops try again without end: it runs jobs once the server is back, as the same process."""
    server = fresh_server()
    with closing(Fleet(server, processes, tmp_path)) as fleet:
        worker = fleet.start(longest_wait=0.5)
        fleet.app.enqueue(probe).result(timeout=10)
        server.shutdown()
        wait_for(lambda: "turn did not get through" in worker.log, what="a turn to fail", timeout=20)
        server.start()
        fleet.app.enqueue(probe).result(timeout=20)
        assert worker.alive


def has_failed(job: Job[object]) -> bool:
    return job.info().attempts > 0


def due_ms(job: Job[object]) -> float:
    due_at = job.info().due_at
    assert due_at is not None
    return due_at.timestamp() * 1000


def test_f48_jobs_that_fail_at_once_do_not_come_back_at_once(fleet: Fleet) -> None:
    """1,000 failures in the same second: the retries spread over the time up to the back-off."""
    retry = Retry(max_attempts=2, base=BASE_SECONDS)
    fleet.app.pause()
    fleet.start()
    jobs = [fleet.app.options(retry=retry).enqueue(fails_until, 9) for _ in range(FAILING)]
    fleet.app.resume()
    assert all(wait_for(partial(has_failed, job), what="a failure", timeout=30) for job in jobs)
    # The due time of a job that has failed is that of its retry, also when that has failed, too.
    due = [due_ms(job) for job in jobs]
    failed_at = {x.id: x.at_ms for x in fleet.starts() if x.facts["attempt"] == 1}
    delays = [at - failed_at[job.id] for job, at in zip(jobs, due, strict=True)]
    assert min(delays) >= BASE_SECONDS * 1000 / 5
    assert max(delays) <= BASE_SECONDS * 1000 + 3000  # counted from the start, not from the failure
    assert max(delays) - min(delays) >= BASE_SECONDS * 1000 / 2
    bins = Counter(int(at // BIN_MS) for at in due)
    assert max(bins.values()) <= FAILING * 0.05
