"""What `redisched server status` is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from redisched.embedded import status
from tests.embedded.conftest import client, facts

if TYPE_CHECKING:
    from pathlib import Path

    from redisched.embedded import Membership


def test_the_status_of_a_folder_without_a_server_creates_nothing(folder: Path) -> None:
    found = status(folder)

    assert not found.running
    assert found.facts is None
    assert found.data_dir == folder
    assert not folder.exists()


def test_the_status_of_a_running_server(folder: Path, member: Membership) -> None:
    with client(member) as user:
        user.ping()
        found = facts(folder)

    assert (found.engine, found.fsync, found.clients) == ("valkey", "always", 1)
    assert found.version.split(".")[0] == "9"
    assert found.uptime < timedelta(minutes=3)
    assert found.used_memory_bytes > 0
    assert status(folder).socket == folder / "redis.sock"
