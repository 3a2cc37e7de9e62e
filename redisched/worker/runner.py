"""Starts runs where they belong, ends them when they must end, and reports each one's word once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from redisched.app.context import enter
from redisched.core.failpoints import failpoint
from redisched.store.operations.turns import Finished
from redisched.worker.child import execute
from redisched.worker.children import ChildLostError, Children, NoChildError
from redisched.worker.run import Kind, Run, Stop
from redisched.worker.settling import child_lost, failed, no_child, released, succeeded
from redisched.worker.threads import Interruptible, ThreadPool
from redisched.worker.wheel import TimerWheel


class Runner:
    """Lives on the event loop; every method is called there. `report` is called once for each run."""

    def __init__(
        self, worker: str, children: Children, report: Callable[[Run, Finished], None], stop_grace: float
    ) -> None:
        self._worker = worker
        self._children = children
        self._report = report
        self._stop_grace = stop_grace
        self._loop = asyncio.get_running_loop()
        self._wheel: TimerWheel[Run] = TimerWheel(self._loop, self._overdue)
        self._tasks: dict[Run, asyncio.Task[None]] = {}
        self._threads: dict[Run, Interruptible] = {}
        self._pool = ThreadPool()
        self._ended: deque[tuple[Run, Finished]] = deque()
        self._collecting = False
        self.stuck: set[Run] = set()

    def start(self, run: Run) -> None:
        """Start it; its word follows."""
        failpoint("worker.before_run")
        if run.kind is not Kind.PROCESS:
            self._begins(run)
        if run.kind is Kind.THREAD:
            self._threads[run] = Interruptible()
            self._pool.submit(lambda: self._in_thread(run, self._threads[run]))
        else:
            body = self._on_loop(run) if run.kind is Kind.ASYNC else self._in_child(run)
            self._tasks[run] = self._loop.create_task(body)

    def _begins(self, run: Run) -> None:
        """From here on its time counts."""
        run.started = time.monotonic()
        if run.timeout_ms is not None:
            self._wheel.put(run, run.started + run.timeout_ms / 1000)

    def stop(self, run: Run, why: Stop) -> None:
        """Tell it to end: a coroutine is cancelled; a child is killed, if only asked to stop after a grace;
        a thread is asked, and interrupted when it is over its time. The first reason stays.
        """
        if run.settled or run.stop is not None:
            return
        run.stop = why
        run.control.stop()
        if run.kind is Kind.ASYNC:
            self._tasks[run].cancel()
        elif run.kind is Kind.PROCESS:
            self._stop_child(run, why)
        elif why is not Stop.CANCELLED:
            self._threads[run].interrupt()
        if run.kind is not Kind.THREAD or why is not Stop.CANCELLED:
            self._wheel.put(run, time.monotonic() + self._stop_grace)

    def ended(self) -> list[tuple[Run, Finished]]:
        """What ended in threads and was not collected yet. For another thread, while the loop is blocked."""
        return list(self._ended)

    def warn(self, run: Run) -> None:
        """Let it know that the worker stops, without ending it."""
        run.control.stop()
        if run.kind is Kind.PROCESS:
            self._children.ask_to_stop(run)

    def abandon(self, run: Run) -> None:
        """Its word is given now, whether it ends or not."""
        if run.stop in {None, Stop.SHUTDOWN}:
            self._settle(run, released(run))
        else:
            self._settle(run, failed(run, TimeoutError("did not end when it was told to"), self._worker))

    def _overdue(self, run: Run) -> None:
        """Past its timeout; or told to end, and it did not within the grace."""
        if run.stop is None:
            self.stop(run, Stop.TIMEOUT)
        elif run.kind is Kind.PROCESS:
            self._children.kill(run)
        elif run.kind is Kind.THREAD and not self._threads[run].interrupted:
            self._threads[run].interrupt()  # it was only asked so far, by a cancellation
            self._wheel.put(run, time.monotonic() + self._stop_grace)
        elif not run.settled:
            self.abandon(run)
            self.stuck.add(run)

    def _stop_child(self, run: Run, why: Stop) -> None:
        if not self._children.has(run):
            self._tasks[run].cancel()
        elif why is Stop.CANCELLED:
            self._children.ask_to_stop(run)
        else:
            self._children.kill(run)

    async def _on_loop(self, run: Run) -> None:
        try:
            enter(run)
            args, kwargs = run.task.signature.from_plain(run.call.args, dict(run.call.kwargs))
            finished = succeeded(run, await run.task.function(*args, **kwargs), self._worker)  # type: ignore[misc]
        except BaseException as error:  # noqa: BLE001 - SystemExit and its like end the job, not the loop
            finished = failed(run, error, self._worker)
        self._settle(run, finished)

    async def _in_child(self, run: Run) -> None:
        try:
            finished = await self._children.run(run, lambda: self._begins(run))
        except NoChildError as error:
            finished = failed(run, error, self._worker) if run.stop else no_child(run, str(error))
        except ChildLostError as error:
            finished = failed(run, error, self._worker) if run.stop else child_lost(run, str(error))
        except BaseException as error:  # noqa: BLE001 - cancelled, or the child could not be started
            finished = failed(run, error, self._worker)
        self._settle(run, finished)

    def _in_thread(self, run: Run, interruptible: Interruptible) -> None:
        """In a thread of the pool."""
        try:
            with interruptible:
                finished = execute(run, self._worker)
        except BaseException as error:  # noqa: BLE001 - an interrupt that came as the run ended
            finished = failed(run, error, self._worker)
        self._ended.append((run, finished))
        if not self._collecting:
            self._collecting = True
            self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        """What the threads have ended, many in one wake-up of the loop."""
        self._collecting = False
        while self._ended:
            self._settle(*self._ended.popleft())

    def _settle(self, run: Run, finished: Finished) -> None:
        self._wheel.discard(run)
        self._tasks.pop(run, None)
        self._threads.pop(run, None)
        self.stuck.discard(run)
        if not run.settled:
            run.settled = True
            failpoint("worker.after_run")
            self._report(run, finished)
