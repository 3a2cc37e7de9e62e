"""An application with declared schedules: every worker that starts puts them in force."""

from __future__ import annotations

from redisched import Scheduler
from tests.apps.probe import note

app = Scheduler()


@app.every(seconds=1)
async def ticks() -> None:
    note("start")


@app.every(seconds=1, name="named: a/b")
def tocks() -> None:
    note("start")
