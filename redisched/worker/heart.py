"""Keeps the leases: a thread with a connection of its own, so that a busy event loop loses no job."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from redisched.core.config import WorkerConfig
from redisched.core.errors import StoreError
from redisched.core.failpoints import failpoint
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import extend
from redisched.worker.run import Run, Stop

BATCH: Final = 250
TICK_SECONDS: Final = 0.25
_LOG: Final = logging.getLogger("redisched.worker")


class Heart:
    """`held` gives the runs in hand; `stop` is told, from this thread, which run must end and why."""

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
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._live, name="redisched-heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Once this returns no lease is extended any more."""
        self._ending.set()
        self._thread.join(timeout=2 * TICK_SECONDS + 5)

    def beat(self) -> None:
        """Extend every lease in hand once, and stop the runs that must end."""
        lease, sent = self._config.visibility_timeout, time.monotonic()
        by_queue: dict[str, list[Run]] = defaultdict(list)
        for run in self._held():
            by_queue[run.queue].append(run)
        for queue, runs in by_queue.items():
            for at in range(0, len(runs), BATCH):
                part = runs[at : at + BATCH]
                failpoint("worker.before_extend")
                pairs = [(run.claimed.id, run.claimed.version) for run in part]
                keyspace = Keyspace(self._namespace, queue)
                answers = self._executor.send(extend(keyspace, worker=self._worker, lease=lease, runs=pairs))
                for run, answer in zip(part, answers, strict=True):
                    self._apply(run, answer.extended, answer.stop, sent + lease.total_seconds())

    def give_up_lapsing(self) -> None:
        """Stop what would outlive its lease: somebody else may have it from then on."""
        soon = time.monotonic() + TICK_SECONDS * 2
        for run in self._held():
            if run.lease_end < soon:
                self._stop(run, Stop.LEASE_LOST)

    def _apply(self, run: Run, extended: bool, stop: bool, lease_end: float) -> None:
        if extended:
            run.lease_end = max(run.lease_end, lease_end)
        elif not run.settled:
            _LOG.warning("job %s: lease lost, its version %d is over", run.id, run.claimed.version)
            self._stop(run, Stop.LEASE_LOST)
        if stop:
            self._stop(run, Stop.CANCELLED)

    def _live(self) -> None:
        beat_at = time.monotonic() + self._config.heartbeat.total_seconds()
        while not self._ending.wait(TICK_SECONDS):
            self._tick()
            if time.monotonic() >= beat_at:
                beat_at = time.monotonic() + self._pace()

    def _pace(self) -> float:
        """Beat; seconds to the next: sooner after a beat that did not get through."""
        try:
            self.beat()
        except StoreError as error:
            _LOG.warning("heartbeat did not get through: %s", error)
            self.give_up_lapsing()
            return TICK_SECONDS
        except Exception:  # noqa: BLE001 - logged; leases must go on
            _LOG.exception("heartbeat failed")
            return TICK_SECONDS
        return self._config.heartbeat.total_seconds()
