"""The worker's loop: one turn after another while there is work, then a wait for a hint or for the time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from datetime import timedelta
from typing import Final

from redisched.core.config import WorkerConfig
from redisched.core.errors import StoreError
from redisched.core.failpoints import failpoint_async
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.operation import Operation
from redisched.store.operations.turns import Finished, Limits, Turn, turn
from redisched.worker.firing import Firing
from redisched.worker.hands import Hands
from redisched.worker.lane import Lane, UnderWay
from redisched.worker.listener import Listener
from redisched.worker.run import Run

REFUSED_PAUSE: Final = 0.5
_LOG: Final = logging.getLogger("redisched.worker")


class Pump:
    """Takes turns for the lanes. `close_intake` ends claiming; what is in hand still gets its word out."""

    def __init__(
        self,
        executor: AsyncExecutor,
        worker: str,
        config: WorkerConfig,
        limits: Limits,
        lanes: list[Lane],
        hands: Hands,
        listener: Listener,
        firing: Firing,
    ) -> None:
        self._executor = executor
        self._worker = worker
        self._config = config
        self._limits = limits.packed()
        self._lanes = lanes
        self._by_queue = {lane.queue: lane for lane in lanes}
        self._hands = hands
        self._listener = listener
        self._firing = firing
        self._stir = asyncio.Event()
        self._closed = False

    def say(self, queue: str, finished: Finished) -> None:
        """A job's word, for the next turn of its queue."""
        self._by_queue[queue].say(finished)
        self._stir.set()

    def held(self) -> list[Run]:
        """Every run that has not ended. Safe to call from another thread, as are the next two."""
        return self._hands.held()

    def unsaid(self) -> dict[str, list[Finished]]:
        """What waits to be said, by queue."""
        return {lane.queue: list(lane.outbox) for lane in self._lanes}

    def unanswered(self) -> dict[str, Operation[Turn]]:
        """Turns on their way: their words are in them, their claims nobody has."""
        return {lane.queue: lane.under_way.operation for lane in self._lanes if lane.under_way}

    def stir(self) -> None:
        """Something changed: look again."""
        self._stir.set()

    def close_intake(self) -> None:
        """Claim nothing more."""
        self._closed = True
        self._hands.close()
        self.stir()

    @property
    def idle(self) -> bool:
        """Nothing in hand, nothing to say, and the last look found nothing ready."""
        quiet = all(lane.quiet for lane in self._lanes)
        return self._hands.idle and quiet

    async def step(self) -> None:
        """One turn, or one wait."""
        self._stir.clear()
        self._hands.start_waiting()
        self._hands.give_back()
        lane, wanted = self._choice()
        if lane is None:
            await self._rest(wanted)
        else:
            await self.take_turn(lane, wanted)

    async def drain(self) -> None:
        """Say all that is left to say; tries until it is said or the caller loses patience."""
        await asyncio.gather(*(self._drain(lane) for lane in self._lanes))

    async def _drain(self, lane: Lane) -> None:
        while lane.outbox or lane.under_way:
            await asyncio.sleep(max(0.0, lane.retry_at - time.monotonic()) if lane.under_way else 0)
            await self.take_turn(lane, 0)

    async def take_turn(self, lane: Lane, wanted: int) -> None:
        """One round trip for a queue. Unanswered, it stays under way and is sent again as the same turn, also
        after a cancellation: its words are not lost, and its claims come with the answer.
        """
        await failpoint_async("worker.before_turn")
        if lane.under_way is None:
            lane.under_way = self._prepared(lane, wanted)
        turn_now = lane.under_way
        if turn_now.words:
            await failpoint_async("worker.before_finish")
        sent = time.monotonic()
        try:
            answer = await self._executor.send(turn_now.operation)
        except StoreError as error:
            _LOG.warning("queue %s: turn did not get through: %s", lane.queue, error)
            lane.put_off()
            return
        await failpoint_async("worker.after_turn")
        await self._digest(lane, turn_now, answer, sent)

    def _prepared(self, lane: Lane, wanted: int) -> UnderWay:
        words = lane.take_words()
        operation = turn(
            lane.keyspace,
            worker=self._worker,
            turn_id=lane.next_turn_id(),
            wanted=wanted,
            finishes=words,
            lease=self._config.visibility_timeout,
            longest_wait=self._config.longest_wait if wanted else timedelta(0),
            limits=self._limits,
        )
        return UnderWay(operation, words, wanted)

    async def _digest(self, lane: Lane, turn_now: UnderWay, answer: Turn, sent: float) -> None:
        """`sent`: before the answered try left. A repeated turn renews the leases of its claims."""
        lane.learn(answer, turn_now.wanted)
        for refused in answer.refused:
            shown = f"{lane.queue}:{ascii(refused)[1:-1]}"
            _LOG.warning("job %s: our word was refused, somebody else has it or had it since", shown)
        for short, fault in answer.corrupt:
            _LOG.error("job %s:%s is dead: %s", lane.queue, ascii(short)[1:-1], fault)
        self._hands.said(lane.queue, turn_now.words)
        lease = self._config.visibility_timeout.total_seconds()
        self._hands.take(answer.claimed, lane.queue, sent, lease)
        if answer.due:
            await self._fire(lane, answer)

    async def _fire(self, lane: Lane, answer: Turn) -> None:
        """A refused `fire` advances nothing: its slots are due until it goes through."""
        try:
            await self._firing.fire(lane.keyspace, answer.due, answer.now_ms)
            lane.likely = True
        except StoreError as error:
            _LOG.warning("queue %s: slots could not be fired, they stay due: %s", lane.queue, error)
            lane.look_at = max(lane.look_at, time.monotonic() + REFUSED_PAUSE)

    def _choice(self) -> tuple[Lane | None, int]:
        """The lane whose turn it is, and how many to claim for it: it claims after those before it.

        First what was sent and not answered, then words that have waited long: a lease is running.
        """
        wanted, now = 0 if self._closed else self._hands.wanted(), time.monotonic()
        open_lanes = [lane for lane in self._ordered() if lane.under_way is None]
        for lane in self._lanes:
            if lane.under_way is not None and now >= lane.retry_at:
                return lane, 0
        for lane in open_lanes:
            if lane.is_urgent():
                return lane, wanted if lane is open_lanes[0] else 0
        for lane in open_lanes:
            if wanted and lane.is_due():
                return lane, wanted
            if lane.outbox or lane.token:
                return lane, 0
        return None, wanted

    def _ordered(self) -> list[Lane]:
        """Strictly in order; with weights, at random in proportion to them."""
        return sorted(self._lanes, key=_place)

    async def _rest(self, wanted: int) -> None:
        """Until a run ends, a hint comes, a lane falls due, or a claim has been held back for long enough."""
        ends = [lane.retry_at for lane in self._lanes if lane.under_way]
        if wanted:
            ends += [lane.look_at for lane in self._lanes if lane.under_way is None]
        ends += self._hands.looks_at()
        until = min(ends, default=None)
        self._listener.listen(wanted > 0)
        timeout = None if until is None else max(0.0, until - time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._stir.wait()


def _place(lane: Lane) -> float:
    """All the same, which keeps the order; or drawn, so that a lane is first as often as its weight says."""
    return 0.0 if lane.weight is None else -(random.random() ** (1 / lane.weight))
