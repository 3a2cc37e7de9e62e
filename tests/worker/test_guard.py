"""A worker whose event loop stands still starts anew before somebody else has its jobs."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from redisched.worker.worker import RECYCLED
from tests.apps.workshop import blocks, sleeps
from tests.conftest import ServerFactory
from tests.fleet import Fleet
from tests.processes import Processes
from tests.waiting import wait_for
from tests.worker.watching import WORKSHOP


def test_a_blocked_loop_is_ended_with_its_lease_where_the_server_is_silent(
    fresh_server: ServerFactory, processes: Processes, tmp_path: Path
) -> None:
    """Also under a run without a timeout: no cancellation reaches it."""
    with closing(Fleet(fresh_server(), processes, tmp_path)) as fleet:
        worker = fleet.start(app=WORKSHOP, visibility_timeout=2)
        job = fleet.app.enqueue(blocks, 60)
        wait_for(lambda: fleet.starts(job.id), what="it blocks the loop", timeout=10)
        fleet.server.stop()
        frozen = time.monotonic()
        wait_for(lambda: has_started_anew(worker.pid), what="it starts anew", timeout=10)
        assert time.monotonic() < frozen + 3
        fleet.server.cont()
        fleet.app.enqueue(sleeps, 0).result(timeout=15)
        assert worker.alive


def test_a_blocked_loop_with_a_live_server_keeps_its_leases(fleet: Fleet) -> None:
    """Without a timeout nothing limits the run but its lease, and that is extended."""
    worker = fleet.start(app=WORKSHOP, visibility_timeout=1, stop_grace=0.2)
    job = fleet.app.enqueue(blocks, 3)
    job.result(timeout=10)
    assert len(fleet.starts(job.id)) == 1
    assert worker.log.count(" serves ") == 1


def test_a_worker_that_starts_anew_leaves_no_zombie(fleet: Fleet) -> None:
    """Its watchdog goes with it: it would stay a child of the same pid."""
    worker = fleet.start(app=WORKSHOP, stop_grace=0.2)
    fleet.app.options(timeout=0.2).enqueue(blocks, 60)
    wait_for(lambda: worker.log.count(" serves ") == 2, what="it starts anew", timeout=15)
    fleet.app.enqueue(sleeps, 0).result(timeout=10)
    assert not zombies_of(worker.pid)


def has_started_anew(pid: int) -> bool:
    """As the same process, which an environment of its own tells of."""
    return RECYCLED.encode() in Path(f"/proc/{pid}/environ").read_bytes()


def zombies_of(pid: int) -> list[str]:
    """Children that ended and were not reaped."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    children = [child for file in listed for child in file.read_text().split()]
    return [child for child in children if " Z " in Path(f"/proc/{child}/stat").read_text()]
