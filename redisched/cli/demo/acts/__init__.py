"""The acts, one promise each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from redisched.cli.demo.screen import Screen
from redisched.cli.demo.stage import Stage


@dataclass(frozen=True, slots=True)
class Act:
    """`play` returns what was seen, or raises where that is not what was promised."""

    title: str
    promise: str
    play: Callable[[Stage, Screen], str]
