"""Keeps the leases: two threads and a connection of their own, so that a busy event loop loses no job."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from redisched.core.config import WorkerConfig
from redisched.core.errors import OutcomeUnknownError, RedischedError
from redisched.core.failpoints import failpoint
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import extend
from redisched.worker.run import Run, Stop

BATCH: Final = 250
TICK_SECONDS: Final = 0.25
END_SECONDS: Final = 5.0
_LOG: Final = logging.getLogger("redisched.worker")


def lapse_margin(lease: float) -> float:
    """How long before its lease ends a run is told to end: 5 % of it, half a second where that is less than
    the lease allows for. With every heartbeat in time it never comes so near.
    """
    return max(lease * 0.05, min(0.5, lease / 5))


class Heart:
    """The talker extends leases, and may wait for the server; the clock never waits for anybody, ticks, and
    ends what would outlive its lease. `held` gives the runs in hand; `stop` is told, from either thread,
    which run must end and why.
    """

    def __init__(
        self,
        executor: Executor,
        worker: str,
        namespace: str,
        config: WorkerConfig,
        held: Callable[[], Iterable[Run]],
        stop: Callable[[Run, Stop], None],
        tick: Callable[[], None],
    ) -> None:
        self._executor = executor
        self._worker = worker
        self._namespace = namespace
        self._config = config
        self._held = held
        self._stop = stop
        self._tick = tick
        self._margin = lapse_margin(config.visibility_timeout.total_seconds())
        self._silent, self._ended = threading.Event(), threading.Event()
        self._talker = threading.Thread(target=self._talk, name="redisched-heart", daemon=True)
        self._clock = threading.Thread(target=self._watch_the_time, name="redisched-clock", daemon=True)

    def start(self) -> None:
        self._clock.start()
        self._talker.start()

    def end(self) -> None:
        """Once this returns no further lease is extended, and nothing ticks."""
        self._silent.set()
        self._talker.join(END_SECONDS)
        self._ended.set()
        self._clock.join(END_SECONDS)

    def beat(self) -> bool:
        """Extend every lease in hand once, the one that ends first before the others, and stop the runs that
        must end. Whether all of it got through; what did not holds up nothing else.
        """
        by_queue: dict[str, list[Run]] = defaultdict(list)
        for run in sorted(self._held(), key=_lease_end):
            by_queue[run.queue].append(run)
        parts = [runs[at : at + BATCH] for runs in by_queue.values() for at in range(0, len(runs), BATCH)]
        parts.sort(key=lambda part: part[0].lease_end)
        through = [self._got_through(part) for part in parts]
        return all(through)

    def give_up_lapsing(self) -> None:
        """Stop what would outlive its lease: somebody else may have it from then on."""
        soon = time.monotonic() + self._margin
        lapsing = [run for run in self._held() if run.lease_end < soon and not run.settled and not run.stop]
        for run in lapsing:
            self._stop(run, Stop.LEASE_LOST)
        if lapsing:
            _LOG.warning("%s and %d more: their leases end, stopping", lapsing[0].id, len(lapsing) - 1)

    def _got_through(self, runs: list[Run]) -> bool:
        """Runs of one queue."""
        queue = runs[0].queue
        try:
            if not self._silent.is_set():
                self._extend(queue, runs)
        except RedischedError as error:
            # What it says is for clients, who hold the id: here the next heartbeat repeats it.
            why = "no reply" if isinstance(error, OutcomeUnknownError) else error
            _LOG.warning("queue %s: heartbeat did not get through: %s: %s", queue, type(error).__name__, why)
            return False
        except Exception:  # noqa: BLE001 - logged; leases must go on
            _LOG.exception("queue %s: heartbeat failed", queue)
            return False
        return True

    def _extend(self, queue: str, runs: list[Run]) -> None:
        failpoint("worker.before_extend")
        lease, sent = self._config.visibility_timeout, time.monotonic()
        pairs = [(run.claimed.id, run.claimed.version) for run in runs]
        keyspace = Keyspace(self._namespace, queue)
        answers = self._executor.send(extend(keyspace, worker=self._worker, lease=lease, runs=pairs))
        for run, answer in zip(runs, answers, strict=True):
            self._apply(run, answer.extended, answer.stop, sent + lease.total_seconds())

    def _apply(self, run: Run, extended: bool, stop: bool, lease_end: float) -> None:
        if extended:
            run.lease_end = max(run.lease_end, lease_end)
        elif not run.settled:
            _LOG.warning("job %s: lease lost, its version %d is over", run.id, run.claimed.version)
            self._stop(run, Stop.LEASE_LOST)
        if stop:
            self._stop(run, Stop.CANCELLED)

    def _talk(self) -> None:
        """The talker: sooner again after a heartbeat that did not get through."""
        usual = pause = self._config.heartbeat.total_seconds()
        while not self._silent.wait(pause):
            pause = usual if self._through() else min(TICK_SECONDS, usual)

    def _through(self) -> bool:
        try:
            return self.beat()
        except Exception:  # noqa: BLE001 - logged; leases must go on
            _LOG.exception("heartbeat failed")
            return False

    def _watch_the_time(self) -> None:
        """The clock."""
        while not self._ended.wait(min(TICK_SECONDS, self._margin / 2)):
            for look in (self._tick, self.give_up_lapsing):
                try:
                    look()
                except Exception:  # noqa: BLE001 - logged; a clock that stops would end the process
                    _LOG.exception("the heart's clock goes on")


def _lease_end(run: Run) -> float:
    return run.lease_end
