# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched jobs`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from redisched.cli.options import AsJson, At, Delay, JobId, Limit, PlaceName, Queue, exactly_one
from redisched.cli.rendering import complain, end, print_json, print_table, say
from redisched.cli.target import Target, on_target

if TYPE_CHECKING:
    from redisched.app.backend import Backend
    from redisched.app.job import Job
    from redisched.app.results import JobInfo

jobs = typer.Typer(
    help="Look at jobs, cancel them, run them again, give them another time.", no_args_is_help=True
)

Jobs = Annotated[list[str], typer.Argument(metavar="JOB", help="Ids of jobs, queue:id.", show_default=False)]
OfPlace = Annotated[
    PlaceName | None, typer.Option(help="Where to look; without it, everywhere.", show_default=False)
]


@jobs.command("list")
@on_target
def list_jobs(
    target: Target,
    queue: Queue = "default",
    place: OfPlace = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List jobs by where they are; unclaimed are those watched for not being claimed in time."""
    from redisched.ops.inspect import Place, jobs_of

    places = [one for one in Place if one is not Place.UNCLAIMED] if place is None else [Place(place)]
    with target.backend() as backend:
        print_jobs(backend.executor().run(jobs_of(backend.keyspace(queue), places, limit=limit)), as_json)


@jobs.command()
@on_target
def show(target: Target, job: JobId, as_json: AsJson = False) -> None:
    """Show all that is known of a job. Exit 1 where there is none of that id."""
    from redisched.core.states import JobState

    with target.backend() as backend:
        info = job_of(backend, job).info()
    if as_json:
        print_json(info)
    elif info.state is not JobState.NOT_FOUND:
        _print_job(info)
    if info.state is JobState.NOT_FOUND:
        complain(f"job {job}: not found: it never was, or it was pruned after its retention")
    end(trouble=info.state is JobState.NOT_FOUND)


@jobs.command()
@on_target
def cancel(target: Target, ids: Jobs) -> None:
    """End jobs that wait, and ask those that run to stop. Exit 1 where any had ended or is not found."""
    from redisched.core.states import CancelOutcome

    with target.backend() as backend:
        outcomes = [job_of(backend, job).cancel() for job in ids]
    said(ids, [outcome.value for outcome in outcomes])
    end(trouble=not set(outcomes) <= {CancelOutcome.CANCELLED, CancelOutcome.STOP_REQUESTED})


@jobs.command()
@on_target
def retry(target: Target, ids: Jobs) -> None:
    """Run ended jobs again, their attempts counted anew. Exit 1 where any cannot."""
    from redisched.core.states import ReviveOutcome

    with target.backend() as backend:
        outcomes = [job_of(backend, job).retry() for job in ids]
    said(ids, [outcome.value for outcome in outcomes])
    end(trouble=set(outcomes) != {ReviveOutcome.REVIVED})


@jobs.command()
@on_target
def reschedule(target: Target, job: JobId, at: At = None, delay: Delay = None) -> None:
    """Give a job that waits another time. Exit 1 where it has started, has ended, or is not found."""
    from redisched.core.states import RescheduleOutcome

    exactly_one(at=at, delay=delay)
    with target.backend() as backend:
        outcome = job_of(backend, job).reschedule(at, delay=delay)
    said([job], [outcome.value])
    end(trouble=outcome is not RescheduleOutcome.RESCHEDULED)


def job_of(backend: Backend, job_id: str) -> Job[object]:
    from redisched.app.job import Job

    return Job(backend.executor().send, backend.namespace, job_id)


def said(ids: Iterable[str], outcomes: Iterable[str]) -> None:
    """One line for each job: what became of it."""
    for job, outcome in zip(ids, outcomes, strict=True):
        say(f"{job}: {outcome}")


def print_jobs(infos: list[JobInfo], as_json: bool) -> None:
    if as_json:
        print_json(infos)
        return
    rows = ([one.id, one.state, one.task, one.due_at, one.attempts, one.reason] for one in infos)
    print_table(["JOB", "STATE", "TASK", "DUE", "ATTEMPTS", "REASON"], rows)


def _print_job(info: JobInfo) -> None:
    shown = (
        *("id", "state", "task", "args", "kwargs", "priority", "attempts", "deliveries", "created_at"),
        *("due_at", "started_at", "ended_at", "worker", "unique", "alarm", "reason"),
    )
    print_table(["JOB", ""], ([name.replace("_at", ""), getattr(info, name)] for name in shown))
    for line in (info.traceback or "").splitlines():
        say(f"  {line}")
