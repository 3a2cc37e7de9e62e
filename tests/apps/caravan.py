"""Tasks whose arguments come back as they were received, on every kind of run."""

from __future__ import annotations

from redisched import Scheduler
from tests.apps.probe import ONCE

app = Scheduler()


@app.task(retry=ONCE)
async def back(*values: object, **named: object) -> object:
    return [list(values), named]


@app.task(retry=ONCE)
def back_thread(*values: object, **named: object) -> object:
    return [list(values), named]


@app.task(retry=ONCE, executor="process")
def back_process(*values: object, **named: object) -> object:
    return [list(values), named]


@app.task(retry=ONCE)
async def fails_saying(text: str) -> None:
    raise ValueError(text)


@app.task(retry=ONCE, name="задача 任务")
async def named_in_its_own_script(text: str) -> str:
    return text
