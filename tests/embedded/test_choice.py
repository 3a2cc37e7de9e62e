"""Which server a process uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redisched.core.errors import ConfigurationError
from redisched.embedded import choose, status

if TYPE_CHECKING:
    from pathlib import Path

    from redisched.embedded import Membership

ELSEWHERE = "redis://elsewhere.invalid:6379/0"


def test_a_given_url_comes_first() -> None:
    chosen = choose(ELSEWHERE, environ={"REDISCHED_URL": "redis://other.invalid"})

    assert (chosen.url, chosen.folder) == (ELSEWHERE, None)


def test_then_the_url_of_the_environment_even_if_nothing_answers_there() -> None:
    chosen = choose(None, environ={"REDISCHED_URL": ELSEWHERE})

    assert (chosen.url, chosen.folder) == (ELSEWHERE, None)
    assert "REDISCHED_URL" in chosen.reason


def test_the_reason_does_not_tell_a_password() -> None:
    assert "secret" not in choose("redis://:secret@db.invalid", environ={}).reason


def test_else_the_embedded_server_which_is_not_started(folder: Path) -> None:
    chosen = choose(None, environ={}, data_dir=folder)

    assert (chosen.url, chosen.folder) == (None, folder)
    assert "to be started: valkey 9" in chosen.reason
    assert "for this host only" in chosen.reason
    assert not folder.exists()


def test_a_running_embedded_server_needs_no_program(folder: Path, member: Membership, tmp_path: Path) -> None:
    chosen = choose(None, environ={"REDISCHED_SERVER_BIN": str(tmp_path / "absent")}, data_dir=folder)

    assert chosen.folder == folder
    assert "running" in chosen.reason
    assert status(folder).running


@pytest.mark.parametrize("url", ["", " "])
def test_an_empty_url_does_not_mean_the_embedded_server(url: str, folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="None for the embedded server"):
        choose(url, environ={}, data_dir=folder)
    with pytest.raises(ConfigurationError, match=r"REDISCHED_URL.*set to nothing"):
        choose(None, environ={"REDISCHED_URL": url}, data_dir=folder)
