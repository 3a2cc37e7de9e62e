"""Talking to the processes of `member.py`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.processes import Processes


class Member:
    """Another process that uses the server of `folder`. It joins as soon as it starts."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        self._processes = processes
        pipe = subprocess.PIPE
        self.process = processes.python("-m", "tests.embedded.member", folder, stdin=pipe, stdout=pipe)

    def joined(self) -> str:
        """The URL it was given, once it has joined."""
        return self._line()

    def tell(self, word: str) -> str:
        """What came of `word`."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self._line()

    def kill(self) -> None:
        """End it the hard way, and its process group with it."""
        self._processes.end(self.process)

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process ended; its error is above"
        return line.strip()
