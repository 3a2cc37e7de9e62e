"""The application whose worker is measured."""

from __future__ import annotations

from redisched import Scheduler

app = Scheduler()


@app.task
async def nothing() -> None:
    """What is left is the scheduler's own work."""
