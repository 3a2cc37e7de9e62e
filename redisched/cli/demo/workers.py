"""Worker processes as the demo needs them: the real command, in the background, ended by their pids."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from redisched.cli.demo.shortener import QUEUES

COMMAND: Final = ("-m", "redisched", "worker", "--app", "redisched.cli.demo.shortener:app", *QUEUES)
END_SECONDS: Final = 5.0
LOG_LINES: Final = 3


class Workers:
    """They end when `close` is called, and when this process is gone, however it went."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._watched, self._pipe = os.pipe()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def pids(self) -> list[int]:
        return [one.pid for one in self._processes]

    def start(self) -> None:
        """One more. In a session of its own: Ctrl-C is for the demo, which then ends its workers."""
        with (self._folder / f"worker-{len(self._processes) + 1}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *COMMAND],
                env={**self._environment, "REDISCHED_PARENT": f"{self._watched}:{os.getpid()}"},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(self._watched,),
                start_new_session=True,
            )
        self._processes.append(process)

    def kill(self, pid: int) -> int:
        """SIGKILL for one of them; its exit code. StopIteration where it is none of ours."""
        process = next(one for one in self._processes if one.pid == pid)
        process.send_signal(signal.SIGKILL)
        return process.wait()

    def last_words(self) -> list[str]:
        """The ends of their logs, for when something went wrong."""
        logs = sorted(self._folder.glob("worker-*.log"))
        return [line for log in logs for line in log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]]

    def close(self) -> None:
        """SIGTERM, a little time, SIGKILL; returns when all are reaped."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        os.close(self._watched)
        os.close(self._pipe)
