"""`redisched server`, and the embedded server behind commands that name none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from redisched.embedded import Membership, join, stop
from tests.cli.command_line import CommandLine


@pytest.fixture
def at_home(short_path: Path) -> Iterator[CommandLine]:
    """The console script with a data folder of its own, whose server ends with the test."""
    yield CommandLine(short_path, {"REDISCHED_DATA_DIR": str(short_path / "data")})
    stop(short_path / "data")


@pytest.fixture
def user(at_home: CommandLine) -> Iterator[Membership]:
    """Somebody who uses the embedded server, so that it stays up."""
    joined = join(Path(at_home.env["REDISCHED_DATA_DIR"]))
    yield joined
    joined.leave()


def test_jobs_of_the_embedded_server_outlast_each_command(at_home: CommandLine) -> None:
    job = at_home("enqueue", "shop.mail", "--in", "1h").line

    assert [one["id"] for one in at_home("jobs", "list", "--json").json] == [job]
    assert at_home("server", "status", "--json", code=1).json["running"] is False


def test_the_embedded_server_is_described_and_stopped(at_home: CommandLine, user: Membership) -> None:
    told = at_home("server", "status", "--json").json
    assert (told["running"], told["appendfsync"]) == (True, "always")
    assert told["data_dir"] == at_home.env["REDISCHED_DATA_DIR"]
    assert f"pid                {told['pid']}" in at_home("server", "status").out

    assert at_home("server", "stop").line.endswith("is stopped")
    assert at_home("server", "stop").line.endswith("was not running")


def test_looking_at_a_server_that_does_not_run_starts_none(at_home: CommandLine) -> None:
    elsewhere = str(at_home.folder / "elsewhere")

    assert at_home("server", "status", "--data-dir", elsewhere, "--json", code=1).json["pid"] is None
    assert not Path(elsewhere).exists()
