"""Waiting in tests: for a condition, with a time limit, and never for a time alone."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")

SHORTEST_PAUSE: Final = 0.001
LONGEST_PAUSE: Final = 0.02


class WaitedTooLongError(AssertionError):
    """A condition did not come true in time. `last` is the last value that it had."""

    def __init__(self, what: str, timeout: float, last: object) -> None:
        super().__init__(f"waited {timeout:g} s for {what}; the last value was {last!r}")
        self.last = last


def wait_for(condition: Callable[[], T], *, what: str, timeout: float = 5.0) -> T:
    """The first true value of `condition`; raises WaitedTooLongError when none comes in `timeout` seconds.

    What `condition` raises is not caught: a condition that may fail for a while says so itself.
    """
    deadline = time.monotonic() + timeout
    for pause in _pauses():
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise WaitedTooLongError(what, timeout, value)
        time.sleep(pause)
    raise AssertionError  # the pauses never end


async def wait_for_async(condition: Callable[[], Awaitable[T]], *, what: str, timeout: float = 5.0) -> T:  # noqa: ASYNC109 - the same face as wait_for
    """`wait_for` for a condition that is awaited; the loop runs meanwhile."""
    deadline = time.monotonic() + timeout
    for pause in _pauses():
        value = await condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise WaitedTooLongError(what, timeout, value)
        await asyncio.sleep(pause)
    raise AssertionError  # the pauses never end


def _pauses() -> Iterator[float]:
    """Short at first, for what is nearly there; then long enough to leave the processor to others."""
    pause = SHORTEST_PAUSE
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_PAUSE)
