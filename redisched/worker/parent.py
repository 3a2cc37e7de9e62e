"""A child process that ends with its parent, however the parent ends."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(pipe: int, parent: int) -> None:
    """End this process as soon as `pipe`, whose other end only the parent holds, is closed.

    On Linux the kernel sees to it as well, for code that never lets the watching thread run.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=_watch, args=(pipe,), name="redisched-parent", daemon=True).start()


def _watch(pipe: int) -> None:
    with contextlib.suppress(OSError):
        while os.read(pipe, 1):
            pass
    os._exit(1)
