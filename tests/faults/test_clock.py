"""The clock shim moves the wall clock of servers and clients while they run, and of them alone."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from tests.faults.clock import Clock
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import redis

    from tests.conftest import ServerFactory
    from tests.faults.power import Power
    from tests.processes import Processes

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
# Between two readings of one clock on a busy machine.
SLACK_MS = 2_000

TELL_TIME = """
import sys, time
for _ in sys.stdin:
    print(time.time_ns() // 1_000_000, time.monotonic_ns() // 1_000_000, flush=True)
"""


def server_ms(client: redis.Redis) -> int:
    """What TIME says."""
    seconds, micros = client.time()
    return seconds * 1000 + micros // 1000


def machine_ms() -> int:
    """The time of the machine."""
    return time.time_ns() // 1_000_000


def test_a_step_moves_the_time_of_a_running_server(fresh_server: ServerFactory, clock: Clock) -> None:
    client = fresh_server(env=clock.env()).client()
    assert abs(server_ms(client) - machine_ms()) < SLACK_MS
    clock.step(HOUR_MS)
    assert abs(server_ms(client) - machine_ms() - HOUR_MS) < SLACK_MS
    clock.step(-3 * HOUR_MS)
    assert abs(server_ms(client) - machine_ms() + 2 * HOUR_MS) < SLACK_MS
    clock.set(0)
    assert abs(server_ms(client) - machine_ms()) < SLACK_MS


def test_a_step_expires_keys(fresh_server: ServerFactory, clock: Clock) -> None:
    client = fresh_server(env=clock.env()).client()
    client.set("short", 1, px=MINUTE_MS)
    client.set("long", 1, px=HOUR_MS)
    clock.step(MINUTE_MS + 1)
    wait_for(lambda: client.exists("short") == 0, what="the shorter TTL to be over")
    assert HOUR_MS - MINUTE_MS - SLACK_MS < client.pttl("long") < HOUR_MS - MINUTE_MS


def test_a_step_back_stretches_ttls(fresh_server: ServerFactory, clock: Clock) -> None:
    client = fresh_server(env=clock.env()).client()
    client.set("key", 1, px=MINUTE_MS)
    clock.step(-HOUR_MS)
    wait_for(lambda: client.pttl("key") > HOUR_MS, what="the server to see its clock stepped back")


def test_each_server_can_have_its_own_clock(
    fresh_server: ServerFactory, clock: Clock, tmp_path: Path
) -> None:
    other = Clock(tmp_path / "other")
    ahead = fresh_server(env=clock.env()).client()
    behind = fresh_server(env=other.env()).client()
    clock.step(HOUR_MS)
    other.step(-HOUR_MS)
    assert abs(server_ms(ahead) - server_ms(behind) - 2 * HOUR_MS) < SLACK_MS


def test_a_restarted_server_stays_under_its_clock(fresh_server: ServerFactory, clock: Clock) -> None:
    clock.set(HOUR_MS)
    server = fresh_server(env=clock.env())
    server.restart()
    assert abs(server_ms(server.client()) - clock.now_ms()) < SLACK_MS


def test_a_python_client_can_be_skewed(processes: Processes, clock: Clock) -> None:
    client = processes.python("-c", TELL_TIME, env=clock.env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wall, monotonic = _told(client)
    clock.step(-HOUR_MS)
    later_wall, later_monotonic = _told(client)
    assert abs(later_wall - wall + HOUR_MS) < SLACK_MS
    assert 0 <= later_monotonic - monotonic < SLACK_MS


def test_clock_and_power_shims_work_in_one_server(
    fresh_server: ServerFactory, clock: Clock, power: Power
) -> None:
    server = fresh_server(appendfsync="always", env={**clock.env(), **power.env()})
    clock.step(HOUR_MS)
    assert abs(server_ms(server.client()) - clock.now_ms()) < SLACK_MS
    server.client().set("key", 1)
    assert list(server.aof_directory.glob("*.incr.aof.synced"))


def test_a_process_that_cannot_be_shimmed_does_not_run(processes: Processes, clock: Clock) -> None:
    broken = {**clock.env(), "RS_SHIM_CLOCK": "/nowhere/offset"}
    process = processes.python(
        "-c", "print('ran')", env=broken, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (111, "")
    assert "RS_SHIM_CLOCK: shim: cannot map the file" in err


def _told(client: subprocess.Popen[str]) -> tuple[int, int]:
    """Wall and monotonic clock of a process that runs TELL_TIME."""
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write("\n")
    client.stdin.flush()
    wall, monotonic = map(int, client.stdout.readline().split())
    return wall, monotonic
