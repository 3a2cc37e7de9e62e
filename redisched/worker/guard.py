"""Watches the event loop from the heart's clock, and the whole process from a small one beside it."""

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

from redisched.worker.heart import lapse_margin
from redisched.worker.run import Kind, Run

PULSE_SECONDS: Final = 1.0
STANDSTILL_SECONDS: Final = 0.5
END_SECONDS: Final = 0.5
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
        """Let it go and reap it: one that is not reaped outlives an exec as a zombie of ours."""
        if self._process.stdin:
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)


class LoopGuard:
    """Told to `look` from another thread, it knows whether the loop still turns. With the loop standing still
    `blocked` is called there once a run on it has outlived its timeout and the grace, or once any run is
    about to outlive its lease: told with the runs that are overdue, and with those that lapse.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        held: Callable[[], Iterable[Run]],
        blocked: Callable[[list[Run], list[Run]], None],
        grace: float,
        lease: float,
    ) -> None:
        self._loop = loop
        self._held = held
        self._blocked = blocked
        self._grace = grace
        self._pulse_every = min(PULSE_SECONDS, lease / 4)
        self._standstill = min(STANDSTILL_SECONDS, lease / 4)
        self._margin = lapse_margin(lease) / 2  # the loop had the other half to stop them itself
        self._asked_at = time.monotonic()
        self._waiting = False

    def look(self) -> None:
        now = time.monotonic()
        still = now - self._asked_at
        if not self._waiting:
            if still >= self._pulse_every:
                self._ask(now)
            return
        held = list(self._held())
        overdue = [run for run in held if still > self._grace and self._is_overdue(run, now)]
        lapsing = [run for run in held if still > self._standstill and run.lease_end < now + self._margin]
        if overdue or lapsing:
            self._blocked(overdue, lapsing)

    def _ask(self, now: float) -> None:
        self._waiting, self._asked_at = True, now
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._pulse)

    def _pulse(self) -> None:
        self._waiting = False
        late = time.monotonic() - self._asked_at
        if late > self._grace:
            _LOG.warning("the event loop stood still for %.1f s: a coroutine blocks", late)

    def _is_overdue(self, run: Run, now: float) -> bool:
        if run.kind is not Kind.ASYNC or run.timeout_ms is None or not run.started:
            return False
        return now > run.started + run.timeout_ms / 1000 + self._grace
