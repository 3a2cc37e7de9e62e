"""A fork in the middle of another thread's first call leaves the child a scheduler that works."""

from __future__ import annotations

import subprocess
import sys

from tests.fleet import ROOT
from tests.servers import TestServer

CODE = """
import os, sys, threading
from redisched import Scheduler
app = Scheduler(sys.argv[1], namespace="test")
held, done = threading.Event(), threading.Event()
def hold():
    with app.backend._own_lock():
        held.set()
        done.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    app.options(job_id="x").enqueue_in("1h", "task").cancel()
    os._exit(0)
_, status = os.waitpid(child, 0)
done.set()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_fork_under_a_held_lock_does_not_hang_the_child(server: TestServer) -> None:
    found = subprocess.run(
        [sys.executable, "-c", CODE, server.url], timeout=20, cwd=ROOT, capture_output=True, check=False
    )
    assert found.returncode == 0, found.stderr
