# ruff: noqa: PLC0415 - what reaches the server is imported where it is used, so that --help comes at once
"""Which server and namespace a command is about: options that stand before or behind the command."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Concatenate, Final

import typer

if TYPE_CHECKING:
    from redisched.app.backend import Backend

PATIENCE_SECONDS: Final = 3.0

_URL: Final = "Server: redis://, rediss:// or unix://; else the embedded server of this host."
_NAMESPACE: Final = "Keeps applications apart on one server."
_DATA_DIR: Final = "Folder of the embedded server."

Url = Annotated[str | None, typer.Option(help=_URL, envvar="REDISCHED_URL")]
Namespace = Annotated[str | None, typer.Option(help=_NAMESPACE, envvar="REDISCHED_NAMESPACE")]
DataDir = Annotated[str | None, typer.Option(help=_DATA_DIR, envvar="REDISCHED_DATA_DIR")]

# The same behind a command. The environment is read once, for what stands before it: read here too, it would
# overrule that.
_OPTIONS: Final = {
    name: Annotated[
        str | None,
        typer.Option(help=f"{said} [env var: REDISCHED_{name.upper()}]", allow_from_autoenv=False),
    ]
    for name, said in (("url", _URL), ("namespace", _NAMESPACE), ("data_dir", _DATA_DIR))
}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a command does its work; None where nothing was said."""

    url: str | None = None
    namespace: str | None = None
    data_dir: str | None = None

    def over(self, other: Target) -> Target:
        """What is said here, else what is said there."""
        mine, theirs = astuple(self), astuple(other)
        return Target(*(a if a is not None else b for a, b in zip(mine, theirs, strict=True)))

    @contextmanager
    def backend(self) -> Iterator[Backend]:
        """The way to the server, closed at the end."""
        from redisched.app.backend import Backend

        backend = Backend(self.url, self.namespace, data_dir=self.data_dir, call_seconds=PATIENCE_SECONDS)
        try:
            yield backend
        finally:
            backend.close()

    def export(self) -> None:
        """For an application that is loaded here or in a child: what it does not name itself."""
        for field in fields(Target):
            value: str | None = getattr(self, field.name)
            if value is not None:
                os.environ[f"REDISCHED_{field.name.upper()}"] = value


def on_target(command: Callable[Concatenate[Target, ...], None]) -> Callable[..., None]:
    """`command` with the options of a `Target` in place of its first parameter."""

    @wraps(command)
    def with_options(
        *,
        context: typer.Context,
        url: str | None,
        namespace: str | None,
        data_dir: str | None,
        **rest: object,
    ) -> None:
        command(Target(url, namespace, data_dir).over(context.find_root().obj), **rest)

    with_options.__signature__ = _signature(command)  # type: ignore[attr-defined]  # what typer reads
    return with_options


def _signature(command: Callable[..., None]) -> inspect.Signature:
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return inspect.Signature(
        [
            *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own),
            context,
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
                for name, kind in _OPTIONS.items()
            ),
        ]
    )
