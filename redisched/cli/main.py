# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""The command line: `redisched`, or `python -m redisched`.

Exit codes: 0 fine, 1 found trouble, 2 wrong use.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from redisched.cli import doctor, enqueue, queues, worker
from redisched.cli.dead import dead
from redisched.cli.jobs import jobs
from redisched.cli.rendering import complain, say
from redisched.cli.schedules import schedules
from redisched.cli.server import server
from redisched.cli.target import DataDir, Namespace, Target, Url, on_target
from redisched.core.errors import ArgumentError, RedischedError

app = typer.Typer(
    name="redisched",
    help="Work for now, for later and on a timetable. Exit codes: 0 fine, 1 found trouble, 2 wrong use.\n\n"
    "Every option can be set in the environment, by the name that the help of its command shows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"auto_envvar_prefix": "REDISCHED", "help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"redisched {version('redisched')}")
        raise typer.Exit


Version = Annotated[
    bool,
    # Set in an environment, REDISCHED_VERSION means something else.
    typer.Option(
        "--version", help="Print the version.", callback=_version, is_eager=True, allow_from_autoenv=False
    ),
]


@app.callback()
def _globals(
    context: typer.Context,
    url: Url = None,
    namespace: Namespace = None,
    data_dir: DataDir = None,
    version: Version = False,  # noqa: ARG001 - its callback prints
) -> None:
    context.obj = Target(url, namespace, data_dir)


def demo() -> None:
    """See it work: a link shortener's evening on the embedded server, in about 30 s."""
    raise typer.Exit(import_module("redisched.cli.demo").run())


for command in (worker.worker, enqueue.enqueue, queues.status, queues.pause, queues.resume, doctor.doctor):
    app.command()(on_target(command))
for group, name in ((jobs, "jobs"), (dead, "dead"), (schedules, "schedules"), (server, "server")):
    app.add_typer(group, name=name)
app.command()(demo)


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # What a locale cannot say is no reason to end half-way through a list.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="redisched")
    except RedischedError as error:
        complain(str(error))
        sys.exit(2 if isinstance(error, ArgumentError) else 1)
    finally:
        _flush()


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read it had enough (`| head`): the rest goes nowhere, and Python says nothing of it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
