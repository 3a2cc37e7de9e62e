"""Claims that wait for a slot: held for a moment, then given back in the order in which they came."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from redisched import Scheduler
from redisched.core.config import LONGEST_HOLD, WorkerConfig
from redisched.core.record import Finish
from redisched.store.operations.turns import Finished
from redisched.worker.children import Children
from redisched.worker.hands import Hands
from redisched.worker.intake import Intake
from redisched.worker.run import Kind, Stop
from redisched.worker.runner import Runner
from redisched.worker.slots import Slots
from tests.worker.claims import claim

app = Scheduler()


@app.task
async def work() -> None: ...


@app.task
def in_thread() -> None: ...


def with_full_hands(use: Callable[[Hands], None], sent: float | None = None) -> list[Finished]:
    """Hands without a free slot, three claims in them; returns the words that were said."""

    async def live() -> list[Finished]:
        said: list[Finished] = []
        hands = Hands(Slots(dict.fromkeys(Kind, 0), 0), Intake(app.tasks, WorkerConfig()))
        runner = Runner("w1", Children("no.app:app", "w1"), hands.reported, 1.0)
        hands.use(runner, lambda _, word: said.append(word))
        claims = (claim(work, id="a"), claim(in_thread, id="b"), claim(work, id="c"))
        hands.take(claims, "default", time.monotonic() if sent is None else sent, 10.0)
        use(hands)
        return said

    return asyncio.run(live())


def wait_out_the_hold() -> None:
    time.sleep(LONGEST_HOLD.total_seconds())


def test_a_claim_without_a_slot_is_held_for_a_moment() -> None:
    def use(hands: Hands) -> None:
        hands.give_back()
        assert [run.claimed.id for run in hands.held()] == ["a", "b", "c"]
        assert hands.backlog == 3
        (give_back_at, *_) = hands.looks_at()
        assert 0 < give_back_at - time.monotonic() <= LONGEST_HOLD.total_seconds()

    assert with_full_hands(use) == []


def test_claims_held_for_too_long_go_back_in_the_order_they_came() -> None:
    """The script puts a turn's releases at the head of their queue, in the order in which it gets them."""

    def use(hands: Hands) -> None:
        wait_out_the_hold()
        hands.give_back()
        assert hands.empty

    words = with_full_hands(use)
    assert {word.kind for word in words} == {Finish.RELEASE}
    assert [word.id for word in words if word.id != "b"] == ["a", "c"]


def test_at_shutdown_everything_goes_back_in_the_order_it_came() -> None:
    words = with_full_hands(lambda hands: hands.close())
    assert sorted(word.id for word in words) == ["a", "b", "c"]
    assert [word.id for word in words if word.id != "b"] == ["a", "c"]


def test_a_claim_that_must_stop_before_its_start_is_never_started() -> None:
    """The script makes of the release what its reason was: a job asked to stop is cancelled."""

    def use(hands: Hands) -> None:
        (run, *_) = hands.held()
        hands.stop(run, Stop.CANCELLED)
        assert run not in hands.held()

    (word,) = with_full_hands(use)
    assert (word.id, word.kind) == ("a", Finish.RELEASE)


def test_a_stop_that_comes_too_late_says_nothing_more() -> None:
    """The heart may tell of a run that has been given back meanwhile."""

    def use(hands: Hands) -> None:
        (run, *_) = hands.held()
        hands.close()
        hands.stop(run, Stop.LEASE_LOST)

    assert len(with_full_hands(use)) == 3


def test_an_unknown_task_takes_no_slot() -> None:
    def use(hands: Hands) -> None:
        hands.take((claim("never.heard_of", id="d"),), "default", time.monotonic(), 10.0)
        assert hands.backlog == 3

    (word,) = with_full_hands(use)
    assert (word.id, word.kind) == ("d", Finish.DEFER)
