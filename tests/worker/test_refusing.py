"""A worker looks at its server before its first turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.apps.probe import probe
from tests.conftest import ServerFactory
from tests.fleet import Fleet
from tests.processes import Processes
from tests.servers import TestServer


@pytest.fixture
def evicting(fresh_server: ServerFactory) -> TestServer:
    return fresh_server(config=("maxmemory 100mb", "maxmemory-policy allkeys-lru"))


@pytest.fixture
def fleet_on(processes: Processes, tmp_path: Path) -> Callable[[TestServer], Fleet]:
    return lambda server: Fleet(server, processes, tmp_path)


def test_a_worker_refuses_a_server_that_may_evict_jobs(
    evicting: TestServer, fleet_on: Callable[[TestServer], Fleet]
) -> None:
    worker = fleet_on(evicting).start(ready=False)
    assert worker.process.wait(20) != 0
    assert "allkeys-lru" in worker.log
    assert evicting.client().dbsize() == 0


def test_an_evicting_server_can_be_allowed(
    evicting: TestServer, fleet_on: Callable[[TestServer], Fleet]
) -> None:
    fleet = fleet_on(evicting)
    fleet.start(evicting_server_allowed=True)
    assert fleet.app.enqueue(probe, label="x").result(timeout=10) == "x"
    fleet.close()
