"""Files and directories that only their owner can reach."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from redisched.core.errors import EmbeddedServerError


def make_private(path: Path, *, sign: str | None = None) -> None:
    """Create the directory `path` with mode 0700, or give one that exists this mode.

    The mode of an existing directory is changed only where it is empty or holds the file `sign`: whoever
    names /tmp by mistake gets a refusal, not a machine without /tmp.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _mine_but_open(path.lstat()) and _ours(path, sign):
            path.chmod(0o700)
        require_private(path)
    except OSError as error:
        raise EmbeddedServerError(f"the directory {path} cannot be used: {error}; name another") from error


def require_private(path: Path) -> None:
    """Refuse a directory that is a link, somebody else's, or open to others, and say which."""
    trouble = _trouble(path.lstat())
    if trouble is not None:
        raise EmbeddedServerError(
            f"the directory {path} {trouble}, and what is in it must be its owner's alone; "
            f"give it to this user with mode 0700, or name another directory"
        )


def is_private(path: Path) -> bool:
    """Whether `path` is a directory that only this user can enter."""
    try:
        return _trouble(path.lstat()) is None
    except OSError:
        return False


def write_private(path: Path, text: str) -> None:
    """Replace the file `path` by `text`, in one step and readable by its owner only."""
    descriptor, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).replace(path)


def _ours(path: Path, sign: str | None) -> bool:
    names = {entry.name for entry in path.iterdir()}
    return not names or sign in names


def _mine_but_open(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and _open_to_others(found)


def _open_to_others(found: os.stat_result) -> bool:
    return bool(stat.S_IMODE(found.st_mode) & 0o077)


def _trouble(found: os.stat_result) -> str | None:
    if not stat.S_ISDIR(found.st_mode):
        return "is a link or no directory"
    if found.st_uid != os.geteuid():
        return f"belongs to user id {found.st_uid}, not to this process's {os.geteuid()}"
    if _open_to_others(found):
        return f"is open to others (mode {stat.S_IMODE(found.st_mode):04o})"
    return None
