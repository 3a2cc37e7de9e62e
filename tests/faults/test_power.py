"""A power cut takes what was never synced: with everysec acknowledged writes, with always none."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.faults.power import power_cut, unsynced_bytes
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.conftest import ServerFactory
    from tests.faults.power import Power
    from tests.servers import TestServer

WRITES = 200
# Longer than any test: no sync that starts after this is set will return.
NEVER_MS = 600_000


def write(server: TestServer, prefix: str) -> int:
    """WRITES keys, one acknowledged after another; returns how many were."""
    client = server.client()
    return sum(bool(client.set(f"{prefix}:{number}", "x" * 20)) for number in range(WRITES))


def found(server: TestServer, prefix: str) -> int:
    """How many of those keys there are."""
    return len(server.client().keys(f"{prefix}:*"))


def test_with_always_a_power_cut_loses_nothing(fresh_server: ServerFactory, power: Power) -> None:
    server = fresh_server(appendfsync="always", env=power.env())
    acknowledged = write(server, "job")
    assert power_cut(server) == 0
    server.start()
    assert found(server, "job") == acknowledged


def test_with_everysec_a_power_cut_loses_acknowledged_writes(
    fresh_server: ServerFactory, power: Power
) -> None:
    server = fresh_server(appendfsync="everysec", env=power.env())
    write(server, "safe")
    wait_for(lambda: _all_synced(server), what="a sync")
    power.delay_syncs(NEVER_MS)
    acknowledged = write(server, "job")
    assert power_cut(server) > 0
    power.delay_syncs(0)
    server.start()
    assert found(server, "safe") == WRITES
    assert found(server, "job") < acknowledged


def test_with_no_fsync_a_power_cut_loses_everything(fresh_server: ServerFactory, power: Power) -> None:
    server = fresh_server(appendfsync="no", env=power.env())
    write(server, "job")
    power_cut(server)
    server.start()
    assert found(server, "job") == 0


def test_kill_alone_keeps_what_was_written(fresh_server: ServerFactory, power: Power) -> None:
    """The difference between a killed server and a killed machine, on the same mains."""
    server = fresh_server(appendfsync="no", env=power.env())
    acknowledged = write(server, "job")
    server.restart()
    assert found(server, "job") == acknowledged


def test_a_slow_disk_makes_writes_slow(fresh_server: ServerFactory, power: Power) -> None:
    server = fresh_server(appendfsync="always", env=power.env())
    client = server.client()
    power.delay_syncs(100)
    began = time.monotonic()
    client.set("key", 1)
    assert time.monotonic() - began >= 0.1


def test_a_power_cut_needs_its_shim(fresh_server: ServerFactory) -> None:
    with pytest.raises(ValueError, match="environment of a Power"):
        power_cut(fresh_server(appendfsync="always"))


def _all_synced(server: TestServer) -> bool:
    """Whether every write is in the file, and the file is synced, and no sync is under way."""
    persistence = server.client().info("persistence")
    waiting = persistence["aof_buffer_length"] + persistence["aof_pending_bio_fsync"]
    return waiting == 0 and unsynced_bytes(server) == 0
