"""Bringing up the one server of a folder, together with whoever else is trying to at this moment."""

from __future__ import annotations

import logging
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from redisched.core.errors import EmbeddedServerError
from redisched.embedded.address import clear, socket_of
from redisched.embedded.binary import Binary, locate
from redisched.embedded.dialogue import Answer, greet
from redisched.embedded.marker import change_warning, remember
from redisched.embedded.patience import Patience
from redisched.embedded.privacy import write_private
from redisched.embedded.server_conf import Fsync, server_conf

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redisched.embedded.folder import Folder
    from redisched.embedded.lock_file import LockFile

SILENCE_SECONDS: Final = 30.0
# Killed while starting is worth another try; a file that it cannot read stays unreadable.
STARTS: Final = 3
LOG_LINES: Final = 5
# The shell ends at once, so the server is nobody's child: no wait() of the caller sees it, no zombie stays.
DETACH: Final = ("/bin/sh", "-c", '"$@" &', "redisched")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which folder's server is wanted, and how it is to run if we are the one to start it."""

    folder: Folder
    fsync: Fsync
    environ: Mapping[str, str]


def bring_up(plan: Plan, lock: LockFile) -> None:
    """Return when the folder's server answers: found, started by somebody else, or started here.

    The caller holds users.lock shared, so no last user is stopping the server meanwhile. A server that loads
    its data is waited for however long it takes; one that says nothing, half a minute.
    """
    attempt = Attempt(plan, lock)
    patience = Patience(SILENCE_SECONDS)
    try:
        while (answer := attempt.once()) is not Answer.READY:
            if answer is Answer.LOADING:
                patience.renew()
            patience.wait(_mute(plan.folder))
        attempt.note()
    finally:
        lock.abandon()


class Attempt:
    """One process's part in bringing up the server."""

    def __init__(self, plan: Plan, lock: LockFile) -> None:
        self._plan = plan
        self._lock = lock
        self._started: Binary | None = None
        self._starts = 0

    def once(self) -> Answer:
        """Ask the server; where nobody answers and nobody is starting one, start it."""
        answer = greet(self.socket, self._plan.fsync)
        if answer is Answer.NONE and self._lock.seize():
            self._start()
        return answer

    def note(self) -> None:
        """Once the server has answered: if it is ours, it is the one that writes to the folder now."""
        if self._started is not None:
            remember(self._plan.folder, self._started)

    def _start(self) -> None:
        """We hold the lock, so a server that was started before is gone, by a kill or by its own decision."""
        if self._started is not None and self._starts >= STARTS:
            raise _failed(self._plan.folder, self._started)
        self._started = start(self._plan, self._lock)
        self._starts += 1

    @property
    def socket(self) -> Path:
        """Where to ask; whoever starts a server may have to move it."""
        return socket_of(self._plan.folder, self._plan.environ)


def start(plan: Plan, lock: LockFile) -> Binary:
    """Start a server that holds `lock` from now until it is gone; this process's end of it is closed."""
    binary = locate(plan.environ)
    warning = change_warning(plan.folder, binary)
    if warning is not None:
        logging.getLogger(__name__).warning(warning)
    socket = socket_of(plan.folder, plan.environ)
    clear(plan.folder, socket)
    write_private(plan.folder.settings, server_conf(plan.folder, socket, plan.fsync))
    spawn(binary.path, plan.folder.settings, lock)
    return binary


def spawn(program: Path, settings: Path, lock: LockFile) -> None:
    """Run the server in a session of its own, and leave the hold on `lock` to it alone.

    The server never closes the descriptor it inherits, so the kernel frees the lock exactly when it and any
    child that rewrites its file are gone: no pid files, no stale state.
    """
    subprocess.run(
        [*DETACH, program, settings],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        umask=0o077,
        pass_fds=(lock.fileno(),),
        check=True,
    )
    lock.abandon()


def last_words(folder: Folder) -> str:
    """The end of the server's log, for an error message."""
    if not folder.log.exists():
        return f"it wrote no {folder.log}"
    lines = folder.log.read_text(encoding="utf-8", errors="replace").splitlines()
    return f"the end of {folder.log}: " + " / ".join(line.strip() for line in lines[-LOG_LINES:])


def _failed(folder: Folder, binary: Binary) -> EmbeddedServerError:
    return EmbeddedServerError(f"{binary.path} ({binary}) ended while starting; {last_words(folder)}")


def _mute(folder: Folder) -> str:
    return (
        f"a server holds {folder.server_lock} but has not answered for {SILENCE_SECONDS:.0f} s; "
        f"if it hangs, end it; see {folder.log}"
    )
