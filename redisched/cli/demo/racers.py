"""Instances that fire one slot at the same moment."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from redisched.cli.demo.promises import wait_for
from redisched.cli.demo.stage import Stage
from redisched.store.operations.schedules import Fired

COMMAND: Final = ("-m", "redisched.cli.demo.racer")
SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Racer:
    """A process, and the file that it writes to."""

    process: subprocess.Popen[str]
    output: Path

    @property
    def lines(self) -> list[str]:
        return self.output.read_text("utf-8").splitlines()


class Racers:
    """`count` processes that want one slot; they are gone at the end of the block."""

    def __init__(self, stage: Stage, count: int, queue: str, name: str) -> None:
        self._stage = stage
        self._outputs = [stage.folder / f"racer-{number}.log" for number in range(1, count + 1)]
        self._command = [sys.executable, *COMMAND, queue, name]
        self._racers: list[Racer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for racer in self._racers:
            racer.process.kill()
            racer.process.communicate()

    def line_up(self) -> None:
        """Start them, and return when all of them have found the slot due."""
        for output in self._outputs:
            self._start(output)
        wait_for(lambda: all(racer.lines for racer in self._racers), SECONDS, "all find the slot due")

    def race(self) -> list[tuple[Fired, str]]:
        """Let all go at once; what each says became of the slot, and the job that it would be."""
        for racer in self._racers:
            assert racer.process.stdin is not None
            racer.process.stdin.write("go\n")
            racer.process.stdin.flush()
        return [self._said(racer) for racer in self._racers]

    def _start(self, output: Path) -> None:
        with output.open("w") as file:
            process = subprocess.Popen(
                self._command,
                env=dict(self._stage.environment),
                cwd=self._stage.folder,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self._racers.append(Racer(process, output))

    def _said(self, racer: Racer) -> tuple[Fired, str]:
        lines = wait_for(
            lambda: racer.lines[1:], SECONDS, f"process {racer.process.pid} says what came of the slot"
        )
        fired, job = lines[0].split()
        return Fired[fired], job
