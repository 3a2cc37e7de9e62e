"""`redisched worker`, started as its users start it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests.fleet import ROOT, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.processes import Processes


def plain_worker(
    processes: Processes, app: str, log: Path, env: Mapping[str, str], *options: str
) -> WorkerProcess:
    """The console script, and its log in a file."""
    script = Path(sys.executable).with_name("redisched")
    with log.open("wb") as output:
        process = processes.spawn(
            *[str(script), "worker", "--app", app, *options],
            env=env,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return WorkerProcess(cast("subprocess.Popen[bytes]", process), log)
