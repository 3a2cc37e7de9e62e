# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched server`: the embedded server of this host."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from redisched.cli.options import AsJson
from redisched.cli.rendering import end, print_json, print_table, say
from redisched.cli.target import Target, on_target

if TYPE_CHECKING:
    from redisched.embedded import ServerStatus

server = typer.Typer(help="The embedded server of this host: look at it, stop it.", no_args_is_help=True)


@server.command()
@on_target
def status(target: Target, as_json: AsJson = False) -> None:
    """Say whether the embedded server runs, and what it is. Starts nothing. Exit 1 where it does not run."""
    from redisched.embedded import data_folder
    from redisched.embedded import status as status_of

    found = status_of(data_folder(target.data_dir, os.environ))
    if as_json:
        print_json(_described(found))
    else:
        print_table(["SERVER", ""], ([name, value] for name, value in _described(found).items()))
    end(trouble=not found.running)


@server.command()
@on_target
def stop(target: Target) -> None:
    """Stop the embedded server, with all that it accepted on disk. Whoever uses it starts it again."""
    from redisched.embedded import data_folder
    from redisched.embedded import stop as stop_it

    folder = data_folder(target.data_dir, os.environ)
    stopped = stop_it(folder)
    say(f"the server of {folder} {'is stopped' if stopped else 'was not running'}")


def _described(found: ServerStatus) -> dict[str, object]:
    facts = found.facts
    return {
        "running": found.running,
        "data_dir": str(found.data_dir),
        "socket": str(found.socket),
        "pid": facts.pid if facts else None,
        "engine": facts.engine if facts else None,
        "version": facts.version if facts else None,
        "uptime_seconds": facts.uptime.total_seconds() if facts else None,
        "used_memory_bytes": facts.used_memory_bytes if facts else None,
        "clients": facts.clients if facts else None,
        "appendfsync": facts.fsync if facts else None,
    }
