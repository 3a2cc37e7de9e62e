"""One instance of the race: `python -m redisched.cli.demo.racer QUEUE SCHEDULE`.

It finds the schedule due, says READY, and fires the slot when a line comes; then it says what became of it.
"""

from __future__ import annotations

import sys

from redisched.app.scheduler import Scheduler
from redisched.core.ids import IdMaker, public_id
from redisched.store.operations.schedules import fire, list_schedules
from redisched.store.operations.turns import DueSchedule
from redisched.worker.firing import slot_to_fire


def race(queue: str, name: str) -> None:
    with Scheduler() as app:
        keyspace, send = app.backend.keyspace(queue), app.backend.executor().send
        page, job = send(list_schedules(keyspace, name=name)), IdMaker().make()
        slot = slot_to_fire(DueSchedule(name, page.rows[0].definition), page.now_ms, job)
        print("READY", flush=True)
        # No line, but the end: whoever started us is gone.
        if sys.stdin.readline():
            (fired,) = send(fire(keyspace, [slot]))
            print(fired.name, public_id(queue, job), flush=True)


if __name__ == "__main__":
    race(*sys.argv[1:])
