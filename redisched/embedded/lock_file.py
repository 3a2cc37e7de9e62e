"""A lock between processes, kept by the kernel: free the moment its last holder is gone, however it went."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class LockFile:
    """One file and this process's hold on it. Never blocks; not for several threads at once.

    The hold belongs to the open file, which forked children share with their parent: `release` ends it for
    all of them, `abandon` only closes this process's end of it. Started programs do not inherit it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def share(self) -> bool:
        """Hold it together with others; False while somebody holds it alone."""
        return self._lock(fcntl.LOCK_SH)

    def seize(self) -> bool:
        """Hold it alone; False while somebody else holds it, and then a share held before may be gone too."""
        return self._lock(fcntl.LOCK_EX)

    def release(self) -> None:
        """Let go of it for everybody who shares the open file."""
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.abandon()

    def abandon(self) -> None:
        """Close this process's end; whoever else has the open file keeps what it held."""
        if self._descriptor is not None:
            # A child forked while its parent was closing finds it closed.
            with suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = None

    def fileno(self) -> int:
        """The descriptor, to pass on to the program that shall hold the lock; opened where it was not."""
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags, 0o600)
        return self._descriptor

    @property
    def opened(self) -> bool:
        """Whether this process has the file open, and so may hold the lock."""
        return self._descriptor is not None

    def _lock(self, kind: int) -> bool:
        try:
            fcntl.flock(self.fileno(), kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
