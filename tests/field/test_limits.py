"""Field cases about the limits of a server: lost scripts, large batches, full memory."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, cast

import pytest

from redisched import Every, JobState, StoreRefusedError
from tests.apps.probe import noop, probe
from tests.field.census import counter, places, queue_status
from tests.fleet import Fleet, WorkerProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import redis

    from tests.conftest import ServerFactory
    from tests.processes import Processes
    from tests.servers import TestServer

FLUSH_SECONDS: Final = 0.02
MARGIN_BYTES: Final = 300_000
PADDING: Final = "x" * 10_000


@pytest.fixture
def fresh_fleet(fresh_server: ServerFactory, processes: Processes, tmp_path: Path) -> Iterator[Fleet]:
    """Workers on a server of their own, which keeps its data over a restart."""
    with closing(Fleet(fresh_server(appendfsync="everysec"), processes, tmp_path)) as fleet:
        yield fleet


def assert_untroubled(workers: list[WorkerProcess]) -> None:
    """They live, and have nothing to complain of."""
    for worker in workers:
        assert worker.alive, worker.log
        assert "ERROR" not in worker.log
        assert "Traceback" not in worker.log


# -- F57


def test_f57_a_server_that_forgets_its_scripts_all_the_time_is_not_noticed(fleet: Fleet) -> None:
    """Flushed every few ms: the calls of clients and of workers all go through."""
    workers = [fleet.start() for _ in range(2)]
    over = threading.Event()
    flushes = 0

    def forget() -> None:
        nonlocal flushes
        with fleet.server.client() as client:
            while not over.wait(FLUSH_SECONDS):
                client.script_flush()
                flushes += 1

    forgetful = threading.Thread(target=forget)
    forgetful.start()
    try:
        jobs = [fleet.app.enqueue(probe, label=n) for n in range(100)]
        jobs += fleet.app.enqueue_many([probe.call(label=n) for n in range(100, 600)], delay=0.1)
        assert [job.result(timeout=30) for job in jobs] == list(range(600))
    finally:
        over.set()
        forgetful.join()
    assert flushes >= 10
    assert set(fleet.start_counts().values()) == {1}
    assert_untroubled(workers)
    assert all("did not get through" not in worker.log for worker in workers)


def test_f57_a_restarted_server_gets_its_scripts_again(fresh_fleet: Fleet) -> None:
    """The same processes, client and workers, go on with a server whose cache is empty."""
    fleet = fresh_fleet
    workers = [fleet.start() for _ in range(2)]
    fleet.app.enqueue(probe).result(timeout=10)
    waiting = fleet.app.enqueue_in(1.5, probe)
    fleet.server.shutdown()
    fleet.server.start()
    assert fleet.app.enqueue(probe, label="after").result(timeout=20) == "after"
    waiting.result(timeout=20)
    assert_untroubled(workers)


# -- F59


def all_at_one_instant(fleet: Fleet, count: int, timeout: float) -> None:
    """Promoted and run to the last one, in turns of a bounded size."""
    workers = [fleet.start() for _ in range(2)]
    at = datetime.now(UTC) + timedelta(seconds=1 + count / 5_000)
    fleet.app.enqueue_many([noop.call()] * count, at=at)
    assert counter(fleet, "enqueued") == count

    def all_ended() -> bool:
        found = queue_status(fleet)
        return found.scheduled == found.ready == found.processing == 0

    wait_for(all_ended, what=f"{count} jobs to end", timeout=timeout)
    # What is over the count of retained jobs leaves its id.
    with fleet.server.client() as client:
        assert client.hlen("rs:{test:default}:jobs") == count
        wait_for(
            lambda: queue_status(fleet).ended + client.zcard("rs:{test:default}:tombstones") == count,
            what="the last word",
        )
    status = queue_status(fleet)
    assert (status.dead, counter(fleet, "recovered"), counter(fleet, "refused")) == (0, 0, 0)
    assert_untroubled(workers)


@pytest.mark.parametrize("count", [7_999, 8_000, 50_000])
def test_f59_any_number_of_jobs_due_in_one_instant_are_promoted_and_run(fleet: Fleet, count: int) -> None:
    """Around the limit of what Lua unpacks at once, and far beyond it."""
    all_at_one_instant(fleet, count, timeout=120)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_f59_in_full_a_million_jobs_due_in_one_instant_are_promoted_and_run(fleet: Fleet) -> None:
    """1,000,000."""
    all_at_one_instant(fleet, 1_000_000, timeout=1200)


# -- F60


def fill(fleet: Fleet) -> int:
    """Cap the server's memory just above its use, and enqueue until it refuses; how many it took."""
    with fleet.server.client() as client:
        client.config_set("maxmemory", used(client) + MARGIN_BYTES)
        accepted = 0
        while (refusal := refused(fleet)) is None:
            accepted += 1
        # What it used for a moment only is no room for others.
        client.config_set("maxmemory", used(client) - MARGIN_BYTES)
    assert "nothing was stored" in str(refusal)
    return accepted


