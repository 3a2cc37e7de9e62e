"""`redisched demo`: it proves what it prints, says so when it cannot, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from redisched.embedded import status, stop
from tests.processes import Processes
from tests.waiting import wait_for

DEMO: Final = ("-m", "redisched", "demo")
BROKEN: Final = """
import sys
from redisched.cli.demo.acts import Act
from redisched.cli.demo.evening import spend
from redisched.cli.demo.promises import require

def play(stage, screen):
    require(stage.queue("default").ready == 1, "a job is ready")

sys.exit(spend([Act("An act", "A promise", play)]))
"""


class Demo:
    """A demo as a process, with a folder for its temporary files and one that a user's settings name."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        self._processes = processes
        self.folder = folder
        self.users_data = folder / "users-data"
        self.temporary = folder / "t"
        self.temporary.mkdir()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        with self._output.open("w") as output:
            return self._processes.spawn(
                *(sys.executable, *arguments),
                env={
                    "TMPDIR": str(self.temporary),
                    "REDISCHED_URL": "redis://127.0.0.1:1",
                    "REDISCHED_DATA_DIR": str(self.users_data),
                    "REDISCHED_CONCURRENCY": "nonsense",
                },
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def _output(self) -> Path:
        return self.folder / "output"

    @property
    def printed(self) -> str:
        return self._output.read_text("utf-8")

    @property
    def worker_pids(self) -> list[int]:
        found = re.search(r"each a process: (.*)", self.printed)
        return [int(pid) for pid in found[1].split(", ")] if found else []

    def at_work(self) -> list[int]:
        """Wait until the workers are; their pids."""
        wait_for(lambda: "they are at work" in self.printed, what="the workers to be at work", timeout=60)
        return self.worker_pids


@pytest.fixture
def demo(processes: Processes) -> Iterator[Demo]:
    """Its folder is short: the path of a socket has to fit."""
    with tempfile.TemporaryDirectory(prefix="rs-", dir="/tmp") as folder:
        yield Demo(processes, Path(folder))


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_promise_of_the_demo_is_kept_far_from_the_users_data(demo: Demo) -> None:
    """Exit 0 and six rows that say yes, whatever server and settings the user's environment names."""
    code = demo.start(*DEMO).wait(150)
    assert code == 0, demo.printed
    verified = re.findall(r"(yes|NO) +\S$", demo.printed, re.MULTILINE)
    assert verified == ["yes"] * 6
    assert not demo.users_data.exists()
    assert list(demo.temporary.iterdir()) == []


def test_a_promise_that_is_broken_is_shown_and_is_exit_code_1(demo: Demo) -> None:
    assert demo.start("-c", BROKEN).wait(60) == 1, demo.printed
    assert "BROKEN: BrokenPromiseError: not so: a job is ready" in demo.printed
    assert re.search(r"A promise .* NO ", demo.printed)
    assert list(demo.temporary.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_demo_cleans_up(demo: Demo, number: signal.Signals, code: int) -> None:
    """Ctrl-C and SIGTERM: exit as shells expect; workers, server and folder are gone."""
    process = demo.start(*DEMO)
    pids = demo.at_work()
    process.send_signal(number)
    assert process.wait(60) == code
    assert [pid for pid in pids if exists(pid)] == []
    assert list(demo.temporary.iterdir()) == []


def test_workers_of_a_killed_demo_end_with_it(demo: Demo) -> None:
    process = demo.start(*DEMO)
    pids = demo.at_work()
    (folder,) = demo.temporary.iterdir()
    try:
        process.kill()
        process.wait()
        wait_for(lambda: not any(map(exists, pids)), what="the workers to be gone", timeout=15)
    finally:
        stop(folder / "data")
    assert not status(folder / "data").running
