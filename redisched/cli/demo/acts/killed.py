"""A worker dies with a job in its hands."""

from __future__ import annotations

import signal
import time
from typing import Final

from redisched.cli.demo.acts import Act
from redisched.cli.demo.notes import Note
from redisched.cli.demo.promises import require, wait_for
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.shortener import render_poster
from redisched.cli.demo.stage import Stage

CODE: Final = "x7Kp"
SECONDS: Final = 30.0
PROMISED_SECONDS: Final = 15.0


def play(stage: Stage, screen: Screen) -> str:
    job = stage.app.enqueue(render_poster, CODE)
    first = _start(stage, 1)
    screen.say(f"job {job.id} runs in worker {first.pid}")
    code, killed_at = stage.workers.kill(first.pid), time.time()
    require(code == -signal.SIGKILL, f"the worker died of SIGKILL (its exit code is {code})")
    screen.say(f"worker {first.pid} is killed with SIGKILL; it could tell nobody")
    with screen.waiting("the lease of the dead worker runs out"):
        second = _start(stage, 2)
    took = second.at - killed_at
    screen.say(f"it starts again elsewhere after {took:.1f} s, in process {second.pid}")
    with screen.waiting("the job is running again"):
        job.result(timeout=SECONDS)
    require(second.pid != first.pid and second.delivery == 2, "another process has it, as delivery 2")
    require(len(stage.notes("poster started", CODE)) == 2, "it started twice in all")
    require(len(stage.notes("poster ended", CODE)) == 1, "it ended once")
    require(
        took <= PROMISED_SECONDS, f"it runs elsewhere within {PROMISED_SECONDS:g} s (it took {took:.1f} s)"
    )
    return f"running elsewhere {took:.1f} s after the kill, and finished once"


def _start(stage: Stage, number: int) -> Note:
    def found() -> list[Note]:
        return stage.notes("poster started", CODE)[number - 1 :]

    return wait_for(found, SECONDS, f"start {number} of the job")[0]


KILLED: Final = Act(
    "4. A worker killed in the middle of a job",
    f"A killed worker's job runs elsewhere within {PROMISED_SECONDS:g} s, by the default settings",
    play,
)
