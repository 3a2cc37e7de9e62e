"""`redisched worker`: one process, or several under a supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from typing import Final

from redisched.app.loading import load_app
from redisched.worker.parent import end_with_parent
from redisched.worker.settings import WorkerOptions
from redisched.worker.supervisor import supervise
from redisched.worker.worker import RECYCLED, Exit, Worker

SUPERVISED: Final = "REDISCHED_SUPERVISED"
CLOSING_SECONDS: Final = 2.0
_LOG: Final = logging.getLogger("redisched.worker")


def run(options: WorkerOptions) -> int:
    """Load the application and work; the exit code. ConfigurationError where there is no application."""
    _end_with_supervisor()
    load_app(options.app)
    if options.processes > 1 and not _supervised():
        return supervise(options.processes)
    return _work(options)


def _work(options: WorkerOptions) -> int:
    app = load_app(options.app)
    code = _until_the_end(options)
    app.close()
    if code is Exit.RECYCLE:
        _restart()
    return code


def _until_the_end(options: WorkerOptions) -> Exit:
    """How the worker ends. What its jobs leave on the loop may hold up the loop's end for a moment only."""
    with asyncio.Runner() as runner:
        work = runner.get_loop().create_task(_worker(options), name="redisched-worker")
        code = _finished(runner.get_loop(), work)
        if code is Exit.RECYCLE and options.max_jobs is not None and not _supervised():
            code = Exit.DONE
        last_resort = threading.Timer(CLOSING_SECONDS, _cut_short, [code])
        last_resort.daemon = True
        last_resort.start()
    last_resort.cancel()
    return code


def _finished(loop: asyncio.AbstractEventLoop, work: asyncio.Task[Exit]) -> Exit:
    """Run the loop until `work` is done. A job that raises SystemExit or KeyboardInterrupt in an asyncio task
    or callback of its own stops the loop, not us: signals are handled otherwise.
    """
    while True:
        try:
            return loop.run_until_complete(work)
        except (SystemExit, KeyboardInterrupt) as error:
            if work.done():
                raise
            _LOG.error("%s came through the event loop from a job: the worker goes on", type(error).__name__)


def _cut_short(code: Exit) -> None:
    """From a thread: a job's coroutine or thread does not end, and the process must."""
    _LOG.error("something still runs on the loop or in a thread of it: the process ends without it")
    if code is Exit.RECYCLE:
        _restart()
    _flush()
    os._exit(code)


async def _worker(options: WorkerOptions) -> Exit:
    return await Worker(load_app(options.app), options, _restart).run()


def _end_with_supervisor() -> None:
    told = os.environ.pop("REDISCHED_PARENT", None)
    if told is not None:
        pipe, _, parent = told.partition(":")
        end_with_parent(int(pipe), int(parent))


def _supervised() -> bool:
    return SUPERVISED in os.environ


def _restart() -> None:
    """This process starts anew: by its supervisor, or by itself, as the same process."""
    _flush()
    if _supervised():
        os._exit(Exit.RECYCLE)
    os.environ[RECYCLED] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own command line


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
