# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched enqueue`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from redisched.cli.options import At, Delay
from redisched.cli.rendering import complain, say
from redisched.cli.target import Target

if TYPE_CHECKING:
    from redisched.app.options import OptionArguments

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.", show_default=False)]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARG", help="Arguments: JSON, or else text.", show_default=False),
]
Keywords = Annotated[
    list[str] | None, typer.Option("--kw", metavar="NAME=VALUE", help="A keyword argument; may be repeated.")
]
QueueName = Annotated[str | None, typer.Option(help="Name of the queue. [default: default]")]
Priority = Annotated[int | None, typer.Option(help="0 (first) to 3. [default: 1]")]
JobId = Annotated[str | None, typer.Option("--id", help="An id of your own: the same id is the same job.")]
Unique = Annotated[str | None, typer.Option(help="A key that only one job holds until it ends.")]


def enqueue(
    target: Target,
    task: TaskName,
    arguments: Arguments = None,
    delay: Delay = None,
    at: At = None,
    queue: QueueName = None,
    priority: Priority = None,
    job_id: JobId = None,
    unique: Unique = None,
    keywords: Keywords = None,
) -> None:
    """Enqueue a job of a task, by the task's name, and print the job's id. For now, or --in or --at a time.

    Arguments are taken as JSON where they are JSON (42, true, [1, 2], "42"), else as text.
    """
    from redisched.app.enqueuing import Enqueuer
    from redisched.app.options import Options
    from redisched.core.ids import IdMaker

    if at is not None and delay is not None:
        raise typer.BadParameter("say --in or --at, not both", param_hint="--in")
    args, kwargs = [value_of(text) for text in arguments or []], dict(map(_keyword, keywords or []))
    options = Options.checked(**_given(queue=queue, priority=priority, job_id=job_id, unique=unique))
    with target.backend() as backend:
        enqueuer = Enqueuer(backend, IdMaker(), options)
        if at is not None:
            job = enqueuer.enqueue_at(at, task, *args, **kwargs)
        else:
            job = enqueuer.enqueue_in(delay if delay is not None else 0, task, *args, **kwargs)
    say(job.id)
    if not job.created:
        complain("the job was there already")


def value_of(text: str) -> object:
    """What `text` says as JSON, else the text itself: also for what Python alone takes for JSON."""
    try:
        return json.loads(text, parse_constant=_refused)
    except ValueError:
        return text


def _refused(text: str) -> NoReturn:
    raise ValueError(text)


def _keyword(text: str) -> tuple[str, object]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--kw")
    return name, value_of(value)


def _given(**options: object) -> OptionArguments:
    return {name: value for name, value in options.items() if value is not None}  # type: ignore[return-value]
