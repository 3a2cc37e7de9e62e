"""Fixtures: a data folder whose server ends with the test, and helpers that use it."""

from __future__ import annotations

import shutil
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
def folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder that does not exist yet. A server that the test left running is ended."""
    place = tmp_path / "data"
    yield place
    stop(place)
    assert not status(place).running


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
