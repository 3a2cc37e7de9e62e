"""The application that test workers serve: its tasks note what happens to them in a file, not in Redis."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path

from redisched import Retry, Scheduler, current_job

app = Scheduler()

ONCE = Retry(max_attempts=1)
QUICK = Retry(max_attempts=5, base=0.1, cap=0.5, jitter="none")


def note(event: str, **facts: object) -> None:
    """One line, whole or not at all, whatever becomes of this process next.

    `at_ms` is the host's clock, which is the server's, too.
    """
    job = current_job()
    line = {
        "event": event,
        "id": job.id,
        "task": job.task,
        "attempt": job.attempt,
        "delivery": job.delivery,
        "version": job.version,
        "due_ms": int(job.due_at.timestamp() * 1000 + 0.5),
        "slot": job.slot.id if job.slot else None,
        "schedule": job.slot.schedule if job.slot else None,
        "pid": os.getpid(),
        "at_ms": time.time_ns() / 1e6,
        **facts,
    }
    data = (json.dumps(line) + "\n").encode()
    descriptor = os.open(os.environ["PROBE_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, data)
    os.close(descriptor)


@app.task
async def noop() -> None:
    """Nothing at all."""


@app.task(retry=ONCE)
async def probe(seconds: float = 0.0, label: object = None) -> object:
    """On the event loop: notes its start and end; returns its label."""
    note("start", label=str(label))
    if seconds:
        await asyncio.sleep(seconds)
    note("end", label=str(label))
    return label


@app.task(retry=ONCE)
def probe_thread(seconds: float = 0.0, label: object = None) -> object:
    """The same in a thread."""
    note("start", label=str(label))
    if seconds:
        time.sleep(seconds)
    note("end", label=str(label))
    return label


@app.task(retry=ONCE, executor="process")
def probe_process(seconds: float = 0.0, label: object = None) -> object:
    """The same in a child process."""
    note("start", label=str(label))
    if seconds:
        time.sleep(seconds)
    note("end", label=str(label))
    return label


@app.task(retry=QUICK)
async def fails_until(attempt: int) -> int:
    """Raises before that attempt; returns its number."""
    note("start")
    if current_job().attempt < attempt:
        raise ValueError(f"attempt {current_job().attempt} fails")
    return current_job().attempt


@app.task(retry=ONCE)
def kills_its_worker(how: str = "kill") -> None:
    """Takes its process with it."""
    note("start")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(3)


@app.task(retry=ONCE)
async def waits_for_file(path: str) -> str:
    """Runs until the test makes the file: an order of events without a sleep in the test."""
    note("start")
    while not await asyncio.to_thread(Path(path).exists):  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0.01)
    note("end")
    return path
