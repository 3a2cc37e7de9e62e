"""A customer's endpoint has a bad start."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from redisched.cli.demo.acts import Act
from redisched.cli.demo.promises import require, wait_for
from redisched.cli.demo.screen import Screen
from redisched.cli.demo.shop import TROUBLED_REQUESTS, Asked
from redisched.cli.demo.shortener import send_webhook
from redisched.cli.demo.stage import Stage

PATH: Final = "/hooks/customer-7"
REQUESTS: Final = TROUBLED_REQUESTS + 1
SECONDS: Final = 20.0


def play(stage: Stage, screen: Screen) -> str:
    job = stage.app.enqueue(send_webhook, stage.shop.origin + PATH, event="link.created")
    screen.say(f"job {job.id}: POST {PATH}")
    for number in range(1, REQUESTS + 1):
        with screen.waiting(f"request {number} of the webhook"):
            one = _request(stage, number)
        screen.say(f"request {number} was answered {one.status.value}")
    require(job.result(timeout=SECONDS) == REQUESTS, f"the job succeeds at attempt {REQUESTS}")
    asked = stage.shop.asked(f"POST {PATH}")
    codes, gaps = [each.status.value for each in asked], [b.at - a.at for a, b in pairwise(asked)]
    require(codes == [503, 503, 200], f"the endpoint's own log has 503, 503, 200 (it has {codes})")
    require(gaps[0] < gaps[1], f"the second gap is longer than the first (they are {gaps})")
    return f"{len(asked)} requests, answered 503, 503, 200; gaps of {gaps[0]:.1f} s and {gaps[1]:.1f} s"


def _request(stage: Stage, number: int) -> Asked:
    def found() -> list[Asked]:
        return stage.shop.asked(f"POST {PATH}")[number - 1 :]

    return wait_for(found, SECONDS, f"request {number}")[0]


WEBHOOK: Final = Act(
    "1. A webhook to an endpoint that is down",
    "A webhook that fails is tried again, later each time, until it is taken",
    play,
)
