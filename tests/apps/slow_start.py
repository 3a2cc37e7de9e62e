"""An application that takes long to load in a child, and only there."""

from __future__ import annotations

import sys
import time

from redisched import Scheduler
from tests.apps.probe import ONCE, note

app = Scheduler()

if "redisched.worker.child" in sys.orig_argv:
    time.sleep(1.5)


@app.task(retry=ONCE, executor="process")
def in_child(seconds: float) -> None:
    note("start")
    time.sleep(seconds)
