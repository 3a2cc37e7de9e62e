"""Fixtures: a data folder whose server ends with the test, and helpers that use it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from redisched.embedded import Facts, Membership, join, status, stop
from tests.embedded.members import Member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.processes import Processes


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """pytest's own can be too long for a socket, and then a test would see the other kind of folder."""
    with tempfile.TemporaryDirectory(prefix="redisched-", dir="/tmp") as directory:
        yield Path(directory).resolve()


@pytest.fixture
def make_folder(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Names data folders that do not exist yet. Servers that the test left in them are ended."""
    places: list[Path] = []

    def make(name: str) -> Path:
        places.append(tmp_path / name)
        return places[-1]

    yield make
    for place in places:
        stop(place)
        assert not status(place).running


@pytest.fixture
def folder(make_folder: Callable[[str], Path]) -> Path:
    """A data folder that does not exist yet, and whose server ends with the test."""
    return make_folder("data")


@pytest.fixture
def long_folder(make_folder: Callable[[str], Path]) -> Path:
    """The same, with a path too long for a socket."""
    return make_folder("x" * 120)


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A private directory to name in XDG_RUNTIME_DIR."""
    directory = tmp_path / "run"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def member(folder: Path) -> Iterator[Membership]:
    """This process as a user of the folder's server."""
    joined = join(folder)
    yield joined
    joined.leave()


@pytest.fixture
def start_member(processes: Processes, folder: Path) -> Callable[[], Member]:
    """Starts another process that joins; it may not have joined yet on return."""
    return lambda: Member(processes, folder)


@pytest.fixture
def debian_redis() -> Path:
    """A Redis that is not the bundled server."""
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("no redis-server on PATH, so there is no second engine to try")
    return Path(found)


def facts(folder: Path) -> Facts:
    """What the folder's server says about itself; it must be running."""
    known = status(folder).facts
    assert known is not None, f"no server answers in {folder}"
    return known


def client(member: Membership) -> redis.Redis:
    """A client of the member's server."""
    return redis.from_url(member.url, decode_responses=True)
