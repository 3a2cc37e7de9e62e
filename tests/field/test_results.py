"""F75-F76: waiting for a result that is not kept, and timestamps that everybody agrees on."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from redisched.app.job import Job
from redisched.app.results import JobInfo
from redisched.core.errors import (
    JobCancelledError,
    JobDeadError,
    JobError,
    JobExpiredError,
    JobNotFoundError,
    ResultNotKeptError,
    ResultTimeoutError,
)
from redisched.core.states import JobState
from tests.apps.probe import fails_until, probe, waits_for_file
from tests.fleet import ROOT, Fleet
from tests.processes import Processes
from tests.waiting import wait_for

SOON: Final = 1.0
Maker = Callable[[Fleet], Job[object]]


def not_kept(fleet: Fleet) -> Job[object]:
    job = fleet.app.options(retention=0).enqueue(probe, label=1)
    wait_for(lambda: job.status().is_end, what="its end", timeout=10)
    return job


def expired_result(fleet: Fleet) -> Job[object]:
    job = fleet.app.options(retention=0.3).enqueue(probe, label=1)
    wait_for(lambda: job.status() is JobState.PRUNED, what="its result expires", timeout=10)
    return job


def cancelled(fleet: Fleet) -> Job[object]:
    job = fleet.app.enqueue_in(60, probe)
    job.cancel()
    return job


def not_started_in_time(fleet: Fleet) -> Job[object]:
    fleet.app.pause()
    job = fleet.app.options(expires=0.05).enqueue(probe)
    alarm = fleet.app.options(unclaimed_timeout=0.1).enqueue(probe)
    wait_for(lambda: alarm.info().alarm, what="the time passes")
    fleet.app.resume()
    wait_for(lambda: job.status().is_end, what="its end", timeout=10)
    return job


def dead(fleet: Fleet) -> Job[object]:
    return fleet.app.options().enqueue("tests.apps.probe.fails_until", 9)


def unknown(fleet: Fleet) -> Job[object]:
    return fleet.app.job("default:never-was")


OUTCOMES: Final[list[tuple[Maker, type[JobError], str]]] = [
    (not_kept, ResultNotKeptError, "not kept"),
    (expired_result, ResultNotKeptError, "expired"),
    (cancelled, JobCancelledError, "cancelled"),
    (not_started_in_time, JobExpiredError, "not started in time"),
    (unknown, JobNotFoundError, "not found"),
]


@pytest.mark.parametrize("timeout", [None, 30], ids=["without-timeout", "with-timeout"])
@pytest.mark.parametrize(("made", "error", "said"), OUTCOMES, ids=[made.__name__ for made, *_ in OUTCOMES])
def test_f75_waiting_for_what_will_not_come_ends_at_once_and_says_why(
    fleet: Fleet,
    made: Maker,
    error: type[JobError],
    said: str,
    timeout: float | None,
) -> None:
    """Each reason is an error of its own, within a second, whatever the caller would have waited for."""
    fleet.start(visibility_timeout=1)
    job = made(fleet)
    began = time.monotonic()
    with pytest.raises(error, match=said) as caught:
        job.result(timeout=timeout)
    assert time.monotonic() - began < SOON
    assert type(caught.value) is error


def test_f75_the_same_for_asyncio(fleet: Fleet) -> None:
    fleet.start(visibility_timeout=1)
    made = [(make(fleet).id, error, said) for make, error, said in OUTCOMES]

    async def wait_for_each() -> None:
        for job_id, error, said in made:
            with pytest.raises(error, match=said):
                await fleet.app.aio.job(job_id).result()
        await fleet.app.aio.close()

    asyncio.run(wait_for_each())


def test_f75_a_dead_job_says_so_to_who_waits(fleet: Fleet) -> None:
    fleet.start()
    with pytest.raises(JobDeadError, match="attempt 5 fails"):
        dead(fleet).result()


def test_f75_a_job_that_does_not_end_is_waited_for_until_the_timeout(fleet: Fleet, tmp_path: Path) -> None:
    """And not longer; it is still there afterwards."""
    fleet.start()
    job = fleet.app.enqueue(waits_for_file, str(tmp_path / "go"))
    began = time.monotonic()
    with pytest.raises(ResultTimeoutError):
        job.result(timeout=0.5)
    assert 0.5 <= time.monotonic() - began < 0.5 + SOON
    (tmp_path / "go").touch()
    assert job.result(timeout=10) == str(tmp_path / "go")


def test_f75_a_result_that_expires_between_two_looks_ends_the_wait(fleet: Fleet) -> None:
    """The wait began while the job ran, and what it waits for is gone before it looks again."""
    fleet.start(visibility_timeout=1)
    for _ in range(3):
        job = fleet.app.options(retention=0.001).enqueue(probe, 0.6, label="gone")
        began = time.monotonic()
        with contextlib.suppress(ResultNotKeptError):
            assert job.result() == "gone"
        assert time.monotonic() - began < 0.6 + 3 * SOON


def test_f76_timestamps_of_a_retried_job_are_one_rising_chain(fleet: Fleet) -> None:
    """Created once, due before each start, started before each end, whatever zone anybody lives in."""
    for zone in ("Asia/Tokyo", "America/New_York", "UTC"):
        fleet.start(env={"TZ": zone})
    before = datetime.now(UTC)
    job = fleet.app.enqueue_in(0.5, fails_until, 3)
    created = job.info().created_at
    seen: list[JobInfo] = []

    def ended() -> bool:
        seen.append(job.info())
        return seen[-1].state.is_end

    wait_for(ended, what="its end", timeout=15)
    assert created is not None
    assert {info.created_at for info in seen} == {created}, "it never moves"
    last = seen[-1]
    assert last.due_at is not None
    assert last.started_at is not None
    assert last.ended_at is not None
    chain = [(attempt.started_ms, attempt.finished_ms) for attempt in last.history]
    starts = fleet.starts(job.id)
    assert len(chain) == len(starts) == 3
    first_due = datetime.fromtimestamp(starts[0].due_ms / 1000, UTC)
    assert first_due - created == timedelta(seconds=0.5)
    for (started_ms, finished_ms), start in zip(chain, starts, strict=True):
        assert start.due_ms <= started_ms <= finished_ms
    assert all(earlier[1] < later[0] for earlier, later in itertools.pairwise(chain))
    assert before - timedelta(seconds=1) < created < last.due_at <= last.started_at <= last.ended_at
    assert last.ended_at >= datetime.fromtimestamp(chain[-1][1] / 1000, UTC)
    for info in seen:
        for instant in (info.created_at, info.due_at, info.started_at, info.ended_at):
            assert instant is None or instant.tzinfo is UTC


READER: Final = """
import json, os, sys
from redisched import Scheduler
info = Scheduler().job(sys.argv[1]).info()
names = ("created_at", "due_at", "started_at", "ended_at")
print(json.dumps([getattr(info, name).isoformat() for name in names]))
"""


def test_f76_processes_in_different_zones_read_the_same_instants(fleet: Fleet, processes: Processes) -> None:
    fleet.start(env={"TZ": "Asia/Kolkata"})
    job = fleet.app.enqueue_in(0.1, probe)
    job.result(timeout=10)
    read: list[list[str]] = []
    for zone in ("Asia/Tokyo", "America/St_Johns", "UTC"):
        process = processes.spawn(
            *(sys.executable, "-c", READER, job.id),
            env=fleet.env(TZ=zone),
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        output, _ = process.communicate(timeout=20)
        read.append(json.loads(output))
    assert read[0] == read[1] == read[2]
    assert all(text.endswith("+00:00") for text in read[0])
    assert read[0] == sorted(read[0])
