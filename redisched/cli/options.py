"""Options and arguments that several commands have."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

PlaceName = Literal["scheduled", "ready", "processing", "ended", "dead", "unclaimed"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", envvar="REDISCHED_JSON")]
At = Annotated[
    str | None, typer.Option(metavar="ISO", help="When: ISO 8601 with an offset, 2027-03-28T02:30:00+01:00.")
]
Delay = Annotated[
    str | None, typer.Option("--in", metavar="DURATION", help="In how long: 90, 10m, 1h30m, 2d.")
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="Id of a job, queue:id.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="How many to list at the most.")]
Queue = Annotated[str, typer.Option("--queue", help="Name of the queue.")]


def exactly_one(**given: object) -> None:
    """Refuse none, or more than one, of these options as a wrong use."""
    if sum(value is not None for value in given.values()) != 1:
        raise typer.BadParameter("say --in or --at, one of them", param_hint="--in")
