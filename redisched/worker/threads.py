"""A pool of daemon threads for sync tasks: unlike the standard one it never holds up the end of the process,
and a run that overstays can be interrupted as far as Python allows.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

_LOG: Final = logging.getLogger("redisched.worker")


class Interrupt(BaseException):
    """Raised inside a task's thread to end it: a BaseException, so `except Exception` lets it through."""


class Interruptible:
    """One call in a thread. `interrupt` raises inside it, at its next Python instruction, while it runs;
    `interrupted` says whether that was done.
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._lock = threading.Lock()
        self._thread: int | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._thread = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            _raise_in(self._thread, None)
            self._thread = None

    def interrupt(self) -> None:
        self.interrupted = True
        with self._lock:
            if self._thread is not None:
                _raise_in(self._thread, Interrupt)


def _raise_in(thread: int | None, error: type[BaseException] | None) -> None:
    if thread is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(error) if error else None
        )


class ThreadPool:
    """Starts threads as they are needed, up to the number of calls that run at once, and keeps them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, call: Callable[[], None]) -> None:
        """Run `call` in a thread; it must not raise."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            else:
                threading.Thread(target=self._work, name="redisched-task", daemon=True).start()
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            try:
                self._calls.get()()
            except BaseException:  # noqa: BLE001 - logged; the thread must live on
                _LOG.exception("a task's thread caught what its run let through")
            with self._lock:
                self._idle += 1
