"""A job for now, one for later, one for a date.

Run a worker in one terminal, and this file in another:

    redisched worker --app quickstart:app --app-dir examples
    python examples/quickstart.py

No server is named, so both use the embedded one; with REDISCHED_URL=redis://… they use yours.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from redisched import Scheduler

app = Scheduler()


@app.task
def greet(name: str) -> str:
    return f"hello, {name}"


if __name__ == "__main__":
    now = app.enqueue(greet, "now")
    later = app.enqueue_in(timedelta(seconds=1), greet, "later")
    dated = app.enqueue_at(datetime(2030, 1, 1, 9, 0, tzinfo=ZoneInfo("Europe/London")), greet, "2030")
    print(now.result(timeout=30))
    print(later.result(timeout=30))
    print(f"for a date: {dated.status().value}")
    print(f"not needed any more: {dated.cancel().value}")
