"""What the demo shows: a line for each thing that happens, and what it waits for where a terminal is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

from redisched.cli.demo.promises import Claim


class Screen:
    """Prints on stdout; plain lines where that is no terminal."""

    def __init__(self) -> None:
        self._console = Console(markup=False, highlight=False, emoji=False)
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def title(self, text: str) -> None:
        self._console.print(f"\n{text}", style="bold", soft_wrap=True)

    def say(self, text: str) -> None:
        self._console.print(f"{self.seconds:5.1f} s  {text}", soft_wrap=True)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Shows that something is awaited, in a terminal only."""
        with self._console.status(text, spinner="line"):
            yield

    def verdict(self, claim: Claim) -> None:
        word, style = ("kept", "green") if claim.verified else ("BROKEN", "bold red")
        self._console.print(f"{self.seconds:5.1f} s  {word}: {claim.seen}", style=style, soft_wrap=True)

    def table(self, claims: Sequence[Claim]) -> None:
        table = Table(title="", show_lines=True)
        for name in ("Promised", "Seen", "Verified"):
            table.add_column(name, overflow="fold")
        for claim in claims:
            style = None if claim.verified else "bold red"
            table.add_row(claim.promised, claim.seen, "yes" if claim.verified else "NO", style=style)
        self._console.print(table)
