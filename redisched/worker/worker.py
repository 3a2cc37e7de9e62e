"""One worker process, from its start to a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Final

from redisched.app.scheduler import Scheduler
from redisched.core.errors import RedischedError, StoreError
from redisched.core.failpoints import failpoint_async
from redisched.ops.doctor import startup_findings
from redisched.ops.findings import Level, refuse
from redisched.store.operations.turns import leave
from redisched.worker.guard import LoopGuard, Watchdog
from redisched.worker.heart import TICK_SECONDS
from redisched.worker.identity import Identity
from redisched.worker.last_words import say_last_words
from redisched.worker.parts import assemble
from redisched.worker.run import Run, Stop
from redisched.worker.settings import WorkerOptions

RECYCLED: Final = "REDISCHED_RECYCLED"
"""Set for a process that started itself anew: it may have done so because the server is gone."""

ANEW_PAUSE_SECONDS: Final = 0.5
BLOCKED_WORDS_SECONDS: Final = 2.0
CUT_SHORT_SECONDS: Final = 0.5
LAST_WORDS_SECONDS: Final = 5.0
HURRIED_SECONDS: Final = 1.0
SETTLE_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("redisched.worker")


class Exit(IntEnum):
    """How a worker process ends. RECYCLE asks to be started again; CUT_OFF left leases to lapse."""

    DONE = 0
    CUT_OFF = 1
    RECYCLE = 75


class Worker:
    """Construct it on the event loop, and `run` it once. `restart` replaces this process at once."""

    def __init__(self, app: Scheduler, options: WorkerOptions, restart: Callable[[], None]) -> None:
        self._app = app
        self._options = options
        self._restart = restart
        self._me = Identity.make(options.name)
        self._parts = assemble(app, options, self._me, self._tick)
        lease = options.config.visibility_timeout.total_seconds()
        self._watchdog = Watchdog(lease)
        grace = options.config.stop_grace.total_seconds()
        loop, held = asyncio.get_running_loop(), self._parts.hands.held
        self._guard = LoopGuard(loop, held, self._blocked, grace, lease)
        self._exit: Exit | None = None
        self._scope: asyncio.Timeout | None = None
        self._told = False
        self._hurried = False

    async def run(self) -> Exit:
        """Until told to end, or until nothing is left where that was asked for."""
        loop, parts = asyncio.get_running_loop(), self._parts
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_end, number.name)
        await self._until_ending(self._start)
        upkeep = asyncio.create_task(parts.upkeep.live(), name="redisched-upkeep")
        parts.listener.start()
        parts.heart.start()
        self._watchdog.tick()  # before the first claim: from here on it counts
        await self._until_ending(self._steps)
        upkeep.cancel()
        code = await self._wind_up()
        _LOG.info("worker %s ended: %s", self._me.id, code.name)
        return code

    async def _until_ending(self, work: Callable[[], Awaitable[None]]) -> None:
        """What does not get through to the server is cut short when it is time to end."""
        if self._exit is not None:
            return
        try:
            async with asyncio.timeout(None) as self._scope:
                await work()
        except TimeoutError:
            if self._exit is None:
                raise
        self._scope = None

    async def _steps(self) -> None:
        while self._exit is None:
            await self._parts.pump.step()
            self._look_around()

    async def _start(self) -> None:
        queues = ", ".join(self._options.queues.names)
        while True:
            try:
                where = await asyncio.to_thread(self._app.backend.describe)
                _LOG.info("worker %s looks for its server: %s", self._me.id, where)
                await self._introduce()
                _LOG.info("worker %s serves %s on %s", self._me.id, queues, where)
                return
            except StoreError as error:
                if RECYCLED not in os.environ:
                    raise
                _LOG.warning("started anew, and the server is not ready yet: %s", error)
                await asyncio.sleep(ANEW_PAUSE_SECONDS)

    async def _introduce(self) -> None:
        await asyncio.to_thread(self._examine)
        await self._parts.upkeep.declare()
        await self._parts.upkeep.enlist()

    def _examine(self) -> None:
        """Refuse a server that cannot do the work, or that may drop jobs, before anything depends on it."""
        backend, queues = self._app.backend, self._options.queues.names
        allowed = self._options.evicting_server_allowed
        send = backend.executor().send
        findings = startup_findings(send, backend.namespace, queues, evicting_allowed=allowed)
        for one in findings:
            if one.level is Level.WARN:
                _LOG.warning("%s: %s", one.check, one.what)
        refuse(findings)

    def _look_around(self) -> None:
        """Is it time to end?"""
        parts = self._parts
        if parts.runner.stuck:
            names = ", ".join(run.id for run in parts.runner.stuck)
            _LOG.error("%s did not end when told to: this process starts anew to free its slot", names)
            self._exit = self._exit or Exit.RECYCLE
        elif self._options.max_jobs is not None and parts.hands.started >= self._options.max_jobs:
            self._exit = self._exit or Exit.RECYCLE
        elif self._options.burst and parts.pump.idle:
            self._exit = self._exit or Exit.DONE

    def _told_to_end(self, signal_name: str) -> None:
        """The first time: claim nothing more and let what runs end. The second time: at once."""
        self._hurried, self._told = self._told, True
        _LOG.info(
            "%s: %s", signal_name, "handing back what runs" if self._hurried else "claiming nothing more"
        )
        if self._scope is not None and (self._hurried or self._exit is None):
            now = asyncio.get_running_loop().time()
            self._scope.reschedule(now if self._hurried else now + CUT_SHORT_SECONDS)
        self._exit = Exit.DONE
        self._parts.pump.stir()

    async def _wind_up(self) -> Exit:
        """How to end: being told so may still come, and then a worker does not start anew."""
        parts, grace = self._parts, self._options.config.shutdown_grace.total_seconds()
        parts.pump.close_intake()
        for run in parts.hands.held():
            parts.runner.warn(run)
        await self._steps_until(lambda: self._hurried or self._only_stuck(), grace)
        for run in parts.hands.held():
            parts.runner.stop(run, Stop.SHUTDOWN)
        await self._steps_until(lambda: parts.hands.empty, 0.1 if self._hurried else SETTLE_SECONDS)
        await failpoint_async("worker.before_release")
        for run in parts.hands.held():
            parts.runner.abandon(run)
        through, wanted = await self._left(), self._exit or Exit.DONE
        return Exit.CUT_OFF if wanted is Exit.DONE and not through else wanted

    async def _steps_until(self, done: Callable[[], bool], seconds: float) -> None:
        """Step on until `done`, or until the time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds) as self._scope:
                while not done() and not self._parts.hands.empty:
                    await self._parts.pump.step()
        self._scope = None

    def _only_stuck(self) -> bool:
        return not (set(self._parts.hands.held()) - self._parts.runner.stuck)

    async def _left(self) -> bool:
        """Say the last words, hand on what we watched, end what we started. Whether the words got through."""
        parts = self._parts
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HURRIED_SECONDS if self._hurried else LAST_WORDS_SECONDS):
                await parts.pump.drain()
        through = not any(lane.outbox or lane.under_way for lane in parts.lanes)
        if not through:
            _LOG.error("our last words did not get through: leases will lapse")
        await parts.listener.end()
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(LAST_WORDS_SECONDS if through else 0):
                for lane in parts.lanes:
                    await parts.lines.turns.send(leave(lane.keyspace, worker=self._me.id))
        parts.heart.end()
        await parts.children.close()
        await parts.lines.close()
        self._watchdog.end()
        return through

    def _tick(self) -> None:
        """From the heart's clock."""
        self._watchdog.tick()
        self._guard.look()

    def _blocked(self, overdue: list[Run], lapsing: list[Run]) -> None:
        """From the heart's clock: the loop stands still under runs over their time, or about to outlive their
        lease. What a silent server keeps us from saying must not keep us from ending them.
        """
        run, why = (overdue or lapsing)[0], "over its time" if overdue else "about to lose its lease"
        _LOG.error("the event loop stands still and %s is %s: this process starts anew", run.id, why)
        end = time.monotonic() + BLOCKED_WORDS_SECONDS
        if lapsing:
            end = min(end, *(one.lease_end for one in lapsing))
        speaker = threading.Thread(target=self._say_last_words, args=(overdue,), daemon=True)
        speaker.start()
        while speaker.is_alive() and (left := end - time.monotonic()) > 0:
            self._watchdog.tick()
            speaker.join(min(left, TICK_SECONDS))
        self._watchdog.end()
        self._restart()

    def _say_last_words(self, overdue: list[Run]) -> None:
        with contextlib.suppress(RedischedError):
            config, namespace = self._options.config, self._app.backend.namespace
            parts = self._parts
            say_last_words(
                parts.lines.heart, namespace, self._me.id, config, parts.pump, parts.runner, overdue
            )
