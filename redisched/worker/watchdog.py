"""A small process beside a worker that ends it when it hangs where no thread of its own can run.

Run as a file, with the standard library only: `python -I -S watchdog.py PID SECONDS`, its input a pipe from
the worker, which writes a byte now and then. Its time counts from the first of them: until then it holds no
lease. A worker that was stopped (SIGSTOP, a frozen container) does not hang: it counts from the moment after.
"""

import os
import select
import signal
import subprocess
import sys
import time

POLL_SECONDS = 0.5
LEAST_SECONDS = 2.0  # a process that gets no processor for a moment does not hang


def is_stopped(pid: int) -> bool:
    """Whether the process is stopped by a signal or frozen."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - standard library only, and quick
            return file.read().rsplit(b")", 1)[1].split()[0] in {b"T", b"t", b"D"}
    except FileNotFoundError:
        shown = subprocess.run(["/bin/ps", "-o", "state=", "-p", str(pid)], capture_output=True, check=False)
        return shown.stdout.strip().startswith(b"T")


def watch(pid: int, limit: float) -> None:
    """Returns when the worker has ended or was ended."""
    if not os.read(0, 4096):
        return
    limit = max(limit, LEAST_SECONDS)
    quiet_since = seen = time.monotonic()
    while True:
        readable = select.select([0], [], [], POLL_SECONDS)[0]
        now = time.monotonic()
        if readable:
            if not os.read(0, 4096):
                return
            quiet_since = now
        elif now - seen > 3 * POLL_SECONDS or is_stopped(pid):
            quiet_since = now  # we were frozen ourselves, or the worker is
        elif now - quiet_since > limit:
            message = f"redisched: worker {pid} has hung for {limit:g} s, ending it\n"
            sys.stderr.write(message)
            sys.stderr.flush()
            os.kill(pid, signal.SIGKILL)
            return
        seen = now


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch(int(sys.argv[1]), float(sys.argv[2]))
