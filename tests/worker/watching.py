"""What tests look at from outside: queues as people see them, and processes of others."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from redisched.app.results import JobInfo
from redisched.ops.inspect import Place, QueueReport, jobs_of, report
from tests.fleet import Fleet

WORKSHOP = "tests.apps.workshop:app"


def queue_report(fleet: Fleet, queue: str = "default") -> QueueReport:
    backend = fleet.app.backend
    return backend.executor().run(report(backend.keyspace(queue)))


def ended_jobs(fleet: Fleet, queue: str = "default") -> list[JobInfo]:
    backend = fleet.app.backend
    return backend.executor().run(jobs_of(backend.keyspace(queue), [Place.ENDED, Place.DEAD]))


def worker_pids(fleet: Fleet, queue: str = "default") -> set[int]:
    """Of the workers that serve the queue and live."""
    pids = {cast("int", worker.about["pid"]) for worker in queue_report(fleet, queue).workers}
    return {pid for pid in pids if is_alive(pid)}


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that nobody has reaped yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state not in {b"Z", b"X"}
