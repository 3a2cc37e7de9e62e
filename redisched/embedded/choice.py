"""Which server a process uses, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redisched.core.errors import ConfigurationError
from redisched.embedded.address import socket_of
from redisched.embedded.binary import locate
from redisched.embedded.dialogue import Answer, ping
from redisched.embedded.environment import URL, setting
from redisched.embedded.folder import Folder, data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Choice:
    """A server by its `url`, or the embedded one of `folder`: one of the two is None.

    `reason` is for the line that a process prints at its start; it never holds the URL and its password.
    """

    url: str | None
    folder: Path | None
    reason: str


def choose(url: str | None, *, environ: Mapping[str, str], data_dir: Path | str | None = None) -> Choice:
    """`url`, else REDISCHED_URL, else the embedded server of the data folder. Nothing is started or created.

    A URL is taken as it is: one that does not answer never leads to the embedded server. Raises
    ConfigurationError for an empty setting, EmbeddedServerError where there is no server to start.
    """
    if url is not None:
        return _given(url)
    named = setting(environ, URL)
    if named is not None:
        return Choice(named, None, f"the server named by {URL}")
    return _embedded(data_folder(data_dir, environ), environ)


def _given(url: str) -> Choice:
    if not url.strip():
        raise ConfigurationError("url", url, "empty; give a redis:// URL, or None for the embedded server")
    return Choice(url, None, "the server given by its URL")


def _embedded(path: Path, environ: Mapping[str, str]) -> Choice:
    """A server that runs needs no program: it may have been started where there was one."""
    folder = Folder.at(path)
    if ping(socket_of(folder, environ)) is not Answer.NONE:
        how = "running"
    else:
        binary = locate(environ)
        how = f"to be started: {binary}, {binary.why}"
    return Choice(None, folder.path, f"the embedded server of {folder.path}, for this host only ({how})")
