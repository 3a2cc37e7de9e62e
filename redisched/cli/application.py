# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""Loading the user's application, so that what is wrong in it is seen as it is."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from redisched.cli.rendering import complain

if TYPE_CHECKING:
    from redisched.app.scheduler import Scheduler


def loaded(path: str, app_dir: str) -> Scheduler:
    """The Scheduler at `path`. ConfigurationError where it is not there; an error inside the application is
    printed with its traceback, and ends the command as a wrong use.
    """
    from redisched.app.loading import load_app
    from redisched.core.errors import ConfigurationError

    make_importable(app_dir)
    try:
        return load_app(path)
    except ConfigurationError as error:
        if error.field == "app" and error.value == path:
            raise ConfigurationError(error.field, path, f"{error.reason}; see --app and --app-dir") from None
        raise _inner(path, error) from None
    except Exception as error:  # noqa: BLE001 - whatever the application raises
        raise _inner(path, error) from None


def make_importable(app_dir: str) -> None:
    """Here and in the processes that are started from here; ConfigurationError for what is no folder."""
    from redisched.core.errors import ConfigurationError

    folder = Path(app_dir).resolve()
    if not folder.is_dir():
        raise ConfigurationError("app-dir", app_dir, "there is no such folder")
    for_children = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(folder) not in for_children:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), *for_children)))
    sys.path.insert(0, str(folder))


def _inner(path: str, error: Exception) -> typer.Exit:
    traceback.print_exception(error)
    complain(f"the application {path} cannot be loaded: {type(error).__name__}: {error}")
    return typer.Exit(2)
