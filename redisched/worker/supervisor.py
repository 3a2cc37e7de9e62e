"""Several workers as one command: starts them, restarts the ones that die, passes signals on."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Final

from redisched.core.failpoints import failpoint
from redisched.worker.worker import Exit

POLL_SECONDS: Final = 0.1
QUICK_DEATH_SECONDS: Final = 30.0
"""Longer than a slow application takes to load on a busy machine."""
LONGEST_PAUSE: Final = 30.0
_AS_TOLD: Final = frozenset({Exit.RECYCLE, -signal.SIGTERM, -signal.SIGINT})
"""How a worker may end besides DONE: the signal that ends it may come before it handles signals."""

_LOG: Final = logging.getLogger("redisched.worker")


@dataclass(slots=True)
class Place:
    """One of the workers, through all its lives. `start_at`: monotonic; quick deaths put it off."""

    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    pipe: int = -1
    started: float = 0.0
    start_at: float = 0.0
    pause: float = 0.0
    codes: list[int] = field(default_factory=list)

    def start(self) -> None:
        """Start it; where the machine does not allow that now, put it off."""
        try:
            self._start()
        except OSError as error:
            self._pause(longer=True)
            _LOG.error("a worker could not be started, next try in %.1f s: %s", self.pause, error)

    def _start(self) -> None:
        """The same command line again; its pipe's other end is ours alone, so it ends when we do."""
        watched, pipe = os.pipe()
        environment = {**self.environment, "REDISCHED_PARENT": f"{watched}:{os.getpid()}"}
        command = [sys.executable, *sys.orig_argv[1:]]
        try:
            self.process = subprocess.Popen(command, env=environment, pass_fds=(watched,))
        except OSError:
            os.close(pipe)
            raise
        finally:
            os.close(watched)
        self.pipe, self.started = pipe, time.monotonic()

    def reap(self) -> int | None:
        """Its exit code, once, when it has ended."""
        code = self.process.poll() if self.process else None
        if code is not None:
            os.close(self.pipe)
            self.process = None
        return code

    def put_off(self, code: int) -> None:
        """A worker that keeps dying at once is started less and less often."""
        quick = code != Exit.RECYCLE and time.monotonic() - self.started < QUICK_DEATH_SECONDS
        self._pause(longer=quick)

    def _pause(self, *, longer: bool) -> None:
        self.pause = min(max(2 * self.pause, 0.5), LONGEST_PAUSE) if longer else 0.0
        self.start_at = time.monotonic() + self.pause


class Supervisor:
    """Keeps `count` workers going until it is told to end, or until all have ended by themselves."""

    def __init__(self, count: int) -> None:
        environment = {**os.environ, "REDISCHED_SUPERVISED": "1"}
        self._places = [Place(environment) for _ in range(count)]
        self._ending = False
        self._signals: list[int] = []
        self._worst = 0

    def run(self) -> int:
        """The exit code: 0, or the worst of its workers' at the end."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _frame: self._signals.append(number))
        for place in self._places:
            place.start()
        while self._places:
            self.once()
            time.sleep(POLL_SECONDS)
        return self._worst

    def once(self) -> None:
        """Pass on the signals that came, and look at each worker once."""
        while self._signals:
            self._pass_on(self._signals.pop(0))
        for place in list(self._places):
            code = place.reap()
            if code is not None:
                self._ended(place, code)
            elif place.process is None and time.monotonic() >= place.start_at:
                failpoint("supervisor.before_restart")
                place.start()

    def _ended(self, place: Place, code: int) -> None:
        if self._ending or code in {Exit.DONE, 2}:
            self._places.remove(place)
            self._worst = max(self._worst, abs(code) if code not in _AS_TOLD else 0)
            return
        place.put_off(code)
        _LOG.warning("a worker ended with code %d, another starts in %.1f s", code, place.pause)

    def _pass_on(self, number: int) -> None:
        """Not in the handler: a signal may come in the middle of starting a worker."""
        self._ending = True
        for place in list(self._places):
            if place.process is None:
                self._places.remove(place)
            elif place.process.poll() is None:
                place.process.send_signal(number)


def supervise(count: int) -> int:
    return Supervisor(count).run()
