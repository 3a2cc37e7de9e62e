"""The acts in their order, and what was seen of each promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from redisched.cli.demo.acts import Act
from redisched.cli.demo.acts.burst import BURST
from redisched.cli.demo.acts.campaign import CAMPAIGN
from redisched.cli.demo.acts.killed import KILLED
from redisched.cli.demo.acts.race import RACE
from redisched.cli.demo.acts.webhook import WEBHOOK
from redisched.cli.demo.interruption import Interrupted, interruptible
from redisched.cli.demo.promises import BrokenPromiseError, Claim, wait_for
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.stage import Stage, set_stage
from redisched.core.errors import RedischedError

ACTS: Final = (WEBHOOK, CAMPAIGN, BURST, KILLED, RACE)
WORKERS: Final = 3
START_SECONDS: Final = 30.0


def spend(acts: Sequence[Act] = ACTS) -> int:
    """The exit code."""
    screen = Screen()
    screen.title("A link shortener's evening")
    try:
        with interruptible():
            claims = _play(acts, screen)
    except Interrupted as signal:
        screen.say(f"{signal}: ended early")
        return signal.exit_code
    screen.title(f"Promised and seen, in {screen.seconds:.0f} s")
    screen.table(claims)
    return 0 if all(claim.verified for claim in claims) else 1


def _play(acts: Sequence[Act], screen: Screen) -> list[Claim]:
    with set_stage() as stage:
        _raise_curtain(stage, screen)
        claims = [_seen(act, stage, screen) for act in acts]
    left = stage.leftovers()
    seen = f"still there: {', '.join(left)}" if left else "workers ended, server stopped, folder removed"
    return [*claims, Claim("Nothing stays behind", seen, not left)]


def _raise_curtain(stage: Stage, screen: Screen) -> None:
    screen.say(f"the embedded server answers at {stage.url}")
    for _ in range(WORKERS):
        stage.workers.start()
    screen.say(f"{WORKERS} workers start, each a process: {', '.join(map(str, stage.workers.pids))}")
    with screen.waiting("the workers are starting"):
        wait_for(lambda: len(stage.queue("reports").workers) == WORKERS, START_SECONDS, "all workers at work")
    screen.say("they are at work")


def _seen(act: Act, stage: Stage, screen: Screen) -> Claim:
    """One promise that is broken does not spare the others."""
    screen.title(act.title)
    try:
        claim = Claim(act.promise, act.play(stage, screen), verified=True)
    except (BrokenPromiseError, RedischedError, OSError) as error:
        claim = Claim(act.promise, f"{type(error).__name__}: {error}", verified=False)
    screen.verdict(claim)
    if not claim.verified:
        for line in stage.workers.last_words():
            screen.say(f"worker: {line}")
    return claim
