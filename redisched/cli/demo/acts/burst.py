"""Everybody clicks at once."""

from __future__ import annotations

from collections import Counter
from typing import Final

from redisched.cli.demo.acts import Act
from redisched.cli.demo.promises import require, wait_for
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.shortener import count_click
from redisched.cli.demo.stage import Stage

CLICKS: Final = 1000
SECONDS: Final = 60.0


def play(stage: Stage, screen: Screen) -> str:
    started = screen.seconds
    stage.app.enqueue_many(count_click.call(number) for number in range(CLICKS))
    screen.say(f"{CLICKS:,} jobs are accepted")
    with screen.waiting(f"{CLICKS:,} clicks"):
        wait_for(lambda: len(stage.notes("click")) >= CLICKS, SECONDS, f"{CLICKS:,} clicks")
        wait_for(lambda: _is_quiet(stage), SECONDS, "nothing left to do")
    took = screen.seconds - started
    counts = Counter(one.subject for one in stage.notes("click"))
    screen.say(f"the tasks' own file has {counts.total():,} clicks of {len(counts):,} jobs")
    require(set(counts) == {str(number) for number in range(CLICKS)}, "every job ran")
    require(set(counts.values()) == {1}, "no job ran twice")
    return f"{counts.total():,} of {CLICKS:,} done, each once by the tasks' own count, in {took:.1f} s"


def _is_quiet(stage: Stage) -> bool:
    now = stage.queue("default")
    return not (now.ready or now.processing or now.scheduled)


BURST: Final = Act(
    f"3. A burst of {CLICKS:,} clicks",
    "Each job of a burst runs, and no job runs twice",
    play,
)
