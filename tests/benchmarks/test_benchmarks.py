"""Each benchmark runs and says what a figure is worth; how good the figures are is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from benchmarks.scenarios import SCENARIOS
from tests.servers import Engine

ROOT: Final = Path(__file__).parent.parent.parent


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_the_list_names_every_benchmark() -> None:
    names = [line.partition(":")[0] for line in ran("list").stdout.splitlines()]
    assert names == list(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_benchmark_gives_its_figures_with_what_they_were_taken_under(scenario: str, engine: Engine) -> None:
    """As JSON: every run, the median one, server, machine, versions and load."""
    done = ran("run", scenario, "--jobs", "300", "--runs", "3", "--server", engine.name, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rates = sorted(run["jobs_per_second"] for run in found["runs"])
    assert found["median"]["jobs_per_second"] == rates[1] > 0
    assert [run["jobs"] for run in found["runs"]] == [300] * 3
    assert found["median"]["redis_us_per_job"] > 0
    assert found["median"]["round_trips_per_1000_jobs"] > 0
    assert (found["server"]["engine"], found["server"]["version"]) == (engine.name, engine.version)
    assert {"cores", "cpu", "python", "libraries", "load", "load_after"} <= found["machine"].keys()


def test_people_get_the_figures_as_text(engine: Engine) -> None:
    done = ran("run", "drain", "--jobs", "100", "--runs", "1", "--server", engine.name)
    assert done.stdout.startswith("drain: "), done.stderr
    for word in ("jobs/s", "per 1,000 jobs", engine.name, "cores", "redis 8", "load average"):
        assert word in done.stdout


def test_a_server_that_is_not_here_is_said_and_nothing_is_run() -> None:
    done = ran("run", "drain", "--server", "redis99")
    assert done.returncode != 0
    assert "no server 'redis99' here" in done.stderr
    assert done.stdout == ""
