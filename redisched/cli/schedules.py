# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched schedules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from redisched.cli.options import AsJson, Queue
from redisched.cli.rendering import cell, complain, end, print_json, print_table, say
from redisched.cli.target import Target, on_target

if TYPE_CHECKING:
    from redisched.app.schedules import ScheduleInfo

schedules = typer.Typer(help="Look at schedules and their next slots, remove them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the schedule.", show_default=False)]
Count = Annotated[int, typer.Option("-n", "--count", min=1, max=10_000, help="How many slots.")]


@schedules.command("list")
@on_target
def list_schedules(target: Target, queue: Queue = "default", as_json: AsJson = False) -> None:
    """List the schedules of a queue, by name."""
    from redisched.app.schedules import Schedules

    with target.backend() as backend:
        rows = [_described(info) for info in Schedules(backend).list(queue=queue)]
    if as_json:
        print_json(rows)
    else:
        titles = ("name", "next_at", "calendar", "task", "fired", "paused", "fault")
        print_table([title.upper() for title in titles], ([row[title] for title in titles] for row in rows))


@schedules.command()
@on_target
def show(target: Target, name: Name, queue: Queue = "default", as_json: AsJson = False) -> None:
    """Show a schedule. Exit 1 where there is none of that name, or where it cannot be read."""
    from redisched.app.schedules import Schedules

    with target.backend() as backend:
        info = Schedules(backend).get(name, queue=queue)
    if info is None:
        complain(f"there is no schedule {name} in queue {queue}")
        end(trouble=True)
    if as_json:
        print_json(_described(info))
    else:
        print_table(["SCHEDULE", ""], ([field, value] for field, value in _described(info).items()))
    end(trouble=info.fault is not None)


@schedules.command("next")
@on_target
def next_slots(
    target: Target, name: Name, count: Count = 6, queue: Queue = "default", as_json: AsJson = False
) -> None:
    """Print the next slots of a schedule, in UTC. Exit 1 where there is no such schedule."""
    from redisched.app.schedules import Schedules
    from redisched.core.errors import ScheduleError

    with target.backend() as backend:
        try:
            slots = Schedules(backend).next(name, count, queue=queue)
        except ScheduleError as error:
            complain(str(error))
            end(trouble=True)
    if as_json:
        print_json(slots)
    else:
        for slot in slots:
            say(cell(slot))


@schedules.command()
@on_target
def remove(target: Target, name: Name, queue: Queue = "default") -> None:
    """Remove a schedule: it fires no more, and jobs that it made stay. Exit 1 where there is none."""
    from redisched.app.schedules import Schedules

    with target.backend() as backend:
        removed = Schedules(backend).remove(name, queue=queue)
    if removed:
        say(f"{name}: removed")
    else:
        complain(f"there is no schedule {name} in queue {queue}")
    end(trouble=not removed)


def _described(info: ScheduleInfo) -> dict[str, object]:
    timetable = info.timetable
    return {
        "name": info.name,
        "queue": info.queue,
        "next_at": info.next_at,
        "calendar": timetable.calendar.to_spec() if timetable else None,
        "task": timetable.call.task if timetable else None,
        "args": timetable.call.args if timetable else (),
        "kwargs": timetable.call.kwargs if timetable else {},
        "missed": timetable.missed if timetable else None,
        "overlap": timetable.overlap if timetable else None,
        "fired": info.fired,
        "revision": info.revision,
        "paused": info.paused,
        "fault": info.fault,
    }
