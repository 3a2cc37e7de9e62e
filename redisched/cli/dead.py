# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched dead`: jobs that are out of attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from redisched.cli.jobs import job_of, print_jobs, said
from redisched.cli.options import AsJson, Limit, Queue
from redisched.cli.rendering import complain, end, say
from redisched.cli.target import Target, on_target

if TYPE_CHECKING:
    from redisched.app.backend import Backend

dead = typer.Typer(help="Dead letters: list them, run them again, drop them.", no_args_is_help=True)

Jobs = Annotated[list[str] | None, typer.Argument(metavar="JOB", help="Ids of jobs.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All dead letters of the queue.")]


@dead.command("list")
@on_target
def list_dead(target: Target, queue: Queue = "default", limit: Limit = 100, as_json: AsJson = False) -> None:
    """List dead letters, with the reason of each."""
    from redisched.ops.inspect import Place, jobs_of

    with target.backend() as backend:
        print_jobs(
            backend.executor().run(jobs_of(backend.keyspace(queue), [Place.DEAD], limit=limit)), as_json
        )


@dead.command()
@on_target
def retry(target: Target, ids: Jobs = None, everything: All = False, queue: Queue = "default") -> None:
    """Run dead letters again. Exit 1 where any cannot; the others run."""
    from redisched.core.states import ReviveOutcome
    from redisched.ops.dead_letters import Retried, retry_all

    _ids_or_all(ids, everything)
    with target.backend() as backend:
        if everything:
            done = backend.executor().run(retry_all(backend.keyspace(queue)))
        else:
            outcomes = {job: job_of(backend, job).retry() for job in _dead_among(backend, ids or [])}
            left = [job for job, outcome in outcomes.items() if outcome is not ReviveOutcome.REVIVED]
            done = Retried(len(outcomes) - len(left), {job: outcomes[job] for job in left})
    said(done.left, [outcome.value for outcome in done.left.values()])
    say(f"{done.revived} revived")
    end(trouble=bool(done.left) or done.revived < len(ids or []))


@dead.command()
@on_target
def purge(target: Target, ids: Jobs = None, everything: All = False, queue: Queue = "default") -> None:
    """Drop dead letters for good. Exit 1 where any of those named is not dead."""
    from redisched.ops.dead_letters import purge as purge_some
    from redisched.ops.dead_letters import purge_all

    _ids_or_all(ids, everything)
    with target.backend() as backend:
        if everything:
            dropped = backend.executor().run(purge_all(backend.keyspace(queue)))
        else:
            named = _dead_among(backend, ids or [])
            dropped = sum(backend.executor().run(purge_some(backend.namespace, job)) for job in named)
    say(f"{dropped} purged")
    end(trouble=dropped < len(ids or []))


def _ids_or_all(ids: list[str] | None, everything: bool) -> None:
    if bool(ids) == everything:
        raise typer.BadParameter("name jobs, or say --all", param_hint="JOB")


def _dead_among(backend: Backend, ids: list[str]) -> list[str]:
    """Those that are dead; complains of the others."""
    from redisched.core.states import JobState

    states = {job: job_of(backend, job).status() for job in ids}
    for job, state in states.items():
        if state is not JobState.DEAD:
            complain(f"job {job} is no dead letter: {state.value}")
    return [job for job, state in states.items() if state is JobState.DEAD]
