"""Tasks for tests of what a worker does with its runs; they note what happens to them as `probe` does."""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar

from redisched import Retry, Scheduler, current_job
from tests.apps.probe import ONCE, QUICK, note

app = Scheduler()
mark: ContextVar[str] = ContextVar("mark", default="clean")

PICKY = Retry(
    max_attempts=3, base=0.05, cap=0.1, jitter="none", retry_on=(OSError,), give_up_on=(FileNotFoundError,)
)
ERRORS = {error.__name__: error for error in (ValueError, ConnectionError, FileNotFoundError)}


@app.task(retry=ONCE)
async def sleeps(seconds: float) -> None:
    """A coroutine that says how it was ended."""
    note("start")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("cancelled")
        raise
    note("end")


@app.task(retry=ONCE)
def loops(seconds: float) -> None:
    """Python code in a thread: it can be interrupted between two instructions."""
    note("start")
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            time.sleep(0.01)
    except BaseException:
        note("interrupted")
        raise
    note("end")


@app.task(retry=ONCE)
def stubborn(seconds: float) -> None:
    """One long call in a thread: Python cannot interrupt it."""
    note("start")
    time.sleep(seconds)
    note("end")


@app.task(retry=ONCE)
async def blocks(seconds: float) -> None:
    """A coroutine that holds up its event loop."""
    note("start")
    time.sleep(seconds)  # noqa: ASYNC251 - that is the point
    note("end")


@app.task(retry=PICKY)
async def raises(kind: str, text: str = "") -> None:
    note("start")
    raise ERRORS[kind](text)


def _facts() -> dict[str, object]:
    job = current_job()
    return {
        "id": job.id,
        "task": job.task,
        "queue": job.queue,
        "attempt": job.attempt,
        "delivery": job.delivery,
        "version": job.version,
        "created_at": job.created_at,
        "due_at": job.due_at,
        "started_at": job.started_at,
        "late_by": job.late_by,
        "slot": [job.slot.schedule, job.slot.id, job.slot.at] if job.slot else None,
        "stopping": job.stopping,
    }


@app.task(retry=QUICK)
async def facts() -> dict[str, object]:
    """What a run knows of itself."""
    return _facts()


@app.task(retry=QUICK)
def facts_thread() -> dict[str, object]:
    return _facts()


@app.task(retry=QUICK, executor="process")
def facts_process() -> dict[str, object]:
    return _facts()


@app.task(retry=ONCE)
async def marks(value: str) -> list[str]:
    """What a context variable was before this run set it, and what it is after others had their time."""
    before = mark.get()
    mark.set(value)
    await asyncio.sleep(0.05)
    return [before, mark.get()]


@app.task(retry=ONCE)
def marks_thread(value: str) -> list[str]:
    before = mark.get()
    mark.set(value)
    return [before, mark.get()]


@app.task(retry=ONCE, executor="process")
def marks_process(value: str) -> list[str]:
    before = mark.get()
    mark.set(value)
    return [before, mark.get()]


@app.task(retry=ONCE)
async def heeds() -> None:
    """Runs until it is told to stop."""
    note("start")
    try:
        await asyncio.sleep(60)
    finally:
        note("stopping", stopping=current_job().stopping)


@app.task(retry=ONCE, executor="process")
def in_child() -> None:
    note("start")


def _heed() -> None:
    note("start")
    end = time.monotonic() + 60
    while not current_job().stopping and time.monotonic() < end:
        time.sleep(0.01)
    note("stopping", stopping=current_job().stopping)


@app.task(retry=ONCE)
def heeds_thread() -> None:
    _heed()


@app.task(retry=ONCE, executor="process")
def heeds_process() -> None:
    _heed()


@app.task(retry=ONCE)
async def progresses() -> None:
    current_job().progress(0.25, "a quarter\nforged line")


@app.task(retry=ONCE)
def progresses_thread() -> None:
    current_job().progress(0.5)


@app.task(retry=ONCE, executor="process")
def progresses_process() -> None:
    current_job().progress(0.75, "nearly")


@app.task(retry=ONCE)
async def enqueues(task: str, label: str) -> str:
    """A job that makes another one."""
    return (await app.aio.enqueue(task, label=label)).id


@app.task(retry=ONCE)
async def waits_for_child(label: str) -> object:
    """A job that waits for the result of another one."""
    job = await app.aio.enqueue("tests.apps.probe.probe", label=label)
    return await job.result(timeout=10)


class Rude(type):
    """Of classes that do not say what is theirs."""

    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("not telling")


class RudeKindError(Exception, metaclass=Rude):
    pass


RUDE = Retry(give_up_on=(RudeKindError,))


@app.task(retry=RUDE)
async def judged_rudely_async() -> None:
    raise ValueError("to be judged")


@app.task(retry=RUDE)
def judged_rudely_thread() -> None:
    raise ValueError("to be judged")


@app.task(retry=RUDE, executor="process")
def judged_rudely_process() -> None:
    raise ValueError("to be judged")


def _tells_oddly() -> str:
    """Says what is no text, and what is no part; returns how the latter was refused."""
    note("start")
    current_job().progress(1, 7)  # type: ignore[arg-type]  # as a task without types may
    current_job().progress(0.5, "half \ud800")
    try:
        current_job().progress(150)
    except ValueError as error:
        return str(error)
    return "not refused"


@app.task(retry=QUICK)
async def tells_oddly_async() -> str:
    return _tells_oddly()


@app.task(retry=QUICK)
def tells_oddly_thread() -> str:
    return _tells_oddly()


@app.task(retry=QUICK, executor="process")
def tells_oddly_process() -> str:
    return _tells_oddly()
