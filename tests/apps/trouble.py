"""The probe application with tasks that hang, block, swallow, and take their process along."""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import time

from tests.apps.probe import ONCE, app, note

APP = "tests.apps.trouble:app"

__all__ = ["APP", "app"]


@app.task(retry=ONCE)
async def pid_after(seconds: float) -> int:
    """Says which process ran it."""
    note("start")
    await asyncio.sleep(seconds)
    note("end")
    return os.getpid()


@app.task(retry=ONCE)
async def short(longest_ms: float) -> None:
    """Any time up to that, and notes its start and end. In a child, the worker is its parent."""
    note("start", parent=os.getppid())
    await asyncio.sleep(random.uniform(0, longest_ms) / 1000)
    note("end")


@app.task(retry=ONCE, timeout=1)
def stubborn_thread() -> None:
    """Swallows whatever should end it."""
    note("start")
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            note("swallowed")


@app.task(retry=ONCE, timeout=1)
async def stubborn_coroutine() -> None:
    """The same on the event loop."""
    note("start")
    while True:
        try:
            await asyncio.sleep(60)
        except BaseException:
            note("swallowed")


@app.task(retry=ONCE, timeout=1, executor="process")
def stubborn_process() -> None:
    """The same in a child."""
    note("start")
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            note("swallowed")


@app.task(retry=ONCE, timeout=1)
async def blocks_the_loop(seconds: float) -> None:
    """A coroutine that never gives way."""
    note("start")
    time.sleep(seconds)  # noqa: ASYNC251 - what this task is for


@app.task(retry=ONCE)
def holds_the_interpreter(seconds: int) -> None:
    """C code that keeps the GIL: no other thread of its process runs."""
    note("start")
    ctypes.PyDLL(None).sleep(seconds)
    note("end")


@app.task(retry=ONCE)
def segfaults() -> None:
    note("start")
    ctypes.string_at(0)


@app.task(retry=ONCE)
async def exits_in_the_midst(path: str) -> None:
    """Ends its process, but not before the file is there."""
    note("start")
    while not os.path.exists(path):  # noqa: ASYNC110, ASYNC240, PTH110 - another process makes the file
        await asyncio.sleep(0.01)
    os._exit(3)


ESCAPES: dict[str, type[BaseException]] = {
    kind.__name__: kind for kind in (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)
}


@app.task(retry=ONCE)
async def raises(kind: str) -> None:
    """One of the exceptions that `except Exception` lets through."""
    note("start")
    raise ESCAPES[kind]("raised by the task")


@app.task(retry=ONCE)
def raises_in_thread(kind: str) -> None:
    note("start")
    raise ESCAPES[kind]("raised by the task")


@app.task(retry=ONCE, executor="process")
def raises_in_process(kind: str) -> None:
    note("start")
    raise ESCAPES[kind]("raised by the task")


@app.task(retry=ONCE)
async def raises_in_subtask(kind: str) -> None:
    """In an asyncio task of its own, from where it would reach the loop."""
    note("start")

    async def inner() -> None:
        raise ESCAPES[kind]("raised by the task")

    await asyncio.create_task(inner())


@app.task(retry=ONCE)
async def lingers(seconds: float, after: float) -> str:
    """Told to end it takes its time, and ends as if nothing had been."""
    note("start")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(after)
    note("end")
    return "lingered"
