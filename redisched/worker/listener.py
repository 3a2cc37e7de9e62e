"""Waits for hints on a connection of its own. A hint is never needed for correctness, only for speed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from redisched.core.errors import StoreError
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.operations.queues import wait
from redisched.worker.lane import Lane

PAUSE_SECONDS: Final = 0.5
MARGIN_SECONDS: Final = 2.0
_LOG: Final = logging.getLogger("redisched.worker")


class Listener:
    """Blocks on the queues' wake lists while the worker has room."""

    def __init__(self, executor: AsyncExecutor, lanes: list[Lane], longest: float) -> None:
        self._executor = executor
        self._lanes = {lane.keyspace.key("wake"): lane for lane in lanes}
        self._longest = longest
        self._heard: Callable[[], None]
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ended = False

    def report_to(self, heard: Callable[[], None]) -> None:
        """Who is told of a hint."""
        self._heard = heard

    def start(self) -> None:
        self._task = asyncio.create_task(self._live(), name="redisched-listener")

    def listen(self, wanted: bool) -> None:
        """Whether to ask for hints. One that is asked for already may still come: then it is passed on."""
        if wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    async def end(self) -> None:
        """A hint that was under way is lost: the caller's last turn pushes another where work is left.

        Told until it obeys: a cancellation that meets a reply may be swallowed (python/cpython#86296).
        """
        self._ended = True
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=0.1)

    async def _live(self) -> None:
        while not self._ended:
            await self._wanted.wait()
            try:
                await self._once()
            except (StoreError, TimeoutError) as error:
                _LOG.debug("waiting for a hint was cut short: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)
            except Exception:  # noqa: BLE001 - logged; without hints work is late
                _LOG.exception("waiting for a hint failed")
                await asyncio.sleep(PAUSE_SECONDS)

    async def _once(self) -> None:
        """One wait. The server's clock may jump: ours bounds it."""
        operation = wait([lane.keyspace for lane in self._lanes.values()], self._longest)
        async with asyncio.timeout(self._longest + MARGIN_SECONDS):
            key = await self._executor.send(operation)
        if key is not None:
            self._lanes[key].token = True
            self._wanted.clear()
            self._heard()
