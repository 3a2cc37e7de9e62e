# ruff: noqa: PLC0415 - rich is imported where a table is printed, so that --help comes at once
"""What commands print: tables for people, JSON for programs; nothing stored can forge a line of either."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Final, NoReturn

import typer

from redisched.ops.logs import escaped

UNBOUNDED: Final = 100_000


def say(text: str) -> None:
    """One line on stdout."""
    print(escaped(text))


def complain(text: str) -> None:
    """One line on stderr."""
    print(f"redisched: {escaped(text)}", file=sys.stderr)


def end(trouble: bool) -> NoReturn:
    """Exit 1 where there is trouble, else 0."""
    raise typer.Exit(1 if trouble else 0)


def print_json(value: object) -> None:
    json.dump(plain(value), sys.stdout, indent=2)
    sys.stdout.write("\n")


def plain(value: object) -> object:
    """`value` as JSON can say it: instants in ISO 8601, fields by name, and text where there is no better."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return _scalar(value)


def _scalar(value: object) -> object:
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value) if isinstance(value, bytes) else str(value)


def print_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Aligned columns. Nothing is cut off: ids are there to be copied."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    Console(width=UNBOUNDED, markup=False, highlight=False, emoji=False).print(table)


def cell(value: object) -> str:
    """`value` in a table."""
    if value is None or value == "":
        return "-"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}Z"
    if isinstance(value, Enum):
        return str(value.value)
    return escaped(value if isinstance(value, str) else repr(value))
