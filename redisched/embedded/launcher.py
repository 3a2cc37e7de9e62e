"""Using the embedded server: join it, go on using it when it has died, leave it."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from redisched.core.errors import EmbeddedServerError
from redisched.embedded.address import socket_of, url_of
from redisched.embedded.filesystem import network_warning
from redisched.embedded.folder import Folder
from redisched.embedded.lock_file import LockFile
from redisched.embedded.patience import wait_until
from redisched.embedded.server_conf import Fsync, require_fsync
from redisched.embedded.shutdown import shut_down
from redisched.embedded.startup import Plan, bring_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ENTRY_SECONDS: Final = 60.0


def join(folder: Path, *, fsync: Fsync = "always", environ: Mapping[str, str] | None = None) -> Membership:
    """Become a user of the folder's server, starting it where none runs, and return when it answers.

    With fsync "always", the default, what the server acknowledged is on disk; "everysec" is faster, and a
    crash of the server alone can lose what it acknowledged in the last seconds. The strictest user decides.
    Raises ConfigurationError or EmbeddedServerError, which name the way out.
    """
    require_fsync(fsync)
    plan = Plan(Folder.at(folder), fsync, os.environ if environ is None else environ)
    plan.folder.prepare()
    warning = network_warning(plan.folder.path)
    if warning is not None:
        logging.getLogger(__name__).warning(warning)
    membership = Membership(plan)
    forget_in_forked_children(membership)
    membership.ensure()
    return membership


class Membership:
    """This process's part in the server of one folder. Every method may be called from any thread.

    A process that ends without `leave`, however it ends, counts as gone; the server stays for the next.
    A forked child is no user until it calls `ensure`, and cannot end or keep its parent's membership.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._users = LockFile(plan.folder.users_lock)
        self._server = LockFile(plan.folder.server_lock)
        self._one_at_a_time = threading.Lock()

    @property
    def url(self) -> str:
        """Where the server listens: unix://, and the path of its socket."""
        return url_of(socket_of(self._plan.folder, self._plan.environ))

    def ensure(self) -> None:
        """Return when the server answers, started again with all that is on disk if it has died.

        Call it when a connection fails, in a forked child, and to use the server again after `leave`; then
        read `url`, which can change if a short socket's directory is gone. Where all is well it asks the
        server a question or two. After an error the process is no user.
        """
        with self._one_at_a_time, _explained(self._plan.folder):
            try:
                self._enter()
                bring_up(self._plan, self._server)
            except BaseException:
                self._users.release()
                raise

    def leave(self) -> bool:
        """Stop using the server. True if this was the last user, and the server is now stopped.

        Leaving twice is leaving once. Jobs for later are on disk, and wait for the next user.
        """
        with self._one_at_a_time, _explained(self._plan.folder):
            try:
                return self._users.opened and self._stop_if_last()
            finally:
                # Unlocked, not just closed: a child forked this instant has the file open too.
                self._users.release()

    def forget(self) -> None:
        """For a forked child: let go of what belongs to the parent, without touching it."""
        self._one_at_a_time = threading.Lock()
        self._users.abandon()
        self._server.abandon()

    def _enter(self) -> None:
        """Only somebody who is just stopping the server keeps us out."""
        path = self._plan.folder.users_lock
        wait_until(
            self._users.share, ENTRY_SECONDS, f"a process holds {path} and seems to hang stopping the server"
        )

    def _stop_if_last(self) -> bool:
        if not self._users.seize():
            return False
        folder = self._plan.folder
        shut_down(folder, socket_of(folder, self._plan.environ), self._server)
        return True


@contextmanager
def _explained(folder: Folder) -> Iterator[None]:
    try:
        yield
    except (OSError, subprocess.SubprocessError) as error:
        message = f"the embedded server of {folder.path} cannot be started or joined: {error}"
        raise EmbeddedServerError(message) from error


def forget_in_forked_children(membership: Membership) -> None:
    """See to it that children forked from now on do not share the membership's locks.

    A lock is shared by all who inherited its open file: a child forked amid a start, that kept server.lock,
    would block every later start for as long as it lives.
    """
    reference = weakref.ref(membership)

    def forget() -> None:
        member = reference()
        if member is not None:
            member.forget()

    os.register_at_fork(after_in_child=forget)
