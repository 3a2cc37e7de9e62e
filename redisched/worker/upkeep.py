"""What somebody must do now and then: forget old jobs, mend what was left halfway, say that we live."""

from __future__ import annotations

import asyncio
import itertools
import logging
from datetime import timedelta
from typing import Final

from redisched.core.config import WorkerConfig
from redisched.core.errors import ScriptError, StoreError
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Limits, audit, enlist, prune
from redisched.worker.declaring import Declaring

ENLIST_SECONDS: Final = 30.0
LONGEST_PERIOD: Final = timedelta(seconds=5)
PRUNED_AT_ONCE: Final = 250
_LOG: Final = logging.getLogger("redisched.worker")


class Upkeep:
    """One round every few seconds, for each queue."""

    def __init__(
        self,
        executor: AsyncExecutor,
        worker: str,
        about: bytes,
        keyspaces: list[Keyspace],
        config: WorkerConfig,
        limits: Limits,
        declaring: Declaring,
    ) -> None:
        self._executor = executor
        self._worker = worker
        self._about = about
        self._keyspaces = keyspaces
        self._next_keyspace = itertools.cycle(keyspaces)
        self._period = min(config.visibility_timeout, LONGEST_PERIOD)
        self._limits = limits.packed()
        self._declaring = declaring

    async def declare(self) -> None:
        await self._declaring.once()

    async def enlist(self) -> None:
        """In every queue; one whose keys are of a wrong kind keeps us from no other."""
        for keyspace in self._keyspaces:
            try:
                await self._executor.send(enlist(keyspace, worker=self._worker, about=self._about))
            except ScriptError as error:
                _LOG.error("queue %s: %s", keyspace.queue, error)

    async def once(self) -> None:
        """Declare what was refused; in the queue whose turn it is prune what is due, audit a bounded part.

        One queue a round: an idle worker of many queues is to cost no more than one of one.
        """
        await self.declare()
        keyspace = next(self._next_keyspace)
        pruned = PRUNED_AT_ONCE
        while pruned >= PRUNED_AT_ONCE:
            pruned = await self._executor.send(prune(keyspace, limits=self._limits, limit=PRUNED_AT_ONCE))
        found = await self._executor.send(audit(keyspace, every=self._period / 2))
        if found.mended:
            _LOG.warning("queue %s: %d jobs had no lease, they run again", keyspace.queue, found.mended)

    async def live(self) -> None:
        """Until cancelled."""
        since = 0.0
        while True:
            await asyncio.sleep(self._period.total_seconds())
            since += self._period.total_seconds()
            try:
                await self.once()
                if since >= ENLIST_SECONDS:
                    await self.enlist()
                    since = 0.0
            except StoreError as error:
                _LOG.warning("upkeep did not get through: %s", error)
            except Exception:  # noqa: BLE001 - logged; a round that fails must not be the last
                _LOG.exception("upkeep failed")
