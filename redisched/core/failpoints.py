"""Failpoints: named places where a test makes the process die, freeze, fail or dawdle; free when off.

REDISCHED_FAILPOINTS="worker.after_turn=kill; fire.before=sleep:250*2" arms them in a process and in its
children. `name=action[:argument][*count]`: without a count it bites each time, with one that often in each
process. A name may be given several times; its actions then follow one another.

    kill         SIGKILL to this process
    stop         SIGSTOP to this process; SIGCONT lets it go on from there
    exit:CODE    end at once: no handlers, no flushing
    raise        FailpointError
    sleep:MS     wait that long
    touch:PATH   add the line "name pid" to this file, so that a test can wait for it and count
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from redisched.core.errors import ConfigurationError, RedischedError

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE: Final = "REDISCHED_FAILPOINTS"

Name = Literal[
    "client.before_send",
    "client.after_send",
    "worker.before_turn",
    "worker.after_turn",
    "worker.before_run",
    "worker.after_run",
    "worker.before_finish",
    "worker.before_extend",
    "worker.before_release",
    "fire.before",
    "fire.after",
    "supervisor.before_restart",
    "child.before_run",
    "child.after_run",
]
NAMES: Final[frozenset[str]] = frozenset(get_args(Name))

_NOTHING: Final = ("", "takes no argument")
_NUMBER: Final = (r"\d+", "needs a whole number")
_PATH: Final = (".+", "needs a path")

# action -> the pattern of its whole argument, and how to say that it is broken
ACTIONS: Final = {
    "kill": _NOTHING,
    "stop": _NOTHING,
    "exit": _NUMBER,
    "raise": _NOTHING,
    "sleep": _NUMBER,
    "touch": _PATH,
}

_POINT: Final = re.compile(
    r"(?P<name>[\w.]+)=(?P<action>\w+)(?::(?P<argument>.*?))?(?:\*(?P<count>[1-9]\d*))?"
)


class FailpointError(RedischedError):
    """Raised on purpose, by an armed failpoint. `name` is the failpoint's."""

    def __init__(self, name: str) -> None:
        super().__init__(f"failpoint {name} is armed with raise")
        self.name = name


def failpoint(name: Name) -> None:
    """Do here what the failpoint is armed with; nothing when it is not."""
    if _switch.off:
        return
    for pause in _reach(name):
        time.sleep(pause)


async def failpoint_async(name: Name) -> None:
    """`failpoint` for coroutines: a `sleep` lets the event loop run."""
    if _switch.off:
        return
    for pause in _reach(name):
        await asyncio.sleep(pause)


@contextlib.contextmanager
def armed(spec: str) -> Iterator[Counter[str]]:
    """Arm this process with `spec` alone for a while; yields how often each failpoint has bitten so far."""
    points = Failpoints.parse(spec)
    before = _switch.points
    _switch.turn(points)
    try:
        yield points.bites
    finally:
        _switch.turn(before)


@dataclass(frozen=True, slots=True)
class Point:
    """One action armed at one place; `count` is None when it has no limit."""

    name: str
    action: str
    argument: str
    count: int | None


class Failpoints:
    """What is armed. `bites` counts by name; it is the only thing that changes."""

    def __init__(self, points: tuple[Point, ...]) -> None:
        self.points = points
        self.bites: Counter[str] = Counter()
        self._left = [point.count for point in points]
        self._lock = threading.Lock()

    @classmethod
    def parse(cls, spec: str) -> Failpoints:
        """Read a specification; raises ConfigurationError where a part of it cannot be obeyed."""
        return cls(tuple(_parse_point(spec, part.strip()) for part in spec.split(";") if part.strip()))

    def take(self, name: str) -> tuple[Point, ...]:
        """The actions to do now at `name`, counted as done: what follows may be the end of the process."""
        with self._lock:
            taken = [
                place
                for place, point in enumerate(self.points)
                if point.name == name and self._left[place] != 0
            ]
            for place in taken:
                left = self._left[place]
                self._left[place] = None if left is None else left - 1
            self.bites[name] += bool(taken)
        return tuple(self.points[place] for place in taken)


class _Switch:
    """Whether any failpoint is armed. Not off until the environment has been read, at the first use."""

    __slots__ = ("off", "points")

    def __init__(self) -> None:
        self.off = False
        self.points: Failpoints | None = None

    def turn(self, points: Failpoints | None) -> None:
        self.points = points
        self.off = points is not None and not points.points


# State of the module, against the rule: a call site must cost one look and cannot be handed anything.
_switch: Final = _Switch()


def _reach(name: str) -> Iterator[float]:
    """Do what is armed at `name`, and yield the seconds to wait, which the caller does in its own way."""
    if name not in NAMES:
        raise ConfigurationError("failpoint", name, _known("unknown"))
    if _switch.points is None:
        _switch.turn(Failpoints.parse(os.environ.get(VARIABLE, "")))
    assert _switch.points is not None
    for point in _switch.points.take(name):
        if point.action == "sleep":
            yield int(point.argument) / 1000
        else:
            _act(point)


def _act(point: Point) -> None:
    match point.action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            # To this thread: then it stops before its next instruction, and with it the whole process. A
            # signal to the process may go to another thread and leave this one running for a moment.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        case "exit":
            os._exit(int(point.argument))
        case "raise":
            raise FailpointError(point.name)
        case "touch":
            with Path(point.argument).open("a") as file:
                file.write(f"{point.name} {os.getpid()}\n")


def _parse_point(spec: str, text: str) -> Point:
    found = _POINT.fullmatch(text)
    if found is None:
        raise ConfigurationError(VARIABLE, spec, f"{text!r} is not name=action[:argument][*count]")
    name, action, argument = found["name"], found["action"], found["argument"] or ""
    if name not in NAMES:
        raise ConfigurationError(VARIABLE, spec, _known(f"{name!r} is unknown"))
    if action not in ACTIONS:
        raise ConfigurationError(VARIABLE, spec, f"{action!r} is none of the actions {', '.join(ACTIONS)}")
    pattern, takes = ACTIONS[action]
    if re.fullmatch(pattern, argument) is None:
        raise ConfigurationError(VARIABLE, spec, f"{text!r}: {action} {takes}")
    return Point(name, action, argument, int(found["count"]) if found["count"] else None)


def _known(what: str) -> str:
    return f"{what}; the failpoints are {', '.join(sorted(NAMES))}"
