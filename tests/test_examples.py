"""Each example runs as its first lines say, and prints what it promises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.processes import Processes
from tests.servers import TestServer
from tests.waiting import wait_for

ROOT: Final = Path(__file__).parent.parent
EXAMPLES: Final = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))

PRINTED: Final = {
    "quickstart": ["hello, now", "hello, later", "for a date: scheduled", "not needed any more: cancelled"],
    "webhook_retries": [
        "link.created: 200 at attempt 3",
        r"given up: dead: RefusedError: http://127\.0\.0\.1:\d+/gone is gone",
    ],
    "weekly_reports": [
        "report:ada: created, next on Monday at 09:00 in Europe/London",
        "report:grace: created, next on Monday at 09:00 in America/New_York",
        "report:hedy: created, next on Monday at 09:00 in Australia/Lord_Howe",
    ],
    "asyncio_client": [
        "100 checked: link-0 is fine … link-99 is fine",
        "in an hour: scheduled",
        "brought forward: x7Kp is fine",
    ],
    "unique_jobs": [
        "two calls, one job: True False True",
        "sooner: rescheduled",
        "preview of x7Kp is new",
        "too late: already ended",
        "the same id again: False",
        "no more: cancelled",
        "no result: cancelled",
        "wanted after all: preview of q9Zt is new",
    ],
    "cpu_work": [
        "primes below 20,000: 2262",
        r"below 10\^12: dead: TimeoutError: ran longer than its timeout of 3 s",
    ],
}


class Examples:
    """Runs an example's commands on the test's server."""

    def __init__(self, server: TestServer, processes: Processes, folder: Path) -> None:
        self._processes = processes
        self._folder = folder
        self._env = {
            "REDISCHED_URL": server.url,
            "PORT": "0",
            "no_proxy": "127.0.0.1",
            "PYTHONIOENCODING": "utf-8",
        }

    def start(self, name: str, *arguments: str) -> tuple[subprocess.Popen[str], Callable[[], str]]:
        """A process in the root of the repository, and what it has printed so far."""
        output = self._folder / name
        with output.open("w") as file:
            process = self._processes.spawn(
                *(sys.executable, *arguments),
                env=self._env,
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        return process, lambda: output.read_text("utf-8")

    def start_worker(self, example: str) -> None:
        """As the example's own first lines say."""
        self.start("worker", "-m", "redisched", *worker_command(example))

    def run(self, example: str) -> list[str]:
        process, printed = self.start(example, f"examples/{example}.py")
        code = process.wait(60)
        assert code == 0, printed()
        return printed().splitlines()


@pytest.fixture
def examples(server: TestServer, processes: Processes, tmp_path: Path) -> Iterator[Examples]:
    """They use the test's server by REDISCHED_URL; their processes end before the server is looked at."""
    yield Examples(server, processes, tmp_path)
    processes.close()


def head(example: str) -> str:
    """The docstring of an example."""
    return (ROOT / "examples" / f"{example}.py").read_text("utf-8").split('"""')[1]


def worker_command(example: str) -> list[str]:
    found = re.search(r"^ {4}redisched (worker .*)$", head(example), re.MULTILINE)
    assert found, f"{example} does not say how to run its worker"
    return found[1].split()


def test_every_example_is_run_by_a_test() -> None:
    assert sorted([*PRINTED, "web"]) == EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_says_in_its_first_lines_how_to_run_it(example: str) -> None:
    assert f"python examples/{example}.py" in head(example)
    assert f"--app {example}:app --app-dir examples" in " ".join(worker_command(example))


@pytest.mark.leaves_keys("rs:*", why="what an example stores is for keeping")
@pytest.mark.parametrize("example", PRINTED)
def test_an_example_prints_what_it_promises(examples: Examples, example: str) -> None:
    examples.start_worker(example)
    printed = examples.run(example)
    assert len(printed) == len(PRINTED[example]), printed
    for line, expected in zip(printed, PRINTED[example], strict=True):
        assert re.fullmatch(expected, line)


@pytest.mark.leaves_keys("rs:*", why="what an example stores is for keeping")
def test_weekly_reports_put_again_change_nothing(examples: Examples) -> None:
    examples.run("weekly_reports")
    again = examples.run("weekly_reports")
    assert [re.sub("unchanged", "created", line) for line in again] == PRINTED["weekly_reports"]
    assert all("unchanged" in line for line in again)


@pytest.mark.leaves_keys("rs:*", why="what an example stores is for keeping")
def test_the_web_application_leaves_a_report_to_a_worker(examples: Examples) -> None:
    """202 and a job at once; later its result, both over HTTP."""
    examples.start_worker("web")
    _, printed = examples.start("web", "examples/web.py")
    wait_for(lambda: "http://" in printed(), what="the application to listen", timeout=30)
    origin = printed().strip()
    accepted = asked("POST", f"{origin}/links/x7Kp/report")
    where = f"{origin}/jobs/{accepted['job']}"
    wait_for(lambda: asked("GET", where)["state"] == "succeeded", what="the job to succeed", timeout=30)
    assert asked("GET", where)["result"] == {"code": "x7Kp", "clicks": 4000}


def asked(method: str, url: str) -> dict[str, object]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, method=method), timeout=10) as answer:
        body: dict[str, object] = json.load(answer)
        return body
