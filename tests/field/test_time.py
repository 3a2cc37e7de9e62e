"""Field cases about instants, delays and clocks: what a caller means by a time is what happens."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import TYPE_CHECKING, Final

import pytest

from redisched import ArgumentError, CancelOutcome, Job, JobExpiredError, JobState
from redisched.ops.inspect import Place, jobs_of
from tests.apps.probe import probe, waits_for_file
from tests.fleet import ROOT, Fleet
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.clock import Clock
    from tests.processes import Processes

DAY: Final = timedelta(days=1)
MS: Final = timedelta(milliseconds=1)
FUTURE: Final = (
    "2038-01-19T03:14:08+00:00",
    "2039-01-01T00:00:00+00:00",
    "2106-02-07T06:28:16+00:00",
    "9999-12-31T23:59:59.999999+00:00",
)


def client(
    fleet: Fleet, processes: Processes, code: str, *arguments: str, env: dict[str, str]
) -> subprocess.Popen[str]:
    """A process of the test's application: `code` finds `app` and the probe's tasks."""
    head = "import sys, json\nfrom datetime import *\nfrom tests.apps.probe import *\n"
    return processes.spawn(
        *(sys.executable, "-c", head + code, *arguments),
        env=fleet.env(**env),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def said(process: subprocess.Popen[str]) -> str:
    """What it printed, once it has ended well."""
    output, trouble = process.communicate(timeout=20)
    assert process.returncode == 0, trouble
    return output.strip()


# -- F24


NAIVE: Final = """
try:
    app.enqueue_at(datetime(2036, 1, 6, 20, 52), probe)
except ValueError as error:
    print(error)
"""


def test_f24_a_time_without_a_zone_is_refused_whatever_the_zone_of_the_host(
    fleet: Fleet, processes: Processes
) -> None:
    """The message names the value and the ways out, and nothing is stored."""
    for zone in ("Asia/Shanghai", "UTC"):
        message = said(client(fleet, processes, NAIVE, env={"TZ": zone}))
        assert "2036, 1, 6, 20, 52" in message
        assert "no time zone" in message
        assert "At(" in message
    with fleet.server.client() as redis:
        assert redis.dbsize() == 0


AWARE: Final = """
times = ["2036-01-06T20:52:00+08:00", At("2036-01-06T20:52", tz="Asia/Shanghai")]
print(json.dumps([app.enqueue_at(when, probe).id for when in times]))
"""


def test_f24_a_time_with_a_zone_is_the_same_instant_in_every_process(
    fleet: Fleet, processes: Processes
) -> None:
    """Written with an offset, or as a local time with its zone, on hosts of different zones."""
    for zone in ("Asia/Shanghai", "UTC"):
        code = "from redisched import At\n" + AWARE
        for job in json.loads(said(client(fleet, processes, code, env={"TZ": zone}))):
            assert fleet.app.job(job).info().due_at == datetime(2036, 1, 6, 12, 52, tzinfo=UTC)


# -- F40, F41


def test_f40_a_delay_beyond_the_range_of_32_bits_is_kept_to_the_millisecond(fleet: Fleet) -> None:
    """Around 2^31 and 2^32 ms, 30 days, 400 days: they wait, and a worker that is idle leaves them alone."""
    fleet.start()
    delays = [2**31 * MS - MS, 2**31 * MS, 2**31 * MS + MS, 2**32 * MS, 30 * DAY, 400 * DAY]
    jobs = [fleet.app.enqueue_in(delay, probe) for delay in delays]
    fleet.app.enqueue_in(1.0, probe).result(timeout=10)
    for job, delay in zip(jobs, delays, strict=True):
        info = job.info()
        assert info.state is JobState.SCHEDULED
        assert info.due_at is not None
        assert info.created_at is not None
        assert info.due_at - info.created_at == delay
    assert len(fleet.starts()) == 1


def test_f41_a_date_in_the_far_future_is_stored_listed_moved_and_cancelled_exactly(fleet: Fleet) -> None:
    """Up to the last millisecond of the year 9999; a worker serves the queue meanwhile."""
    fleet.start()
    jobs = {fleet.app.enqueue_at(when, probe).id: datetime.fromisoformat(when) for when in FUTURE}
    backend = fleet.app.backend
    listed = backend.executor().run(jobs_of(backend.keyspace("default"), [Place.SCHEDULED]))
    assert {one.id: one.due_at for one in listed} == {
        job: when - timedelta(microseconds=when.microsecond % 1000) for job, when in jobs.items()
    }
    for job_id in jobs:
        assert fleet.app.job(job_id).cancel() is CancelOutcome.CANCELLED
    assert not backend.executor().run(jobs_of(backend.keyspace("default"), [Place.SCHEDULED]))
    assert not fleet.starts()


@pytest.mark.parametrize(
    "delay",
    [1e12, float("inf"), float("nan"), timedelta.max, -1],
    ids=["1e12", "inf", "nan", "max", "negative"],
)
def test_f41_a_time_that_no_date_can_show_is_refused_at_the_call(
    fleet: Fleet, delay: float | timedelta
) -> None:
    """ArgumentError, which is a ValueError; nothing is stored, and a waiting job keeps its time."""
    with pytest.raises(ArgumentError):
        fleet.app.enqueue_in(delay, probe)
    with fleet.server.client() as redis:
        assert redis.dbsize() == 0
    job = fleet.app.enqueue_in(60, probe)
    due = job.info().due_at
    with pytest.raises(ArgumentError):
        job.reschedule(delay=delay)
    assert job.info().due_at == due


# -- F42


def never_early(fleet: Fleet, jobs: int, seconds: float, workers: int) -> list[float]:
    """Random due times of any fraction of a second; the start of each job less its due time, ms."""
    for _ in range(workers):
        fleet.start()
    chance = random.Random(42)
    with fleet.server.client() as redis:
        now, micros = redis.time()
    opening = now + micros / 1e6 + 1.5
    due = {}
    for _ in range(jobs):
        when = datetime.fromtimestamp(opening + chance.uniform(0, seconds), UTC)
        due[fleet.app.enqueue_at(when, probe).id] = when.timestamp() * 1000
    wait_for(
        lambda: len(fleet.noted("end")) >= jobs, what=f"{jobs} jobs to end", timeout=seconds + 20 + jobs / 200
    )
    assert set(fleet.start_counts().values()) == {1}
    return sorted(start.at_ms - due[start.id] for start in fleet.starts())


def test_f42_no_job_starts_before_its_time_and_hardly_one_late(fleet: Fleet) -> None:
    """Compared with the instant as asked for, in microseconds, not as stored."""
    late = never_early(fleet, jobs=400, seconds=2.0, workers=2)
    assert late[0] >= 0
    assert quantiles(late)[1] < 100, late


@pytest.mark.nightly
def test_f42_in_full_no_job_starts_before_its_time(fleet: Fleet) -> None:
    """10,000 jobs over 10 seconds."""
    late = never_early(fleet, jobs=10_000, seconds=10.0, workers=2)
    assert late[0] >= 0


# -- F43


DELAYED: Final = "print(app.enqueue_in(1.5, probe).id)"


def test_f43_a_delay_counts_on_the_clock_of_the_server_whatever_that_of_the_client(
    fleet: Fleet, clock: Clock, processes: Processes
) -> None:
    """Clients five minutes behind and ahead: both jobs start 1.5 s after they were enqueued."""
    fleet.start()
    for minutes in (-5, 5):
        clock.set(minutes * 60_000)
        job_id = said(client(fleet, processes, DELAYED, env=clock.env()))
        fleet.app.job(job_id).result(timeout=10)
        info = fleet.app.job(job_id).info()
        (start,) = fleet.starts(job_id)
        assert info.created_at is not None
        after = start.at_ms / 1000 - info.created_at.timestamp()
        assert 1.5 <= after < 2.0, f"{after} s with a client {minutes} minutes off"


def test_f43_a_worker_with_a_wrong_clock_starts_jobs_at_their_time(fleet: Fleet, clock: Clock) -> None:
    """Workers five minutes behind and ahead claim by the server's clock."""
    for minutes in (-5, 5):
        clock.set(minutes * 60_000)
        worker = fleet.start(env=clock.env())
        job = fleet.app.enqueue_in(0.5, probe)
        job.result(timeout=10)
        (start,) = fleet.starts(job.id)
        assert 0 <= start.at_ms - clock.offset_ms - start.due_ms < 1000
        worker.kill()


