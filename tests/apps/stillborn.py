"""An application that dies at once in every supervised worker."""

from __future__ import annotations

import os

from redisched import Scheduler

app = Scheduler()

if "REDISCHED_SUPERVISED" in os.environ:
    os._exit(9)
