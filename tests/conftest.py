"""Fixtures: real servers, private to the test process, flushed before each test and looked over after it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.faults.clock import Clock
from tests.faults.power import Power
from tests.faults.proxy import Proxy
from tests.faults.shims import ShimsUnavailableError, library
from tests.fleet import fleet as fleet  # noqa: PLC0414 - a fixture
from tests.key_leaks import check_keys
from tests.processes import Guard, Processes
from tests.servers import Engine, Fsync, TestServer, engines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class ServerFactory(Protocol):
    """Starts servers for one test; they end with it."""

    def __call__(
        self,
        *,
        tcp: bool = False,
        appendfsync: Fsync | None = None,
        config: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> TestServer:
        """A server that runs, of the test's engine, in a directory of its own."""
        ...


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "leaves_keys(*patterns, why): keys that this test may leave on `server` without a TTL"
    )
    # A setting of the person who runs the tests must not reach them.
    for name in [name for name in os.environ if name.startswith("REDISCHED_")]:
        del os.environ[name]


def pytest_report_header() -> list[str]:
    found = engines()
    tested = ", ".join(f"{engine.name} ({engine.version})" for engine in found.available) or "none"
    return [f"engines: {tested}", *(f"engine missing: {reason}" for reason in found.missing)]


@pytest.fixture(
    scope="session", params=engines().available or (None,), ids=lambda e: e.name if e else "no-engine"
)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each kind of server in turn: a test that uses it, or a server, runs on all of them."""
    chosen = request.param
    if not isinstance(chosen, Engine):
        pytest.skip(f"no server to test with: {'; '.join(engines().missing)}")
    return chosen


@pytest.fixture(scope="session")
def process_guard() -> Iterator[Guard]:
    """Ends the servers and workers of this test process should it be killed."""
    guard = Guard()
    yield guard
    guard.close()


@pytest.fixture
def processes(process_guard: Guard) -> Iterator[Processes]:
    """Start processes through this; they end with the test."""
    started = Processes(process_guard)
    yield started
    started.close()


@pytest.fixture(scope="session")
def shared_server(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, process_guard: Guard
) -> Iterator[TestServer]:
    """The one server per engine and test process; tests use `server`."""
    started = Processes(process_guard)
    server = TestServer(engine, tmp_path_factory.mktemp(engine.name), started).start()
    yield server
    server.close()
    started.close()


@pytest.fixture
def server(shared_server: TestServer, request: pytest.FixtureRequest) -> Iterator[TestServer]:
    """An empty server, not to be killed or reconfigured; what stays in it is checked after the test."""
    if not shared_server.alive:
        shared_server.restart()  # the test that ended it has failed already; spare those after it
    with shared_server.client() as client:
        client.flushall()
        configured = client.config_get()
        yield shared_server
        assert shared_server.alive, "the shared server is gone: a test that ends servers uses fresh_server"
        problems = check_keys(client, _may_leave(request.node))
        problems += _changes(configured, client.config_get())
    assert not problems, "\n".join(problems)


@pytest.fixture
def fresh_server(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, processes: Processes
) -> Iterator[ServerFactory]:
    """Starts servers that the test may kill, freeze and configure as it likes."""
    servers: list[TestServer] = []

    def start(
        *,
        tcp: bool = False,
        appendfsync: Fsync | None = None,
        config: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> TestServer:
        directory = tmp_path_factory.mktemp(f"fresh-{engine.name}")
        server = TestServer(
            engine, directory, processes, tcp=tcp, appendfsync=appendfsync, config=config, env=env
        )
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def shims() -> None:
    """Skips the tests that need the LD_PRELOAD shims where there can be none."""
    try:
        library()
    except ShimsUnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def clock(shims: None, tmp_path_factory: pytest.TempPathFactory) -> Clock:
    """A wall clock to give to servers and clients and to step; further ones are made like this."""
    return Clock(tmp_path_factory.mktemp("clock") / "offset")


@pytest.fixture
def power(shims: None, tmp_path_factory: pytest.TempPathFactory) -> Power:
    """Mains for servers with an AOF, to cut; also makes their disks slow."""
    return Power(tmp_path_factory.mktemp("power") / "delay")


@pytest.fixture
def new_proxy() -> Iterator[Callable[[TestServer], Proxy]]:
    """Puts proxies in front of servers; they end with the test."""
    with contextlib.ExitStack() as proxies:

        def start(server: TestServer) -> Proxy:
            proxy = Proxy(server).start()
            proxies.callback(proxy.close)
            return proxy

        yield start


@pytest.fixture
def proxy(server: TestServer, new_proxy: Callable[[TestServer], Proxy]) -> Proxy:
    """A proxy in front of `server`."""
    return new_proxy(server)


def _may_leave(test: pytest.Item) -> Iterator[str]:
    for marker in test.iter_markers("leaves_keys"):
        assert marker.kwargs.get("why"), "leaves_keys needs why="
        yield from marker.args


def _changes(before: Mapping[str | None, str | None], after: Mapping[str | None, str | None]) -> list[str]:
    return [
        f"the shared server is left with {name} = {after.get(name)}; it was {value}"
        for name, value in before.items()
        if after.get(name) != value
    ]