# -- expires


def wait_for_expiry(fleet: Fleet, job: Job[object], seconds: float) -> None:
    """Until the server's clock is past the job's due time by more than `seconds`."""
    due = job.info().due_at
    assert due is not None
    with fleet.server.client() as redis:
        wait_for(
            lambda: redis.time()[0] + redis.time()[1] / 1e6 > due.timestamp() + seconds + 0.002,
            what="the expiry",
        )


def test_a_job_not_started_within_its_expiry_never_runs(fleet: Fleet, tmp_path: Path) -> None:
    """It waits behind a job that holds the only slot until after its expiry; the one behind it runs."""
    gate = tmp_path / "gate"
    fleet.start(concurrency=1)
    holder = fleet.app.enqueue(waits_for_file, str(gate))
    wait_for(lambda: fleet.starts(holder.id), what="the slot to be taken")
    late = fleet.app.options(expires=0.2).enqueue(probe)
    patient = fleet.app.options(expires=60).enqueue(probe)
    wait_for_expiry(fleet, late, 0.2)
    gate.touch()
    patient.result(timeout=10)
    with pytest.raises(JobExpiredError):
        late.result(timeout=10)
    assert late.status() is JobState.EXPIRED
    assert not fleet.starts(late.id)


def test_an_expiry_counts_from_the_due_time_and_frees_the_unique_key(fleet: Fleet) -> None:
    """A delayed job that starts in time runs; one that expired while nobody served holds its key no more."""
    options = fleet.app.options(expires=0.3, unique="once")
    missed = options.enqueue(probe)
    wait_for_expiry(fleet, missed, 0.3)
    fleet.start()
    with pytest.raises(JobExpiredError):
        missed.result(timeout=10)
    again = fleet.app.options(expires=5, unique="once").enqueue_in(0.5, probe)
    assert again.created
    again.result(timeout=10)
    assert [x.id for x in fleet.starts()] == [again.id]
