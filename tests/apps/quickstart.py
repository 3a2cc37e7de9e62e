"""The quick start: one file with a task of each kind of call."""

from __future__ import annotations

from redisched import Retry, Scheduler
from tests.apps.probe import note

app = Scheduler()


@app.task
def greet(name: str) -> str:
    note("start")
    return f"hello {name}"


@app.task(retry=Retry(max_attempts=2, base=0.5, jitter="none"))
def flaky(name: str) -> str:
    from redisched import current_job  # noqa: PLC0415 - a quick start keeps its imports in one place

    note("start")
    if current_job().attempt == 1:
        raise ConnectionError(name)
    return name


@app.every(seconds=1)
def tick() -> None:
    note("start")
