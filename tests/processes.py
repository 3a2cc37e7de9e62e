"""The processes that a test starts, and the certainty that they end with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Output = int | IO[str] | IO[bytes] | None

GUARD_SCRIPT: Final = """
import os, signal, sys
living = set()
for line in sys.stdin:
    pid = int(line[1:])
    (living.add if line[0] == "+" else living.discard)(pid)
for pid in living:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class Guard:
    """A small process that ends what it was told of once the test process is gone, however it went.

    Fixtures cannot do that alone: a test over its time limit ends the test process without running them.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", GUARD_SCRIPT],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def watch(self, pid: int) -> None:
        """End `pid` should this process go before `forget`."""
        self._tell(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """`pid` has been reaped; its number may soon belong to somebody else."""
        self._tell(f"-{pid}\n")

    def close(self) -> None:
        """End everything still watched, and the guard."""
        self._process.communicate()

    def _tell(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(line)
        stdin.flush()


class Processes:
    """Starts processes and ends every one of them, by its own pid, in `close`."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._started: list[subprocess.Popen[str]] = []

    def spawn(
        self,
        *argv: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: Output = subprocess.DEVNULL,
        stdout: Output = None,
        stderr: Output = None,
    ) -> subprocess.Popen[str]:
        """Start `argv` in a session of its own; `env` is added to the environment of this process."""
        process = subprocess.Popen(
            [os.fspath(part) for part in argv],
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
        self._guard.watch(process.pid)
        self._started.append(process)
        return process

    def python(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        stdin: Output = subprocess.DEVNULL,
        stdout: Output = None,
        stderr: Output = None,
    ) -> subprocess.Popen[str]:
        """Start this interpreter with `arguments`, such as `-c CODE` or `-m MODULE`."""
        return self.spawn(sys.executable, *arguments, env=env, stdin=stdin, stdout=stdout, stderr=stderr)

    def end(self, process: subprocess.Popen[str]) -> int:
        """Kill `process`, and its group where it still leads one, and reap it; returns its exit code."""
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                # What it never read cannot be flushed into it.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        if process in self._started:
            self._started.remove(process)
            self._guard.forget(process.pid)
        return code

    def close(self) -> None:
        """End all that was started, the last first."""
        for process in reversed(self._started.copy()):
            self.end(process)
