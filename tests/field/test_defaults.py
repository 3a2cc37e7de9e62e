"""F80: the plain command serves every kind of job, with nothing else running."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from redisched import Scheduler
from redisched.embedded import stop
from tests.apps.quickstart import flaky, greet
from tests.field.plain_worker import plain_worker
from tests.fleet import Fleet, WorkerProcess
from tests.processes import Processes
from tests.waiting import wait_for

APP: Final = "tests.apps.quickstart:app"
TICK: Final = "tests.apps.quickstart.tick"


def all_kinds_run(app: Scheduler, fleet: Fleet, worker: WorkerProcess) -> None:
    """Immediate, delayed, retried and recurring, within ten seconds."""
    jobs = [app.enqueue(greet, "now"), app.enqueue_in(1, greet, "later"), app.enqueue(flaky, "twice")]
    assert [job.result(timeout=10) for job in jobs] == ["hello now", "hello later", "twice"]
    wait_for(
        lambda: len([x for x in fleet.starts() if x.facts["schedule"] == TICK]) >= 2,
        what="two slots",
        timeout=10,
    )
    assert worker.alive


def test_f80_the_plain_command_serves_every_kind_of_job(
    fleet: Fleet, processes: Processes, tmp_path: Path
) -> None:
    """`redisched worker --app …` and no other flag, process or service."""
    worker = plain_worker(processes, APP, tmp_path / "worker.log", fleet.env())
    all_kinds_run(fleet.app, fleet, worker)
    fleet.app.schedules.remove(TICK)
    assert worker.end() == 0


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Short, so that a socket's path fits."""
    with tempfile.TemporaryDirectory(prefix="rs-", dir="/tmp") as folder:
        yield Path(folder).resolve() / "data"
        stop(Path(folder).resolve() / "data")


def test_f80_the_same_without_any_server_of_ones_own(
    fleet: Fleet, processes: Processes, tmp_path: Path, data_dir: Path
) -> None:
    """The embedded server comes with the first process; `fleet` only lends its file of notes."""
    env = {**fleet.env(), "REDISCHED_DATA_DIR": str(data_dir)}
    del env["REDISCHED_URL"]
    worker = plain_worker(processes, APP, tmp_path / "worker.log", env)
    with Scheduler(namespace=fleet.namespace, data_dir=data_dir) as app:
        all_kinds_run(app, fleet, worker)
    assert worker.end() == 0


def test_f80_the_start_up_line_says_what_is_served_and_where(
    fleet: Fleet, processes: Processes, tmp_path: Path
) -> None:
    """Queues, server, namespace and durability, so that a wrong one is seen at once."""
    worker = plain_worker(processes, APP, tmp_path / "worker.log", fleet.env()).wait_until_ready()
    (line,) = [line for line in worker.log.splitlines() if " serves " in line]
    assert "serves default on" in line
    assert f"namespace {fleet.namespace}" in line
    assert "durability async" in line
    worker.end()
    fleet.app.schedules.remove(TICK)
