"""The heart keeps the leases, and its clock goes on whatever the server does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from redisched.core.config import WorkerConfig
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.scripts import script
from redisched.worker.heart import Heart
from redisched.worker.run import Run, Stop
from tests.apps.probe import noop
from tests.apps.workshop import sleeps
from tests.conftest import ServerFactory
from tests.faults.proxy import Mode, Proxy
from tests.fleet import Fleet
from tests.processes import Processes
from tests.servers import TestServer
from tests.waiting import wait_for
from tests.worker.claims import claim, run_of
from tests.worker.watching import WORKSHOP

PATIENCE: Final = 10.0
CONFIG: Final = WorkerConfig(visibility_timeout=timedelta(seconds=1))


@pytest.fixture
def own_fleet(fresh_server: ServerFactory, processes: Processes, tmp_path: Path) -> Iterator[Fleet]:
    """Workers on a server that the test may freeze."""
    fleet = Fleet(fresh_server(), processes, tmp_path)
    yield fleet
    fleet.close()


def test_a_run_is_stopped_before_its_lease_ends_on_a_silent_server(own_fleet: Fleet) -> None:
    """By the worker's own clock; the same process works on when the server is back."""
    worker = own_fleet.start(app=WORKSHOP, visibility_timeout=4)
    job = own_fleet.app.enqueue(sleeps, 60)
    wait_for(lambda: own_fleet.starts(job.id), what="it runs", timeout=10)
    own_fleet.server.stop()
    frozen_ms = time.time() * 1000
    cancelled = wait_for(lambda: own_fleet.noted("cancelled", job.id), what="it is stopped", timeout=10)
    assert cancelled[0].at_ms < frozen_ms + 4000
    own_fleet.server.cont()
    own_fleet.app.enqueue(sleeps, 0).result(timeout=15)
    assert worker.alive
    assert worker.log.count(" serves ") == 1
    beats = [line for line in worker.log.splitlines() if "heartbeat did not get through" in line]
    assert not any("repeat it with the same id" in line for line in beats), "advice for clients"


def test_a_run_is_stopped_before_its_lease_ends_whatever_the_heartbeat_raises(fleet: Fleet) -> None:
    """Not only where it is the server that fails."""
    fleet.start(
        app=WORKSHOP, visibility_timeout=2, env={"REDISCHED_FAILPOINTS": "worker.before_extend=raise"}
    )
    job = fleet.app.enqueue(sleeps, 60)
    (start,) = wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    cancelled = wait_for(lambda: fleet.noted("cancelled", job.id), what="it is stopped", timeout=10)
    assert cancelled[0].at_ms < start.at_ms + 2000


def test_slow_heartbeats_of_several_queues_do_not_end_a_worker(fleet: Fleet, proxy: Proxy) -> None:
    """Together they take longer than the watchdog waits."""
    queues = [f"q{n}" for n in range(8)]
    worker = fleet.start(app=WORKSHOP, visibility_timeout=2, queues=queues, env={"REDISCHED_URL": proxy.url})
    jobs = [fleet.app.options(queue=queue).enqueue(sleeps, 60) for queue in queues]
    wait_for(lambda: all(fleet.starts(job.id) for job in jobs), what="all run", timeout=10)
    proxy.arm(Mode.DELAY, script("extend").sha.encode(), times=16, delay_ms=450)
    wait_for(lambda: proxy.bites[Mode.DELAY] >= 12 or not worker.alive, what="slow beats", timeout=20)
    assert worker.alive, worker.log
    fleet.app.options(queue="q0").enqueue(sleeps, 0).result(timeout=15)


def test_the_clock_goes_on_while_a_heartbeat_waits_for_where_the_server_is(server: TestServer) -> None:
    """An embedded server that starts again may take half a minute."""
    asked, free, ticks = threading.Event(), threading.Event(), count()

    def locate() -> Address:
        asked.set()
        free.wait(PATIENCE)
        return Address.parse(server.url)

    ticked = [0]

    def tick() -> None:
        ticked[0] = next(ticks)

    stopped: list[tuple[Run, Stop]] = []
    run = run_of(noop, claim(noop))
    run.lease_end = time.monotonic() + 1.0
    with beating(locate, run, lambda *told: stopped.append(told), tick):
        assert asked.wait(PATIENCE)
        before = ticked[0]
        wait_for(lambda: stopped, what="the run is told to end")
        assert time.monotonic() < run.lease_end
        wait_for(lambda: ticked[0] > before + 4, what="the clock ticks on")
        free.set()
    assert stopped[0] == (run, Stop.LEASE_LOST)


def test_a_queue_that_fails_holds_up_no_heartbeat_of_another(server: TestServer) -> None:
    """Its key is of another type, say: its neighbours keep their leases."""
    with server.client() as client:
        client.set("rs:{test:broken}:state", "a string")
    broken, sound = run_of(noop, claim(noop, id="b")), run_of(noop, claim(noop, id="s"))
    broken.queue, broken.lease_end = "broken", time.monotonic() + 5
    stopped: list[tuple[Run, Stop]] = []
    heart = Heart(
        Executor(lambda: Address.parse(server.url), patience=Patience(0.1)),
        *("w1", "test", CONFIG),
        lambda: [broken, sound],
        lambda *told: stopped.append(told),
        lambda: None,
    )
    assert not heart.beat()
    assert stopped == [(sound, Stop.LEASE_LOST)], "it was asked for, and the server knows no such job"
    with server.client() as client:
        client.delete("rs:{test:broken}:state")


@contextmanager
def beating(
    locate: Callable[[], Address],
    run: Run,
    stop: Callable[[Run, Stop], None],
    tick: Callable[[], None],
) -> Iterator[Heart]:
    """A heart that lives, with one run in hand."""
    executor = Executor(locate, patience=Patience(0.1))
    heart = Heart(executor, "w1", "test", CONFIG, lambda: [run], stop, tick)
    heart.start()
    yield heart
    heart.end()
    executor.close()
