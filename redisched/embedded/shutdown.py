"""Ending the server of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redisched.embedded.dialogue import ask_to_stop
from redisched.embedded.patience import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from redisched.embedded.folder import Folder
    from redisched.embedded.lock_file import LockFile

STOP_SECONDS: Final = 30.0


def shut_down(folder: Folder, socket: Path, lock: LockFile) -> None:
    """Ask the server to end and wait until it is gone; EmbeddedServerError if it does not go.

    It writes everything to disk first. Returns at once where no server runs.
    """
    ask_to_stop(socket)
    try:
        wait_until(lock.seize, STOP_SECONDS, f"the server of {folder.path} does not stop; see {folder.log}")
        lock.release()
    finally:
        lock.abandon()
