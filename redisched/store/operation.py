"""An operation is a value: what to send and how to read the reply. An executor sends it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from redisched.store.keys import Keyspace
from redisched.store.scripts import Argument, Script, script

T = TypeVar("T")
Flow = Generator["Operation[object]", object, T]
"""Several operations in a row: a generator that yields operations and returns what they came to."""

_OP: Final = "op"
"""The key in which `lua/lib/once.lua` keeps the answer of one call, for a repeat of it."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One request. Sent twice it does what it does once, so that a lost reply is no harm.
    `subjects`: the public ids of the jobs concerned.
    """

    name: str
    read: Callable[[object], T]
    script: Script | None = None
    keys: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    subjects: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether it may change anything that lasts: a read without a reply leaves no doubt behind."""
        return self.script is not None and not self.script.text.startswith("#!lua flags=no-writes")

    def __iter__(self) -> Flow[T]:
        """`reply = yield from operation` inside a flow."""
        reply = yield cast("Operation[object]", self)
        return cast("T", reply)

    def command(self, *, whole: bool = False) -> tuple[Argument, ...]:
        """What goes over the wire; `whole`: with the text of the script, where the server lacks it."""
        if self.script is None:
            return (*self.name.split(), *self.keys, *self.arguments)
        head = ("EVAL", self.script.text) if whole else ("EVALSHA", self.script.sha)
        return (*head, len(self.keys), *self.keys, *self.arguments)


def call(
    name: str,
    keyspace: Keyspace,
    read: Callable[[object], T],
    /,
    *,
    tail: tuple[str, ...] = (),
    subjects: tuple[str, ...] = (),
    **arguments: Argument,
) -> Operation[T]:
    """The operation of the script `name`; its keys follow from its header and the keyspace. One that keeps
    its answer gets a key that is its own: made here, so that every repeat of this value finds it."""
    found = script(name)
    parts = (f"{_OP}:{secrets.token_hex(8)}" if part == _OP else part for part in found.keys)
    keys = (*(keyspace.key(part) for part in parts), *tail)
    return Operation(name, read, found, keys, found.ordered(arguments), subjects)


def command(name: str, read: Callable[[object], T], *arguments: Argument) -> Operation[T]:
    """A plain command of the server."""
    return Operation(name, read, arguments=arguments)
