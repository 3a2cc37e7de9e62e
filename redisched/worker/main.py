"""`redisched worker`: one process, or several under a supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import Final

from redisched.app.loading import load_app
from redisched.worker.parent import end_with_parent
from redisched.worker.settings import WorkerOptions
from redisched.worker.supervisor import supervise
from redisched.worker.worker import RECYCLED, Exit, Worker

SUPERVISED: Final = "REDISCHED_SUPERVISED"


def run(options: WorkerOptions) -> int:
    """Load the application and work; the exit code. ConfigurationError where there is no application."""
    _end_with_supervisor()
    load_app(options.app)
    if options.processes > 1 and not _supervised():
        return supervise(options.processes)
    return _work(options)


def _work(options: WorkerOptions) -> int:
    app = load_app(options.app)
    code = asyncio.run(_worker(options))
    app.close()
    if code is not Exit.RECYCLE:
        return code
    if options.max_jobs is not None and not _supervised():
        return Exit.DONE
    _restart()
    return Exit.RECYCLE


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
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if _supervised():
        os._exit(Exit.RECYCLE)
    os.environ[RECYCLED] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own command line
