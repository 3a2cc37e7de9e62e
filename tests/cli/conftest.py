"""Fixtures: the command line, and a yard of jobs for it to work on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.ops.yard import NAMESPACE, Yard
from tests.servers import TestServer


@pytest.fixture
def yard(server: TestServer) -> Iterator[Yard]:
    """An empty queue on the shared server."""
    made = Yard(server)
    yield made
    made.close()


@pytest.fixture
def cli(yard: Yard, tmp_path: Path) -> CommandLine:
    """The console script, told by its environment to work on the yard."""
    return CommandLine(tmp_path, {"REDISCHED_URL": yard.server.url, "REDISCHED_NAMESPACE": NAMESPACE})


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    """The console script where nothing names a server, and where no server can be started."""
    return CommandLine(
        tmp_path, {"REDISCHED_SERVER_BIN": "/nonexistent", "REDISCHED_DATA_DIR": str(tmp_path)}
    )


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="redisched-", dir="/tmp") as folder:
        yield Path(folder).resolve()
