"""Lua scripts: read from files, headers parsed and enforced, includes expanded, errors traced back.

A script file starts with `#!lua`, then a comment header with the sections KEYS, ARGV and RETURNS. The
expanded text gets one line of our own: the tables `K` (keys by name), `A` (arguments by name) and, for a
script whose last key is `name...`, `SLOTS` (the keys of that tail).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from redisched.core.errors import ScriptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ITEM: Final = re.compile(r"--   (\S+)  +(\S.*)")
_INCLUDE: Final = re.compile(r"--@include (\S+)")
_PLACE: Final = re.compile(r"user_script:(\d+)")

Argument = str | bytes | int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line of expanded text comes from."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """One operation: its expanded text, its digest and what its header declares."""

    name: str
    text: str
    keys: tuple[str, ...]
    arguments: tuple[str, ...]
    tail: str | None
    origins: tuple[Origin, ...] = field(repr=False)
    sha: str = field(repr=False)

    def ordered(self, arguments: Mapping[str, Argument]) -> tuple[Argument, ...]:
        """The arguments in the order of the header; an unknown or missing one never reaches the server."""
        if arguments.keys() != set(self.arguments):
            wrong = sorted(arguments.keys() ^ set(self.arguments))
            raise ScriptError(f"arguments do not match the header: {', '.join(wrong)}", f"{self.name}.lua")
        return tuple(arguments[name] for name in self.arguments)

    def place(self, message: str) -> str | None:
        """`file.lua:line` of an error that the server reports for the expanded text."""
        found = _PLACE.search(message)
        if not found or not 1 <= int(found[1]) <= len(self.origins):
            return None
        origin = self.origins[int(found[1]) - 1]
        return f"{origin.file}:{origin.line}"


@cache
def script(name: str) -> Script:
    """The script of that name, read once per process."""
    return expanded(name)


def expanded(name: str, instead: Mapping[str, str] = MappingProxyType({})) -> Script:
    """The script of that name; `instead` gives texts of files to take instead of ours, as a test's clock."""
    read = partial(_read, instead)
    lines = read(f"{name}.lua")
    _checked_header(name, lines)
    keys = tuple(_section(name, lines, "KEYS"))
    arguments = tuple(_section(name, lines, "ARGV"))
    tail = keys[-1] if keys and keys[-1].endswith("...") else None
    fixed = keys[:-1] if tail else keys
    body = list(_expanded(f"{name}.lua", lines[1:], set(), read))
    text = "\n".join([lines[0], _preamble(fixed, arguments, tail), *(line for line, _ in body)])
    origins = (Origin(f"{name}.lua", 1), Origin(f"{name}.lua", 1), *(origin for _, origin in body))
    sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return Script(name, text, fixed, arguments, tail, origins, sha)


def script_names() -> list[str]:
    """Every operation there is."""
    room = files("redisched") / "lua"
    return sorted(item.name.removesuffix(".lua") for item in room.iterdir() if item.name.endswith(".lua"))


def _read(instead: Mapping[str, str], name: str) -> list[str]:
    if name in instead:
        return instead[name].split("\n")
    try:
        return (files("redisched") / "lua" / name).read_text("utf-8").split("\n")
    except FileNotFoundError as error:
        raise ScriptError("there is no such script or include", name) from error


def _section(name: str, lines: list[str], title: str) -> Iterator[str]:
    """The names under `-- TITLE`, each of them explained."""
    inside = False
    for number, line in enumerate(takewhile(lambda line: line.startswith("--"), lines[1:]), 2):
        if not line.startswith("--   "):
            inside = line == f"-- {title}"
        elif inside:
            found = _ITEM.fullmatch(line)
            if not found:
                raise ScriptError(
                    f"under {title} must be a name and what it is, got {line!r}", f"{name}.lua:{number}"
                )
            yield found[1]


def _checked_header(name: str, lines: list[str]) -> None:
    if not lines[0].startswith("#!lua"):
        raise ScriptError("the first line must be #!lua", f"{name}.lua:1")
    if not lines[1:] or not lines[1].startswith(f"-- {name}: "):
        raise ScriptError(f"the second line must be '-- {name}: ' and what it does", f"{name}.lua:2")
    missing = [title for title in ("KEYS", "RETURNS") if f"-- {title}" not in lines]
    if missing:
        raise ScriptError(f"the header lacks {' and '.join(missing)}", f"{name}.lua")


def _expanded(
    file: str, lines: list[str], seen: set[str], read: Callable[[str], list[str]]
) -> Iterator[tuple[str, Origin]]:
    """Every line with its origin; an include stands once, where it is first named."""
    start = 2 if file.count("/") == 0 else 1
    for number, line in enumerate(lines, start):
        found = _INCLUDE.fullmatch(line)
        if not found:
            yield line, Origin(file, number)
        elif found[1] not in seen:
            seen.add(found[1])
            yield from _expanded(found[1], read(found[1]), seen, read)


def _preamble(keys: tuple[str, ...], arguments: tuple[str, ...], tail: str | None) -> str:
    named = ", ".join(f"['{name}'] = KEYS[{i}]" for i, name in enumerate(keys, 1))
    given = ", ".join(f"['{name}'] = ARGV[{i}]" for i, name in enumerate(arguments, 1))
    parts = [f"local K = {{ {named} }}"]
    if arguments:
        parts.append(f"local A = {{ {given} }}")
    if tail:
        parts.append(
            f"local SLOTS = {{}} for i = {len(keys) + 1}, #KEYS do SLOTS[i - {len(keys)}] = KEYS[i] end"
        )
    return " ".join(parts)
