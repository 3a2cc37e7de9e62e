"""The command line as its users start it: a process, its exit code, and what it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

CONSOLE_SCRIPT: Final = (str(Path(sys.executable).with_name("redisched")),)
MODULE: Final = (sys.executable, "-m", "redisched")
LONGEST: Final = 60.0


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on stdout."""
        (line,) = self.out.splitlines()
        return line

    @property
    def error(self) -> str:
        """The one line on stderr."""
        (line,) = self.err.splitlines()
        return line


@dataclass
class CommandLine:
    """Runs commands in `folder`, with `env` added to the environment. `way`: how the command is started."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    way: Sequence[str] = CONSOLE_SCRIPT

    def __call__(self, *arguments: str, code: int | None = 0, env: Mapping[str, str] | None = None) -> Ran:
        """The exit code must be `code`; None: any."""
        ended = subprocess.run(
            [*self.way, *arguments],
            env={**os.environ, **self.env, **(env or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LONGEST,
        )
        ran = Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
        assert code is None or ran.code == code, f"{arguments} ended with {ran}"
        return ran
