"""Test servers live, die, freeze and come back as told, and nothing outlives the test process."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
import redis

from tests.key_leaks import check_keys
from tests.servers import ServerDiedError, TestServer, connect
from tests.waiting import WaitedTooLongError, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ServerFactory
    from tests.processes import Processes
    from tests.servers import Engine

ORPHANING = """
import sys, time
from tests.processes import Guard, Processes
print(Processes(Guard()).spawn(sys.executable, "-c", "import time; time.sleep(600)").pid, flush=True)
time.sleep(600)
"""


def test_a_server_is_of_its_engine(server: TestServer, engine: Engine) -> None:
    said = server.client().info("server")
    assert said.get(f"{engine.name.rstrip('0123456789')}_version") == engine.version


def test_the_shared_server_is_empty_at_first(server: TestServer) -> None:
    assert server.client().dbsize() == 0
    server.client().set("rs:{test:servers}:stats", 1)


def test_the_shared_server_is_empty_again_for_the_next_test(server: TestServer) -> None:
    assert server.client().dbsize() == 0


def test_a_killed_server_comes_back_with_what_its_aof_holds(fresh_server: ServerFactory) -> None:
    server = fresh_server(tcp=True, appendfsync="always")
    client = connect(server.tcp_url)
    client.set("key", "kept")
    server.kill()
    assert not server.alive
    with pytest.raises(redis.ConnectionError):
        client.ping()
    server.start()
    assert client.get("key") == b"kept"
    client.close()


def test_without_an_aof_nothing_is_kept(fresh_server: ServerFactory) -> None:
    server = fresh_server()
    server.client().set("key", "lost")
    server.shutdown()
    server.start()
    assert server.client().dbsize() == 0


def test_a_stopped_server_keeps_its_connections_and_answers_later(fresh_server: ServerFactory) -> None:
    server = fresh_server()
    client = server.client(timeout=0.2)
    client.ping()
    server.stop()
    with pytest.raises(redis.TimeoutError):
        client.incr("counter")
    server.cont()
    reader = server.client()
    wait_for(lambda: reader.get("counter") == b"1", what="the command given up on to have run")


def test_configuration_lines_reach_the_server(fresh_server: ServerFactory) -> None:
    client = fresh_server(config=["maxmemory 12345678"]).client()
    assert client.config_get("maxmemory") == {"maxmemory": "12345678"}


def test_a_server_that_cannot_start_says_why(fresh_server: ServerFactory) -> None:
    with pytest.raises(ServerDiedError, match="no-such-setting"):
        fresh_server(config=["no-such-setting 1"])


def test_a_long_directory_does_not_stop_a_server(
    engine: Engine, tmp_path: Path, processes: Processes
) -> None:
    directory = tmp_path / ("long " * 30)
    directory.mkdir()
    server = TestServer(engine, directory, processes).start()
    assert server.client().ping()
    assert connect(server.url).ping()
    server.close()
    assert not server.socket_path.parent.exists()


def test_keys_without_a_ttl_need_a_reason(fresh_server: ServerFactory) -> None:
    client = fresh_server().client()
    for name in ("jobs", "ready:2", "wake"):
        client.set(f"rs:{{shop:mail}}:{name}", 1)
    client.set("rs:{shop:mail}:slot:report:1:x", 1, px=60_000)
    assert check_keys(client) == []
    for name in ("rs:{shop:mail}:slot:report:1:x", "rs:{shop:mail}:ready:x", "jobs", "other"):
        client.set(name, 1)
    assert [problem.split()[0] for problem in check_keys(client, allowed=["oth.*"])] == [
        "jobs",
        "rs:{shop:mail}:ready:x",
        "rs:{shop:mail}:slot:report:1:x",
    ]


def test_a_killed_test_process_leaves_no_processes(processes: Processes) -> None:
    parent = processes.python("-c", ORPHANING, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    wait_for(lambda: not _runs(child), what="the orphan to be ended")


def test_waiting_too_long_tells_what_for_and_what_there_was() -> None:
    with pytest.raises(WaitedTooLongError, match=r"waited 0.01 s for rain; the last value was \[\]"):
        wait_for(list, what="rain", timeout=0.01)


def _runs(pid: int) -> bool:
    """Whether `pid` still runs: one that waits to be reaped does not."""
    shown = subprocess.run(
        ["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()[:1] not in ("", "Z")
