"""The parts of a worker and how they hang together: constructors only, nothing runs yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from redisched.app.scheduler import Scheduler
from redisched.core.ids import IdMaker
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Limits
from redisched.worker.children import Children
from redisched.worker.declaring import Declaring
from redisched.worker.firing import Firing
from redisched.worker.hands import Hands
from redisched.worker.heart import Heart
from redisched.worker.identity import Identity
from redisched.worker.intake import Intake
from redisched.worker.lane import Lane
from redisched.worker.listener import Listener
from redisched.worker.pump import Pump
from redisched.worker.runner import Runner
from redisched.worker.settings import WorkerOptions
from redisched.worker.slots import Slots, slot_limits
from redisched.worker.upkeep import Upkeep

TURN_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Lines:
    """Connections: for turns, for hints, and the heart's own, whose calls end well before a lease does."""

    turns: AsyncExecutor
    hints: AsyncExecutor
    heart: Executor

    @classmethod
    def lent(cls, app: Scheduler, lease: float) -> Lines:
        part = max(0.5, lease / 4)
        return cls(
            app.backend.lent_aio("redisched-worker", TURN_SECONDS, reply_seconds=max(1.0, lease / 3)),
            app.backend.lent_aio("redisched-wait", 0.1),
            app.backend.lent("redisched-heart", part, reply_seconds=part),
        )

    async def close(self) -> None:
        await self.turns.close()
        await self.hints.close()
        self.heart.close()


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that one worker process needs to run jobs."""

    lines: Lines
    lanes: list[Lane]
    hands: Hands
    children: Children
    runner: Runner
    listener: Listener
    pump: Pump
    upkeep: Upkeep
    heart: Heart


def assemble(app: Scheduler, options: WorkerOptions, me: Identity, tick: Callable[[], None]) -> Parts:
    """Call it on the event loop. `tick` is called a few times a second, from the heart's clock."""
    config, namespace, queues = options.config, app.backend.namespace, options.queues
    lines = Lines.lent(app, config.visibility_timeout.total_seconds())
    weights = queues.weights or (None,) * len(queues.names)
    lanes = [
        Lane(Keyspace(namespace, name), weight) for name, weight in zip(queues.names, weights, strict=True)
    ]
    limits = Limits(max_deliveries=config.max_deliveries)
    caps = slot_limits(config.concurrency)
    total = config.concurrency or sum(caps.values())
    hands = Hands(Slots(caps, total), Intake(app.tasks, config))
    children = Children(options.app, me.id)
    runner = Runner(me.id, children, hands.reported, config.stop_grace.total_seconds())
    listener = Listener(lines.hints, lanes, config.longest_wait.total_seconds())
    pump = Pump(lines.turns, me.id, config, limits, lanes, hands, listener, Firing(lines.turns, IdMaker()))
    hands.use(runner, pump.say)
    listener.report_to(pump.stir)
    about = me.about(queues.names, total)
    declaring = Declaring(lines.turns, namespace, app.declared.values())
    keyspaces = [lane.keyspace for lane in lanes]
    upkeep = Upkeep(lines.turns, me.id, about, keyspaces, config, limits, declaring)
    loop = asyncio.get_running_loop()
    heart = Heart(
        lines.heart,
        me.id,
        namespace,
        config,
        hands.leased,
        lambda run, why: _on_loop(loop, lambda: hands.stop(run, why)),
        tick,
    )
    return Parts(lines, lanes, hands, children, runner, listener, pump, upkeep, heart)


def _on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """From another thread; a loop that is closed needs telling nothing."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
