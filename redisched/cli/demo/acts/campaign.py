"""A campaign's link ends at a local time, whatever the workers do."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from redisched.app.job import Job
from redisched.calendar import At
from redisched.cli.demo.acts import Act
from redisched.cli.demo.promises import require
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.shortener import ask, expire_link
from redisched.cli.demo.stage import Stage

PATH: Final = "/x7Kp"
ZONE: Final = "Europe/London"
AHEAD: Final = timedelta(seconds=4)
LATER_SECONDS: Final = 1.0
SECONDS: Final = 20.0


def play(stage: Stage, screen: Screen) -> str:
    when, url = _soon(), stage.shop.origin + PATH
    stage.shop.links[PATH] = when.resolve()
    job = stage.app.enqueue_at(when, expire_link, url)
    stage.app.pause("links")
    local = f"{when.local[-8:]} in {ZONE}"
    screen.say(f"the link ends at {local}; job {job.id} is to take it away then")
    screen.say("queue links is paused: the job will be late")
    require(ask("GET", url) == 302, "a click before the end is redirected")
    screen.say("a click before the end: 302, redirected")
    _click_after_end(stage, screen, url, job)
    stage.app.resume("links")
    late = job.result(timeout=SECONDS)
    screen.say(f"queue links is resumed: the job ran {late:.1f} s late, and knows it (late_by)")
    require(late >= LATER_SECONDS, f"the job knows how late it ran (it says {late} s)")
    require(ask("GET", url) == 404, "the job took the link away")
    return f"ended at {local}: clicks before 302, after 410 while the job waits; it ran {late:.1f} s late"


def _click_after_end(stage: Stage, screen: Screen, url: str, job: Job[float]) -> None:
    left = (stage.shop.links[PATH] - datetime.now(UTC)).total_seconds()
    with screen.waiting("the end of the link"):
        time.sleep(max(0.0, left) + LATER_SECONDS)
    require(ask("GET", url) == 410, "a click after the end is refused")
    require(not job.status().is_end, "the job has not run yet")
    screen.say(f"a click after the end: 410, refused; the job is still {job.status().value}")


def _soon() -> At:
    """A whole second, as people name times."""
    local = (datetime.now(UTC) + AHEAD).astimezone(ZoneInfo(ZONE))
    text = local.replace(tzinfo=None, microsecond=0).isoformat()
    return At(text, tz=ZONE, repeat="second" if local.fold else "first")


CAMPAIGN: Final = Act(
    "2. A campaign's link that ends at a local time",
    "A link ends at its wall-clock time in London, also when the job that removes it is late",
    play,
)
