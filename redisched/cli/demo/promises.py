"""A promise, what was seen of it, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

STEP_SECONDS: Final = 0.02


class BrokenPromiseError(Exception):
    """What was promised was not seen."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the last table."""

    promised: str
    seen: str
    verified: bool


def require(condition: bool, what: str) -> None:
    """`what` says what is expected."""
    if not condition:
        raise BrokenPromiseError(f"not so: {what}")


def wait_for(condition: Callable[[], T], seconds: float, what: str) -> T:
    """The first true value of `condition`; BrokenPromiseError when none comes in time."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() >= end:
            raise BrokenPromiseError(f"not seen within {seconds:g} s: {what}")
        time.sleep(STEP_SECONDS)
    return value
