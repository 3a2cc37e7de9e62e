"""The data directory of an embedded server: which one, and what is in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from redisched.core.errors import ConfigurationError
from redisched.embedded.environment import DATA_DIR, setting
from redisched.embedded.privacy import make_private

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Folder:
    """The names in a data directory. `path` is absolute and without links: all processes spell it alike."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> Folder:
        """The folder at `path`; nothing is created."""
        return cls(path.resolve())

    def prepare(self) -> None:
        """Create what is missing. Afterwards only its owner can enter; else EmbeddedServerError."""
        make_private(self.path, sign=self.users_lock.name)
        self.database.mkdir(mode=0o700, exist_ok=True)

    @property
    def users_lock(self) -> Path:
        """Held shared by every process that uses the server, exclusively by the last while it stops it."""
        return self.path / "users.lock"

    @property
    def server_lock(self) -> Path:
        """Held by the server itself, from before it starts until it is gone."""
        return self.path / "server.lock"

    @property
    def settings(self) -> Path:
        """The server's configuration, written anew at each start."""
        return self.path / "server.conf"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.path / "server.log"

    @property
    def database(self) -> Path:
        """The directory of the append-only file."""
        return self.path / "db"

    @property
    def engine(self) -> Path:
        """Which server wrote the data last."""
        return self.path / "engine"

    @property
    def socket(self) -> Path:
        """The socket, or a link to it where this path is too long for one."""
        return self.path / "redis.sock"


def data_folder(
    explicit: Path | str | None, environ: Mapping[str, str], platform: str = sys.platform
) -> Path:
    """The data directory to use; nothing is created.

    In order: `explicit`, REDISCHED_DATA_DIR, systemd's STATE_DIRECTORY, $XDG_DATA_HOME/redisched, and
    the platform's place for a user's data.
    """
    chosen = str(explicit) if explicit is not None else setting(environ, DATA_DIR)
    if chosen is not None:
        return Path(chosen).expanduser().absolute()
    return _service_folder(environ) or _user_folder(environ, platform)


def _service_folder(environ: Mapping[str, str]) -> Path | None:
    """systemd names several directories with colons between; the first is the unit's own."""
    first = environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(first) if first else None


def _user_folder(environ: Mapping[str, str], platform: str) -> Path:
    stated = Path(environ.get("XDG_DATA_HOME", ""))
    if stated.is_absolute():
        return stated / "redisched"
    if platform == "darwin":
        return _home(environ) / "Library" / "Application Support" / "redisched"
    return _home(environ) / ".local" / "share" / "redisched"


def _home(environ: Mapping[str, str]) -> Path:
    stated = Path(environ.get("HOME", ""))
    if stated.is_absolute():
        return stated
    try:
        return Path.home()
    except RuntimeError as error:
        raise ConfigurationError(
            DATA_DIR, None, "this user has no home directory; name the data directory"
        ) from error
