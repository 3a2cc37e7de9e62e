"""How fast one worker process empties a queue of jobs that do nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from benchmarks import command_stats, machine
from benchmarks.application import nothing
from benchmarks.figures import Figures, Settings
from benchmarks.ground import Ground, prepared
from tests.waiting import wait_for

BATCH: Final = 10_000
PATIENCE_SECONDS: Final = 600.0


def measure(settings: Settings) -> Figures:
    """The jobs wait before the worker is let at them; the time ends when all of them are acknowledged.

    Everything is as users have it: the command, the default settings, history kept by the default retention.
    """
    with prepared(settings.engine, settings.appendfsync) as ground:
        ground.app.pause()
        _enqueue(ground, settings.jobs)
        worker = ground.start_worker()
        command_stats.forget(ground.client)
        before = _Moment.now(ground, worker.pid)
        ground.app.resume()
        wait_for(lambda: _is_drained(ground), what="the queue to be empty", timeout=PATIENCE_SECONDS)
        after = _Moment.now(ground, worker.pid)
        work = command_stats.work_since(ground.client)
        _require_history(ground, settings.jobs)
    jobs = settings.jobs
    return Figures(
        jobs=jobs,
        seconds=after.at - before.at,
        redis_us_per_job=work.microseconds / jobs,
        round_trips_per_1000_jobs=1000 * work.round_trips / jobs,
        server_cpu_us_per_job=1e6 * (after.server_cpu - before.server_cpu) / jobs,
        worker_cpu_us_per_job=after.worker_cpu_us_since(before, jobs),
    )


@dataclass(frozen=True, slots=True)
class _Moment:
    """Seconds: on the clock, and of the processor used so far."""

    at: float
    server_cpu: float
    worker_cpu: float | None

    @classmethod
    def now(cls, ground: Ground, worker: int) -> _Moment:
        cpu = command_stats.cpu_seconds(ground.client), machine.cpu_seconds(worker)
        return cls(time.perf_counter(), *cpu)

    def worker_cpu_us_since(self, before: _Moment, jobs: int) -> float | None:
        if self.worker_cpu is None or before.worker_cpu is None:
            return None
        return 1e6 * (self.worker_cpu - before.worker_cpu) / jobs


def _enqueue(ground: Ground, jobs: int) -> None:
    for start in range(0, jobs, BATCH):
        ground.app.enqueue_many(nothing.call() for _ in range(min(BATCH, jobs - start)))


def _is_drained(ground: Ground) -> bool:
    """One small look: what is looked at is not slowed down by it."""
    pipe = ground.client.pipeline(transaction=True)
    pipe.llen(ground.key("ready:1"))
    pipe.zcard(ground.key("processing"))
    return pipe.execute() == [0, 0]


def _require_history(ground: Ground, jobs: int) -> None:
    """Every job succeeded, and is kept or, past the default count, remembered by its id."""
    parts = ("ended", "tombstones", "dead", "scheduled")
    kept, remembered, dead, scheduled = (ground.client.zcard(ground.key(part)) for part in parts)
    if (kept + remembered, dead, scheduled) != (jobs, 0, 0):
        raise RuntimeError(f"of {jobs} jobs {kept} are kept, {remembered} remembered, {dead} dead")
