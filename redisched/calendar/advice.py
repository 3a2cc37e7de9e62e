"""What is allowed and yet seldom meant: uneven steps, and times that a clock change removes or repeats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from redisched.calendar.moments import EPOCH, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redisched.calendar.fields import Fields
    from redisched.calendar.segments import Change, Zone
    from redisched.calendar.walls import Walls

# How many values a field has before it starts anew; days are left out, as every step of theirs is uneven.
CYCLES: Final = {"second": 60, "minute": 60, "hour": 24, "month": 12, "weekday": 7}
STEP: Final = re.compile(r"[*h]/(\d+)")
HORIZON_S: Final = 2 * 366 * 86_400


def uneven_steps(fields: Fields) -> Iterator[str]:
    """One text for each step that does not divide its field, and so is no steady interval."""
    for name, text in fields.named():
        for element in text.split(","):
            step = STEP.fullmatch(element)
            if name in CYCLES and step and CYCLES[name] % int(step[1]):
                yield (
                    f"{name} {element}: {CYCLES[name]} is no multiple of {step[1]}, so the last step of each"
                    " round is shorter; for a steady interval use Every"
                )


def clock_changes(walls: Walls, zone: Zone, after: int) -> Iterator[str]:
    """One text for each clock change within two years that hits a local time of the timetable."""
    for change in zone.changes(after, after + HORIZON_S):
        hit = walls.after(change.first_wall - 1)
        if hit is not None and hit < change.end_wall:
            yield _described(change, hit, zone.name)


def _described(change: Change, wall: int, zone: str) -> str:
    local = f"{EPOCH + wall * SECOND:%Y-%m-%d %H:%M}"
    if change.is_gap:
        return f"{local} does not exist in {zone}: gap='shift' runs it right after the gap, gap='skip' never"
    return f"{local} comes twice in {zone}: repeat='first', 'second' or 'both' says when it runs"
