"""F74 and F77: what has ended is forgotten, and entries that stand for no job harm nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from redisched import Every
from redisched.core.config import IDEMPOTENCY_WINDOW
from redisched.core.states import JobState
from redisched.ops.dead_letters import purge_all, retry_all
from redisched.ops.inspect import Place, jobs_of, report
from tests.apps.probe import fails_until, probe
from tests.apps.workshop import raises, sleeps
from tests.faults.clock import Clock
from tests.fleet import Fleet
from tests.key_leaks import check_keys
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.conftest import ServerFactory
    from tests.processes import Processes

WORKSHOP: Final = "tests.apps.workshop:app"
TAG: Final = "rs:{test:default}:"
PAST_EVERY_WINDOW: Final = IDEMPOTENCY_WINDOW + timedelta(minutes=5)
IN_FULL: Final = [pytest.mark.nightly, pytest.mark.timeout(900)]
HOLDING_JOBS: Final = ("jobs", "state", "unique", "ended", "dead", "tombstones", "unclaimed", "scheduled")


@dataclass(frozen=True)
class Residue:
    """What a server still holds."""

    keys: frozenset[str]
    jobs: int
    workers: int
    memory: int


@pytest.fixture
def clocked(
    fresh_server: ServerFactory, clock: Clock, processes: Processes, tmp_path: Path
) -> Iterator[Fleet]:
    """A fleet on a server whose clock can be moved past every window."""
    with closing(Fleet(fresh_server(env=clock.env()), processes, tmp_path)) as found:
        yield found


def residue(fleet: Fleet) -> Residue:
    with fleet.server.client() as client:
        kept = {key.decode().removeprefix(TAG) for key in client.scan_iter()}
        sizes = {name: size(client, TAG + name) for name in (*HOLDING_JOBS, "workers", "fleet", "turns")}
        return Residue(
            frozenset(kept - {"wake", "timer"}),
            sum(sizes[name] for name in HOLDING_JOBS),
            max(sizes["workers"], sizes["fleet"], sizes["turns"]),
            int(client.info("memory")["used_memory_dataset"]),
        )


def size(client: object, key: str) -> int:
    kinds: dict[bytes, Callable[[str], int]] = {b"hash": client.hlen, b"zset": client.zcard}  # type: ignore[attr-defined]
    kind: bytes = client.type(key)  # type: ignore[attr-defined]
    return kinds[kind](key) if kind in kinds else 0


def busy_hour(fleet: Fleet, jobs: int, starts: int) -> None:
    """Jobs of every fate, schedules with slots, and workers that come and are killed."""
    for _ in range(starts - 1):
        fleet.start(app=WORKSHOP, visibility_timeout=1).kill()
    worker = fleet.start(app=WORKSHOP, visibility_timeout=1)
    for number in range(5):
        fleet.app.schedules.upsert(f"s{number}", sleeps.call(0), Every(seconds=1))
    kept = fleet.app.options(retention=1)
    made = kept.enqueue_many([sleeps.call(0) for _ in range(jobs // 2)])
    made += kept.enqueue_many([raises.call("ValueError", "x" * 200) for _ in range(jobs // 4)])
    later = kept.enqueue_many([sleeps.call(0) for _ in range(jobs // 8)], delay=3600)
    held = [
        fleet.app.options(retention=1, unique=f"u{n}", unclaimed_timeout=60).enqueue(sleeps, 0)
        for n in range(jobs // 8)
    ]
    for job in later:
        job.cancel()
    wait_for(lambda: all(job.status().is_end for job in [*made, *later, *held]), what="all end", timeout=120)
    wait_for(lambda: all(one.fired for one in fleet.app.schedules.list()), what="all fire", timeout=10)
    for number in range(5):
        fleet.app.schedules.remove(f"s{number}")
    backend = fleet.app.backend
    assert backend.executor().run(purge_all(backend.keyspace("default"))) == jobs // 4
    worker.kill()


def after_the_windows(fleet: Fleet, clock: Clock) -> Residue:
    """What is left once a worker has lived past retention, idempotency window and slot keys."""
    clock.step(int(PAST_EVERY_WINDOW.total_seconds() * 1000))
    worker = fleet.start(app=WORKSHOP, visibility_timeout=1)
    clock.step(int(timedelta(days=8).total_seconds() * 1000))
    wait_for(lambda: residue(fleet).jobs == 0, what="all is forgotten", timeout=20)
    assert worker.end() == 0
    return residue(fleet)


@pytest.mark.parametrize(("jobs", "starts"), [(400, 3), pytest.param(10_000, 100, marks=IN_FULL)])
def test_f74_what_stays_does_not_depend_on_how_much_there_was(
    clocked: Fleet, clock: Clock, jobs: int, starts: int
) -> None:
    """The same keys after a few jobs and after many; none of them holds a job or a worker that is gone."""
    busy_hour(clocked, 16, 1)
    little = after_the_windows(clocked, clock)
    busy_hour(clocked, jobs, starts)
    much = after_the_windows(clocked, clock)
    assert much.keys <= little.keys
    assert much.jobs == little.jobs == 0
    assert much.workers <= 1
    assert much.memory < little.memory + 50_000
    with clocked.server.client() as client:
        assert check_keys(client) == []


def test_f74_within_the_window_only_the_id_of_a_job_is_kept(fleet: Fleet) -> None:
    """So that a repeated enqueue is recognised: no record, no payload, no result, for ten minutes."""
    fleet.start(visibility_timeout=1)
    job = fleet.app.options(retention=0.2, job_id="once").enqueue(probe, label="x" * 10_000)
    wait_for(lambda: job.status() is JobState.PRUNED, what="it is pruned", timeout=10)
    with fleet.server.client() as client:
        assert client.hget(f"{TAG}jobs", "once") == b"x"
        assert client.hget(f"{TAG}state", "once") is None
        assert client.zscore(f"{TAG}tombstones", "once") is not None
    again = fleet.app.options(job_id="once").enqueue(probe)
    assert not again.created
    assert len(fleet.starts(job.id)) == 1


def test_f77_ghosts_of_every_state_harm_neither_workers_nor_lists(fleet: Fleet) -> None:
    """Records that vanished under scheduled, ready, ended and dead jobs: the others run, are listed, counted,
    retried and purged; counts are the lengths of the lists.
    """
    worker = fleet.start(burst=True, ready=False)
    worker.process.wait(20)
    ended = [fleet.app.enqueue(probe) for _ in range(4)]
    dead = [fleet.app.enqueue(fails_until, 9) for _ in range(4)]
    running = fleet.start(visibility_timeout=1)
    wait_for(lambda: all(job.status().is_end for job in [*ended, *dead]), what="their ends", timeout=20)
    assert running.end() == 0
    waiting = [fleet.app.enqueue(probe) for _ in range(4)]
    later = [fleet.app.enqueue_in(60, probe) for _ in range(4)]
    rows = (ended, dead, waiting, later)
    with fleet.server.client() as client:
        for row in rows:
            for job in row[:2]:
                short = job.id.partition(":")[2]
                client.hdel(f"{TAG}jobs", short)
                client.hdel(f"{TAG}state", short)
    send, keyspace = fleet.app.backend.executor(), fleet.app.backend.keyspace("default")
    for place, row in ((Place.ENDED, ended), (Place.READY, waiting), (Place.SCHEDULED, later)):
        assert {info.id for info in send.run(jobs_of(keyspace, [place]))} == {job.id for job in row[2:]}
    assert send.run(retry_all(keyspace)).revived == 2
    fleet.start(visibility_timeout=1)
    for job in waiting[2:]:
        job.result(timeout=10)
    wait_for(lambda: all(job.status() is JobState.DEAD for job in dead[2:]), what="dead again", timeout=20)
    assert send.run(purge_all(keyspace)) == 2
    found = send.run(report(keyspace))
    assert (found.scheduled, found.ready, found.processing, found.dead) == (2, 0, 0, 0)
    assert found.ended == len(send.run(jobs_of(keyspace, [Place.ENDED]))) == 4


def test_f77_a_record_that_vanishes_under_a_running_job_ends_nothing_else(fleet: Fleet) -> None:
    """Its word is refused; its place in the processing list is freed."""
    worker = fleet.start(visibility_timeout=1)
    job = fleet.app.enqueue(probe, 1.5)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    with fleet.server.client() as client:
        client.hdel(f"{TAG}jobs", job.id.partition(":")[2])
        client.hdel(f"{TAG}state", job.id.partition(":")[2])
        assert fleet.app.enqueue(probe, label="other").result(timeout=10) == "other"
        wait_for(lambda: client.zcard(f"{TAG}processing") == 0, what="its lease is gone", timeout=10)
    assert job.status() is JobState.NOT_FOUND
    assert worker.end() == 0
