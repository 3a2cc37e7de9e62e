"""A client that forks after it has used its connections: `python -m tests.apps.forks HOW COUNT`."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback

from redisched import Scheduler
from tests.apps.probe import ONCE, noop, note

app = Scheduler()


def fill(label: str, count: int) -> None:
    """`count` jobs, one call each, ids by `label`."""
    for n in range(count):
        app.options(job_id=f"{label}-{n}").enqueue(noop)


def forked(count: int, label: str) -> int:
    """Parent and child enqueue at the same time; the child's exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fill(f"{label}child", count)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    fill(f"{label}parent", count)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@app.task(retry=ONCE)
def forks(count: int) -> int:
    """A job's body that forks in the middle of a worker."""
    note("start")
    return forked(count, "body-")


def main(how: str, count: int) -> int:
    app.enqueue(noop)
    if how == "os.fork":
        return forked(count, "")
    multiprocessing.set_start_method(how)
    child = multiprocessing.Process(target=fill, args=("child", count))
    child.start()
    fill("parent", count)
    child.join()
    return child.exitcode or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
