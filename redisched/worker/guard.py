"""Watches the event loop from the heart's thread, and the whole process from a small one beside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from redisched.worker.run import Kind, Run

PULSE_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("redisched.worker")


class Watchdog:
    """The process beside us: it ends us if we hang where no thread of ours can run."""

    def __init__(self, seconds: float) -> None:
        code = str(Path(__file__).with_name("watchdog.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", code, str(os.getpid()), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        stdin = self._process.stdin
        self._pipe = stdin.fileno() if stdin else -1
        os.set_blocking(self._pipe, False)

    def tick(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._pipe, b".")

    def end(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


class LoopGuard:
    """Told to `look` from another thread, it knows whether the loop still turns; `blocked` is called there
    once a run on the loop has outlived its timeout and the grace with the loop standing still.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        held: Callable[[], Iterable[Run]],
        blocked: Callable[[list[Run]], None],
        grace: float,
    ) -> None:
        self._loop = loop
        self._held = held
        self._blocked = blocked
        self._grace = grace
        self._asked_at = time.monotonic()
        self._waiting = False

    def look(self) -> None:
        now = time.monotonic()
        if not self._waiting and now - self._asked_at >= PULSE_SECONDS:
            self._waiting, self._asked_at = True, now
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._pulse)
        elif self._waiting and now - self._asked_at > self._grace:
            overdue = [run for run in self._held() if self._is_overdue(run, now)]
            if overdue:
                self._blocked(overdue)

    def _pulse(self) -> None:
        self._waiting = False
        late = time.monotonic() - self._asked_at
        if late > self._grace:
            _LOG.warning("the event loop stood still for %.1f s: a coroutine blocks", late)

    def _is_overdue(self, run: Run, now: float) -> bool:
        if run.kind is not Kind.ASYNC or run.timeout_ms is None or not run.started:
            return False
        return now > run.started + run.timeout_ms / 1000 + self._grace
