# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched worker`."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from redisched.cli.target import Target

if TYPE_CHECKING:
    from redisched.core.config import WorkerConfig
    from redisched.worker.settings import WorkerOptions

Queues = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUEUE",
        help="Queues, served in this order; or shared out by weight: mail=3 bulk=1. Default: default.",
        show_default=False,
        envvar="REDISCHED_QUEUES",
    ),
]
App = Annotated[
    str,
    typer.Option(
        metavar="MODULE:NAME",
        help="Where your Scheduler is: package.module:attribute.",
        envvar="REDISCHED_APP",
        show_default=False,
    ),
]
AppDir = Annotated[
    str,
    typer.Option(metavar="FOLDER", help="Folder to import the application from.", envvar="REDISCHED_APP_DIR"),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "-c",
        "--concurrency",
        min=1,
        help="Jobs at once per process. [default: 100 coroutines; 2 threads per core, 8 at least]",
        envvar="REDISCHED_CONCURRENCY",
    ),
]
ProcessCount = Annotated[
    int, typer.Option("-p", "--processes", min=1, help="Worker processes.", envvar="REDISCHED_PROCESSES")
]
Burst = Annotated[
    bool, typer.Option("-b", "--burst", help="End when nothing is left to do now.", envvar="REDISCHED_BURST")
]
Name = Annotated[
    str | None,
    typer.Option("-n", "--name", help="Shown beside the worker's identity.", envvar="REDISCHED_NAME"),
]
MaxJobs = Annotated[
    int | None, typer.Option(min=1, help="End after about so many jobs.", envvar="REDISCHED_MAX_JOBS")
]
VisibilityTimeout = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="How long after a worker's death its jobs run elsewhere. [default: 10s]",
        envvar="REDISCHED_VISIBILITY_TIMEOUT",
    ),
]
ShutdownGrace = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="How long running jobs may go on after SIGTERM. [default: 30s]",
        envvar="REDISCHED_SHUTDOWN_GRACE",
    ),
]
AllowEviction = Annotated[
    bool,
    typer.Option(
        "--allow-eviction", help="Start on a server that may drop jobs.", envvar="REDISCHED_ALLOW_EVICTION"
    ),
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Log more.", envvar="REDISCHED_VERBOSE")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Log warnings only.", envvar="REDISCHED_QUIET")]


def worker(
    target: Target,
    app: App,
    queues: Queues = None,
    concurrency: Concurrency = None,
    processes: ProcessCount = 1,
    burst: Burst = False,
    name: Name = None,
    max_jobs: MaxJobs = None,
    visibility_timeout: VisibilityTimeout = None,
    shutdown_grace: ShutdownGrace = None,
    allow_eviction: AllowEviction = False,
    app_dir: AppDir = ".",
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Run jobs. SIGTERM or SIGINT: finish what runs, then end; a second one ends at once.

    --url, --namespace and --data-dir are for an application that names none itself: what it names wins.
    """
    from redisched.ops.logs import set_up
    from redisched.worker.settings import QueueWeights, WorkerOptions

    set_up(logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO)
    options = WorkerOptions(
        app=app,
        queues=QueueWeights.parse(queues or []),
        processes=processes,
        burst=burst,
        name=name,
        max_jobs=max_jobs,
        evicting_server_allowed=allow_eviction,
        config=worker_config(concurrency, visibility_timeout, shutdown_grace),
    )
    target.export()
    _run(options, app_dir)


def worker_config(
    concurrency: int | None, visibility_timeout: str | None, shutdown_grace: str | None
) -> WorkerConfig:
    """Raises ArgumentError for a text that is no duration, and for a duration that cannot work."""
    from redisched.core.config import SHUTDOWN_GRACE, VISIBILITY_TIMEOUT, WorkerConfig
    from redisched.core.durations import to_ms

    def duration(field: str, text: str | None, default: timedelta) -> timedelta:
        return default if text is None else timedelta(milliseconds=to_ms(text, field=field))

    return WorkerConfig(
        concurrency=concurrency,
        visibility_timeout=duration("visibility_timeout", visibility_timeout, VISIBILITY_TIMEOUT),
        shutdown_grace=duration("shutdown_grace", shutdown_grace, SHUTDOWN_GRACE),
    )


def _run(options: WorkerOptions, app_dir: str) -> None:
    """Load the application before anything is started: where it cannot be, nothing is to be cleaned up."""
    from redisched.cli.application import loaded
    from redisched.worker.main import run

    loaded(options.app, app_dir)
    raise typer.Exit(run(options))
