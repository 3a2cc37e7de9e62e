"""Signals that end the demo early: it cleans up all the same."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal came; `exit_code` is what a shell expects."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block a signal that would end this process raises Interrupted."""
    before = {number: signal.signal(number, _interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_interruptions() -> None:
    """From now to the end of the `interruptible` block: cleaning up takes a moment and is not cut short."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _frame: object) -> None:
    raise Interrupted(number)
