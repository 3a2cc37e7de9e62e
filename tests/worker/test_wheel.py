"""One timer for all timeouts of a process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from redisched.worker.wheel import TICK_SECONDS, TimerWheel
from tests.waiting import wait_for_async


def on_wheel(use: Callable[[TimerWheel[str], list[str]], None], expected: list[str]) -> list[str]:
    """Put things on a wheel and wait until what should fall due has done so, and a few ticks more."""

    async def live() -> list[str]:
        due: list[str] = []
        wheel: TimerWheel[str] = TimerWheel(asyncio.get_running_loop(), due.append)
        use(wheel, due)

        async def all_due() -> bool:
            return len(due) >= len(expected)

        await wait_for_async(all_due, what=f"{expected} fall due")
        await asyncio.sleep(4 * TICK_SECONDS)  # what must not come has had its time to come
        return due

    return asyncio.run(live())


def test_an_item_falls_due_at_its_time_and_not_before() -> None:
    fell: list[float] = []

    async def live() -> float:
        wheel: TimerWheel[str] = TimerWheel(
            asyncio.get_running_loop(), lambda _: fell.append(time.monotonic())
        )
        at = time.monotonic() + 0.2
        wheel.put("a", at)

        async def fallen() -> bool:
            return bool(fell)

        await wait_for_async(fallen, what="it falls due")
        return at

    at = asyncio.run(live())
    assert fell[0] >= at


def test_items_fall_due_in_the_order_of_their_times() -> None:
    now = time.monotonic()

    def use(wheel: TimerWheel[str], _: list[str]) -> None:
        for name, seconds in [("c", 0.3), ("a", 0.1), ("b", 0.2)]:
            wheel.put(name, now + seconds)

    assert on_wheel(use, ["a", "b", "c"]) == ["a", "b", "c"]


def test_an_item_that_is_taken_off_never_falls_due() -> None:
    def use(wheel: TimerWheel[str], _: list[str]) -> None:
        wheel.put("off", time.monotonic())
        wheel.put("on", time.monotonic())
        wheel.discard("off")

    assert on_wheel(use, ["on"]) == ["on"]


def test_an_item_put_again_is_moved() -> None:
    """It falls due once, at the later time."""

    def use(wheel: TimerWheel[str], _: list[str]) -> None:
        wheel.put("moved", time.monotonic())
        wheel.put("moved", time.monotonic() + 0.2)
        wheel.put("other", time.monotonic() + 0.1)

    assert on_wheel(use, ["other", "moved"]) == ["other", "moved"]


def test_one_that_falls_due_may_take_off_another_of_the_same_instant() -> None:
    """A timeout may end a run that was on the wheel itself."""

    async def live() -> list[str]:
        due: list[str] = []

        def fall(item: str) -> None:
            due.append(item)
            wheel.discard("b")
            wheel.discard("a")

        wheel: TimerWheel[str] = TimerWheel(asyncio.get_running_loop(), fall)
        at = time.monotonic()
        wheel.put("a", at)
        wheel.put("b", at)
        wheel.put("later", at + 3 * TICK_SECONDS)

        async def ended() -> bool:
            return "later" in due

        await wait_for_async(ended, what="the last falls due")
        return due

    assert asyncio.run(live()) == ["a", "later"]
