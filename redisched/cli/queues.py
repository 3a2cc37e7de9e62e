# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched status`, `pause` and `resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from redisched.cli.options import AsJson
from redisched.cli.rendering import end, print_json, print_table, say
from redisched.cli.target import Target

if TYPE_CHECKING:
    from redisched.ops.inspect import QueueReport

Queues = Annotated[
    list[str] | None,
    typer.Argument(metavar="QUEUE", help="Queues; default: default.", show_default=False),
]
OneQueue = Annotated[str, typer.Argument(metavar="QUEUE", help="Name of the queue.", show_default=False)]


def status(target: Target, queues: Queues = None, as_json: AsJson = False) -> None:
    """Count the jobs of queues, and name their workers. Exit 1 where a job is unclaimed for too long."""
    from redisched.ops.inspect import report

    with target.backend() as backend:
        send = backend.executor()
        reports = [send.run(report(backend.keyspace(queue))) for queue in queues or ["default"]]
        where = backend.describe()
    if as_json:
        print_json(reports)
    else:
        say(where)
        _print(reports)
    end(trouble=any(one.alarms for one in reports))


def pause(target: Target, queue: OneQueue) -> None:
    """Hand out no more jobs of a queue; running ones go on."""
    from redisched.store.operations.queues import pause as paused

    with target.backend() as backend:
        changed = backend.executor().send(paused(backend.keyspace(queue)))
    say(f"{queue}: {'paused' if changed else 'was paused already'}")


def resume(target: Target, queue: OneQueue) -> None:
    """Hand out the jobs of a queue again."""
    from redisched.store.operations.queues import resume as resumed

    with target.backend() as backend:
        changed = backend.executor().send(resumed(backend.keyspace(queue)))
    say(f"{queue}: {'resumed' if changed else 'was not paused'}")


def _print(reports: list[QueueReport]) -> None:
    counts = ("scheduled", "ready", "processing", "ended", "dead", "alarms", "schedules")
    print_table(
        ["QUEUE", *(name.upper() for name in counts), "NEXT RUN", "PAUSED"],
        (
            [
                one.queue,
                *(getattr(one, name) for name in counts),
                one.next_run_at,
                "yes" if one.paused else "no",
            ]
            for one in reports
        ),
    )
    workers = [[one.queue, worker.id, worker.last_seen_at] for one in reports for worker in one.workers]
    if workers:
        say("")
        print_table(["QUEUE", "WORKER", "LAST SEEN"], workers)
