"""The application: what a link shortener leaves to its workers."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

from redisched.app.context import current_job
from redisched.app.scheduler import Scheduler
from redisched.cli.demo.notes import note
from redisched.core.retry import Retry

app = Scheduler()

QUEUES = ("default", "links", "reports")
HTTP_SECONDS = 5.0
POSTER_SECONDS = 3.0


class NotTakenError(Exception):
    """The other side answered, but did not take it."""


def ask(method: str, url: str, body: str = "") -> int:
    """The status that a server answers with. No proxy of the environment is asked: it is on the loopback."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=HTTP_SECONDS)
    try:
        connection.request(method, where.path, body)
        return connection.getresponse().status
    finally:
        connection.close()


@app.task(name="send_webhook", retry=Retry(max_attempts=5, base=1, factor=2, jitter="none"))
def send_webhook(url: str, event: str) -> int:
    """Tell a customer's endpoint; the attempt at which it took it."""
    status = ask("POST", url, event)
    if status != http.HTTPStatus.OK:
        raise NotTakenError(f"{url} answered {status}")
    return current_job().attempt


@app.task(name="expire_link", queue="links")
def expire_link(url: str) -> float:
    """Take a link away; how many seconds after its time that was."""
    ask("DELETE", url)
    return current_job().late_by.total_seconds()


@app.task(name="count_click")
async def count_click(number: int) -> None:
    """One click of many."""
    note("click", str(number))


@app.task(name="render_poster")
def render_poster(code: str) -> None:
    """Takes its time."""
    note("poster started", code)
    time.sleep(POSTER_SECONDS)
    note("poster ended", code)


@app.task(name="weekly_report", queue="reports")
async def weekly_report(owner: str) -> None:
    """What an owner's links did this week."""
    note("report", owner)
