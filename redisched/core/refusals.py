"""Why a value cannot be carried: finds the offender, its path and the way out. Runs only after a failure."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from redisched.core.errors import PayloadError
from redisched.core.extensions import EXTENSIONS
from redisched.core.wire import CARRIED, CONTAINERS, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN: Final = "pass plain values, or an id by which the task finds it"
_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels; flatten it, or store it and pass its key"
_CYCLE: Final = "it contains itself; pass a tree of values"


class _Offence(NamedTuple):
    value: object
    reason: str
    steps: tuple[str, ...] = ()


def refusal(value: object, field: str, error: Exception) -> PayloadError:
    """The error to raise for `value`, called `field`, after `error` stopped it from being carried."""
    found = _Search().look(value, ()) or _Offence(value, f"cannot be carried ({cause(error)}); {_PLAIN}")
    return PayloadError(_shortened(field + "".join(reversed(found.steps))), found.value, found.reason)


def cause(error: Exception) -> str:
    """What `error` says, as one short line of ASCII: it may quote what anybody wrote."""
    return ascii(str(error))[1:-1][:200]


def way_out(value: object) -> str:
    """What the type of `value` is, and what the caller may pass instead."""
    kind = type(value)
    name = kind.__qualname__
    annotate = f"is carried where the task's parameter is annotated {name}; do that, or pass"
    if isinstance(value, Enum):
        return f"an Enum {annotate} its .value"
    if dataclasses.is_dataclass(kind):
        return f"a dataclass {annotate} plain values"
    if hasattr(kind, "model_dump"):
        return f"a model {annotate} its .model_dump()"
    if isinstance(value, memoryview):
        return "a memoryview cannot be carried; pass bytes(value)"
    return _inherited(kind) or f"values of type {name} cannot be carried to another process; {_PLAIN}"


def _inherited(kind: type) -> str | None:
    base = next((base for base in kind.__mro__[1:] if base in CARRIED), None)
    if base is None:
        return None
    return f"a {kind.__qualname__} would come back as {base.__name__}; pass a plain {base.__name__} instead"


class _Search:
    """Depth first, in the order of iteration; each shared container is looked into once per depth."""

    def __init__(self) -> None:
        self._sound_down_to: dict[int, int] = {}

    def look(self, value: object, above: tuple[int, ...]) -> _Offence | None:
        if type(value) not in CONTAINERS:
            reason = _scalar_reason(value)
            return _Offence(value, reason) if reason else None
        if id(value) in above:
            return _Offence(value, _CYCLE)
        if len(above) >= MAX_DEPTH:
            return _Offence(value, _TOO_DEEP)
        if self._sound_down_to.get(id(value), -1) >= len(above):
            return None
        return self._look_inside(value, above)

    def _look_inside(self, value: object, above: tuple[int, ...]) -> _Offence | None:
        for step, member in _members(value):
            found = self.look(member, (*above, id(value)))
            if found:
                return found._replace(
                    steps=(*found.steps, step if isinstance(step, str) else f"[{_shown(step[0])}]")
                )
        self._sound_down_to[id(value)] = len(above)
        return None


def _members(container: object) -> Iterator[tuple[str | tuple[object], object]]:
    """Each member with its step: words, or a one-tuple of an index or key (shown only when needed)."""
    if isinstance(container, dict):
        for key, item in container.items():
            yield " key", key
            yield (key,), item
    elif isinstance(container, list | tuple):
        yield from (((index,), item) for index, item in enumerate(container))
    elif isinstance(container, set | frozenset):
        yield from ((" member", item) for item in container)


def _scalar_reason(value: object) -> str | None:
    kind = type(value)
    if kind not in CARRIED:
        return way_out(value)
    try:
        if isinstance(value, str):
            value.encode()
        elif kind in EXTENSIONS:
            EXTENSIONS[kind].encode(value)
    except UnicodeEncodeError as error:
        return (
            f"character {error.start} is a lone surrogate; pass bytes: value.encode('utf-8', 'surrogatepass')"
        )
    except TypeError as error:
        return str(error)
    return None


def _shown(key: object) -> str:
    try:
        text = ascii(key)
    except Exception:  # noqa: BLE001 - a broken __repr__ must not hide the refusal
        text = f"<{type(key).__name__}>"
    return text if len(text) <= 40 else f"{text[:24]}…{text[-12:]}"


def _shortened(path: str) -> str:
    return path if len(path) <= 160 else f"{path[:100]}…{path[-40:]}"
