"""A child of a worker: runs one job at a time, apart from all others; `python -m redisched.worker.child`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Final, cast

from redisched.app.context import JobControl, enter
from redisched.app.loading import load_app
from redisched.app.scheduler import Scheduler
from redisched.core.call import Call
from redisched.core.failpoints import failpoint
from redisched.store.operations.turns import Claimed, Finished
from redisched.worker.frames import framed, receive_frame
from redisched.worker.parent import end_with_parent
from redisched.worker.run import Kind, Run
from redisched.worker.settling import failed, succeeded

_LOG: Final = logging.getLogger("redisched.worker")


def request(run: Run) -> bytes:
    """What a worker sends: the claim, as it came."""
    return framed([list(run.claimed), run.queue, run.received])


def execute(run: Run, worker: str) -> Finished:
    """Run the task here, whatever it raises. What it sets in context variables ends with it."""
    return copy_context().run(_executed, run, worker)


def _executed(run: Run, worker: str) -> Finished:
    try:
        enter(run)
        args, kwargs = run.task.signature.from_plain(run.call.args, dict(run.call.kwargs))
        value = run.task.function(*args, **kwargs)
        if asyncio.iscoroutine(value):
            value = asyncio.run(_awaited(value, run))
        return succeeded(run, value, worker)
    except BaseException as error:  # noqa: BLE001 - SystemExit and its like end the job, not its neighbours
        return failed(run, error, worker)


async def _awaited(coroutine: object, run: Run) -> object:
    enter(run)
    return await cast("asyncio.Future[object]", coroutine)


def main() -> None:
    """Arguments: application, worker, socket, pipe, parent's pid."""
    app_path, worker, descriptor, pipe, parent = sys.argv[1:6]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_parent(int(pipe), int(parent))
    connection = socket.socket(fileno=int(descriptor))
    app = load_app(app_path)
    connection.sendall(framed("ready"))
    _serve(connection, app, worker)


def _serve(connection: socket.socket, app: Scheduler, worker: str) -> None:
    jobs: SimpleQueue[tuple[object, JobControl]] = SimpleQueue()
    saying = threading.Lock()

    def say(*message: object) -> None:
        with saying:
            connection.sendall(framed(list(message)))

    def progress(part: float, note: str) -> None:
        say(float(part), note)

    threading.Thread(
        target=_listen, args=(connection, jobs, progress), name="redisched-orders", daemon=True
    ).start()
    while True:
        message, control = jobs.get()
        say("begun")  # from here on the loss of this process is held against the job
        run = _run_of(message, app, control)
        failpoint("child.before_run")
        finished = execute(run, worker)
        failpoint("child.after_run")
        say(int(finished.kind), finished.delay_ms, finished.reason, finished.outcome)


def _listen(
    connection: socket.socket,
    jobs: SimpleQueue[tuple[object, JobControl]],
    progress: Callable[[float, str], None],
) -> None:
    """Jobs go to the main thread; a request to stop reaches the job that runs."""
    control = JobControl()
    while (message := receive_frame(connection)) is not None:
        if message == "stop":
            control.stop()
        else:
            control = JobControl(progress)
            jobs.put((message, control))
    os._exit(0)


def _run_of(message: object, app: Scheduler, control: JobControl) -> Run:
    claim, queue, received = cast("list[object]", message)
    claimed = Claimed(*cast("list[object]", claim))  # type: ignore[arg-type]  # our own message, field by field
    call = Call.unpacked(claimed.body)
    return Run(
        claimed=claimed,
        queue=cast("str", queue),
        task=app.tasks[call.task],
        call=call,
        kind=Kind.PROCESS,
        received=cast("float", received),
        lease_end=0.0,
        started=time.monotonic(),
        control=control,
    )


if __name__ == "__main__":
    main()
