"""An application that takes long to load in the workers of a supervisor, and only there."""

from __future__ import annotations

import os
import time

from redisched import Scheduler

app = Scheduler()

if "REDISCHED_SUPERVISED" in os.environ:
    time.sleep(10)
