"""Where the server's socket is. The kernel allows a socket's path 104 (macOS) or 108 (Linux) bytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from redisched.core.errors import EmbeddedServerError
from redisched.embedded.privacy import is_private, make_private, require_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redisched.embedded.folder import Folder

TOO_LONG: Final = 100


def socket_of(folder: Folder, environ: Mapping[str, str]) -> Path:
    """Where the folder's server listens, or will listen; nothing is created.

    A path that is too long is replaced by a short one elsewhere. The folder then holds a link to it, so a
    process with another XDG_RUNTIME_DIR or TMPDIR finds the same socket.
    """
    if _fits(folder.socket):
        return folder.socket
    published = _published(folder)
    if published is not None and is_private(published.parent):
        return published
    return _elsewhere(folder, environ)


def clear(folder: Folder, socket: Path) -> None:
    """Make way for a server that is about to listen on `socket`. Only the holder of the server's lock may."""
    if socket != folder.socket:
        make_private(socket.parent)
        folder.socket.unlink(missing_ok=True)
        folder.socket.symlink_to(socket)
    socket.unlink(missing_ok=True)


def url_of(socket: Path) -> str:
    """The URL of a server on `socket`, with every character that a URL would misread escaped."""
    return f"unix://{quote(os.fsencode(socket))}"


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) < TOO_LONG


def _published(folder: Folder) -> Path | None:
    return folder.socket.readlink() if folder.socket.is_symlink() else None


def _elsewhere(folder: Folder, environ: Mapping[str, str]) -> Path:
    for socket in _short_names(folder, environ):
        if _fits(socket):
            # Somebody else's directory under our name would give us somebody else's server.
            if socket.parent.exists():
                require_private(socket.parent)
            return socket
    raise EmbeddedServerError(
        f"{folder.socket} is too long for a socket, and so are XDG_RUNTIME_DIR and TMPDIR; use a shorter path"
    )


def _short_names(folder: Folder, environ: Mapping[str, str]) -> Iterator[Path]:
    name = f"{hashlib.sha256(os.fsencode(folder.path)).hexdigest()[:16]}.sock"
    runtime = Path(environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and is_private(runtime):
        yield runtime / f"redisched-{name}"
    temporary = Path(environ.get("TMPDIR") or "/tmp")  # noqa: S108 - the folder in it is checked for its owner
    yield temporary.absolute() / f"redisched-{os.geteuid()}" / name