def refused(fleet: Fleet) -> StoreRefusedError | None:
    try:
        fleet.app.enqueue_in(600, probe, label=PADDING)
    except StoreRefusedError as error:
        return error
    return None


def used(client: redis.Redis) -> int:
    return cast("dict[str, int]", client.info("memory"))["used_memory"]


def relieve(server: TestServer) -> None:
    with server.client() as client:
        client.config_set("maxmemory", 0)


def test_f60_a_full_server_loses_nothing_and_due_jobs_still_run(fresh_fleet: Fleet) -> None:
    """Enqueue is refused and stores nothing; what is due is promoted, run, kept under lease and answered."""
    fleet, count = fresh_fleet, 300
    workers = [fleet.start(visibility_timeout=1)]
    due = fleet.app.enqueue_many([probe.call(label=n) for n in range(count)], delay=3)
    slow = fleet.app.enqueue_in(2, probe, seconds=2.5, label="slow")
    accepted = fill(fleet)
    assert not fleet.starts(), "filled too late"
    workers.append(fleet.start(visibility_timeout=1))

    for n, job in enumerate(due):
        assert job.result(timeout=20) == n
    assert slow.result(timeout=20) == "slow"
    with pytest.raises(StoreRefusedError):
        fleet.app.enqueue(probe)
    assert set(fleet.start_counts().values()) == {1}
    status = queue_status(fleet)
    assert (places(status), status.ended, status.scheduled) == (count + 1 + accepted, count + 1, accepted)
    assert counter(fleet, "enqueued") == count + 1 + accepted
    assert_untroubled(workers)

    relieve(fleet.server)
    assert fleet.app.enqueue(probe, label="again").result(timeout=10) == "again"


def test_f60_cancelling_frees_what_a_full_server_holds(fresh_fleet: Fleet) -> None:
    """Cancel, pause and resume work on a full server; a new time and a new run are refused."""
    fleet = fresh_fleet
    job, other = fleet.app.enqueue_in(600, probe), fleet.app.enqueue_in(600, probe)
    fill(fleet)
    due = other.info().due_at
    with pytest.raises(StoreRefusedError):
        other.reschedule(delay=1)
    assert other.info().due_at == due
    job.cancel()
    assert job.status() is JobState.CANCELLED
    with pytest.raises(StoreRefusedError):
        job.retry()
    assert job.status() is JobState.CANCELLED
    assert fleet.app.pause()
    assert fleet.app.resume()


def test_f60_slots_that_a_full_server_refused_are_fired_when_there_is_room(fresh_fleet: Fleet) -> None:
    """The cursor does not advance while firing is refused; then the newest slot runs, and the next."""
    fleet = fresh_fleet
    worker = fleet.start()
    fleet.app.schedules.upsert("often", probe.call(), Every(seconds=1))
    wait_for(fleet.starts, what="the first slot")
    fill(fleet)
    wait_for(lambda: "slots could not be fired" in worker.log, what="a refusal", timeout=10)
    ran = len(fleet.starts())
    relieve(fleet.server)
    wait_for(lambda: len(fleet.starts()) >= ran + 3, what="slots after the relief", timeout=10)
    slots = [x.facts["slot"] for x in fleet.starts()]
    assert len(set(slots)) == len(slots)
    assert worker.alive


def test_f60_a_worker_that_declares_schedules_starts_on_a_full_server(fresh_fleet: Fleet) -> None:
    """It runs what is due; its schedule is put in force once there is room."""
    fleet = fresh_fleet
    due = fleet.app.enqueue_in(1, "tests.apps.timetable.ticks")
    fill(fleet)
    worker = fleet.start(app="tests.apps.timetable:app")
    due.result(timeout=10)
    assert fleet.app.schedules.list() == []
    relieve(fleet.server)
    wait_for(lambda: len(fleet.app.schedules.list()) == 2, what="the declared schedules", timeout=15)
    wait_for(lambda: len(fleet.starts()) >= 4, what="their slots", timeout=10)
    assert worker.alive
