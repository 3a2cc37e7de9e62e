"""Puts the schedules that the code declares in force. A full server may refuse: then later."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final

from redisched.app.declared import Declared
from redisched.core.errors import StoreRefusedError
from redisched.store.aio_executor import AsyncExecutor

_LOG: Final = logging.getLogger("redisched.worker")


class Declaring:
    """Jobs must run on a server that takes no schedule now: a refusal is no reason not to start."""

    def __init__(self, executor: AsyncExecutor, namespace: str, declared: Iterable[Declared]) -> None:
        self._executor = executor
        self._namespace = namespace
        self._left = deque(declared)

    async def once(self) -> None:
        """Those that are not in force yet; nothing where all are."""
        while self._left:
            try:
                await self._executor.run(self._left[0].put(self._namespace))
            except StoreRefusedError as error:
                _LOG.warning("%d schedules are not in force yet: %s", len(self._left), error)
                return
            self._left.popleft()
