"""How soon an idle worker starts a job, and what it asks of the server while there is nothing to do.

`python -m tests.field.test_idle_worker` prints the figures for each engine of this machine.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import pytest

from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for

if TYPE_CHECKING:
    import redis

JOBS: Final = 60
IDLE_SECONDS: Final = 12.0
NOW_MS: Final = 5.0
DELAYED_MS: Final = 10.0
LATEST_MS: Final = 1000.0
COMMANDS_A_SECOND: Final = 1.0
STATS: Final = "rs:{test:default}:stats"
# INFO commandstats counts what a script runs inside the server as well, but nobody sends that. TIME is such:
# workers never send it.
SENT: Final = ("evalsha", "eval", "blpop", "ping", "hello", "auth", "select", "script|load")


@dataclass(frozen=True)
class Lateness:
    """Start minus due, in ms of the server's clock."""

    values: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        p99 = statistics.quantiles(self.values, n=100)[98]
        ends = f"min {min(self.values):.2f} max {max(self.values):.2f}"
        return f"median {self.median:.2f} p99 {p99:.2f} {ends} ms, {len(self.values)} jobs"


def test_a_job_for_now_starts_within_5_ms_on_an_idle_worker(fleet: Fleet) -> None:
    """The median over jobs that each find the worker waiting; none is forgotten for a while."""
    found = lateness_of_jobs_for_now(fleet)
    report(fleet, f"for now: {found}")
    assert found.median < NOW_MS, found
    assert max(found.values) < LATEST_MS, "a hint was lost"


def test_a_delayed_job_starts_within_10_ms_of_its_time_and_never_before(fleet: Fleet) -> None:
    """The median over jobs that fall due one at a time; none is early."""
    found = lateness_of_delayed_jobs(fleet)
    report(fleet, f"delayed: {found}")
    assert min(found.values) >= 0, found
    assert found.median < DELAYED_MS, found
    assert max(found.values) < LATEST_MS, "a due time was missed"


def test_an_idle_worker_sends_at_most_one_command_a_second(fleet: Fleet) -> None:
    """Over at least ten seconds without a job; those inside scripts are not sent by anybody."""
    found = idle_commands(fleet, IDLE_SECONDS)
    report(fleet, f"idle: {found.sent:.2f} commands/s sent, {found.inside:.2f}/s more inside scripts")
    assert found.sent <= COMMANDS_A_SECOND, found


def lateness_of_jobs_for_now(fleet: Fleet, count: int = JOBS) -> Lateness:
    _warmed(fleet)
    jobs = []
    with fleet.server.client() as client:
        for _ in range(count):
            _wait_until_idle(client)
            job = fleet.app.enqueue(probe)
            job.result(timeout=10)
            jobs.append(job.id)
    return _lateness(fleet, jobs)


def lateness_of_delayed_jobs(fleet: Fleet, count: int = JOBS) -> Lateness:
    _warmed(fleet)
    jobs = [fleet.app.enqueue_in(0.3 + 0.05 * n, probe) for n in range(count)]
    for job in jobs:
        job.result(timeout=30)
    return _lateness(fleet, [job.id for job in jobs])


@dataclass(frozen=True)
class Commands:
    """A second: sent to the server, and run by scripts inside it. `calls` are all counts."""

    sent: float
    inside: float
    calls: dict[str, int]


def idle_commands(fleet: Fleet, seconds: float) -> Commands:
    """The measuring client asks once before and once after, and what it asks is left out."""
    _warmed(fleet)
    with fleet.server.client() as client:
        # The first round of upkeep loads its scripts.
        wait_for(lambda: client.hexists(STATS, "audited_at"), what="upkeep", timeout=10)
        _wait_until_idle(client)
        before, since = _calls(client), time.monotonic()
        wait_for(lambda: time.monotonic() - since >= seconds, what="a while", timeout=seconds + 5)
        after, lasted = _calls(client), time.monotonic() - since
    calls = {name: n - before.get(name, 0) for name, n in after.items() if n > before.get(name, 0)}
    calls.pop("info", None)
    sent = sum(n for name, n in calls.items() if name in SENT or name.startswith("client|"))
    return Commands(sent / lasted, (sum(calls.values()) - sent) / lasted, calls)


def report(fleet: Fleet, line: str) -> None:
    """Shown with -s, and where a test fails."""
    sys.stdout.write(f"\n{fleet.server.engine.name}: {line}\n")


def _warmed(fleet: Fleet) -> None:
    """A worker with the settings of production that has run a few jobs: imports and scripts are loaded."""
    fleet.start()
    for _ in range(5):
        fleet.app.enqueue(probe).result(timeout=10)


def _wait_until_idle(client: redis.Redis) -> None:
    """The worker asks for hints, and nothing is in its hands."""

    def idle() -> bool:
        blocked = cast("dict[str, int]", client.info("clients"))["blocked_clients"]
        return blocked == 1 and not client.zcard("rs:{test:default}:processing")

    wait_for(idle, what="the worker to be idle")


def _calls(client: redis.Redis) -> dict[str, int]:
    stats = cast("dict[str, dict[str, int]]", client.info("commandstats"))
    return {name.removeprefix("cmdstat_"): one["calls"] for name, one in stats.items()}


def _lateness(fleet: Fleet, jobs: list[str]) -> Lateness:
    starts = {x.id: x.at_ms - x.due_ms for x in fleet.starts()}
    return Lateness([starts[job] for job in jobs])


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-s", "-q", "-p", "no:xdist"]))
