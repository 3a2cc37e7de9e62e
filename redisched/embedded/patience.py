"""Waiting for another process, with an end. The only place in this package that sleeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from redisched.core.errors import EmbeddedServerError

if TYPE_CHECKING:
    from collections.abc import Callable

STEP_SECONDS: Final = 0.005


class Patience:
    """A wait in small steps that gives up after `seconds` without news."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def renew(self) -> None:
        """There was news: count from now."""
        self._end = time.monotonic() + self._seconds

    def wait(self, trouble: str) -> None:
        """Let a step pass; EmbeddedServerError(`trouble`) when patience is over."""
        if time.monotonic() >= self._end:
            raise EmbeddedServerError(trouble)
        time.sleep(STEP_SECONDS)


def wait_until(condition: Callable[[], bool], seconds: float, trouble: str) -> None:
    """Return as soon as `condition` holds; EmbeddedServerError(`trouble`) if it does not in time."""
    patience = Patience(seconds)
    while not condition():
        patience.wait(trouble)
