"""A schedule's definition: what is on the timetable, and by which rules; packed for the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from redisched.calendar import At, Calendar, Cron, Every, from_spec
from redisched.core.call import Call
from redisched.core.errors import PayloadError, ScheduleError
from redisched.core.values import pack, unpack

Missed = Literal["latest"]
Overlap = Literal["allow"]
NAME_CHARACTERS: Final = 256
_LONGEST_SLOT: Final = ("U253402300799.999", 253402300799999)
"""In the last second of the year 9999, named by its instant."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """What a schedule runs, when, and what happens to slots that were missed or that overlap."""

    calendar: Calendar
    call: Call
    missed: Missed = "latest"
    overlap: Overlap = "allow"

    def packed(self) -> bytes:
        """The same timetable is always the same bytes, so that declaring it again changes nothing."""
        call = [self.call.task, list(self.call.args), dict(self.call.kwargs), dict(self.call.meta)]
        return pack([self.calendar.to_spec(), call, self.missed, self.overlap], field="schedule")

    @classmethod
    def unpacked(cls, spec: bytes) -> Timetable:
        """PayloadError or ScheduleError for a spec that this version cannot read."""
        match unpack(spec):
            case [dict(calendar), [str(task), list(args), dict(kwargs), dict(meta)], "latest", "allow"]:
                call = Call(
                    task, tuple(args), cast("dict[str, object]", kwargs), cast("dict[str, object]", meta)
                )
                return cls(from_spec(cast("dict[str, object]", calendar)), call)
        raise PayloadError("schedule", spec[:64], "not a timetable of this version of redisched")


def call_of_slot(call: Call, schedule: str, slot_id: str, at_ms: int) -> Call:
    """What the job of a slot carries."""
    return replace(call, meta={**call.meta, "slot": [schedule, slot_id, at_ms]})


def check_size(call: Call, schedule: str) -> None:
    """PayloadError for a call that is too large to become a job, or would be with a slot of any date."""
    call_of_slot(call, schedule, *_LONGEST_SLOT).packed()


def checked_calendar(value: object) -> Calendar:
    if not isinstance(value, Cron | Every | At):
        raise ScheduleError("calendar", value, 'pass Cron("0 9 * * MON", tz=…), Every(minutes=5) or At(…)')
    return value


def checked_schedule_name(name: object) -> str:
    """`name` as the name of a schedule: 1-256 characters of any script, told apart by their code points."""
    if not isinstance(name, str) or not 1 <= len(name) <= NAME_CHARACTERS:
        raise ScheduleError("name", name, f"a schedule's name is a text of 1 to {NAME_CHARACTERS} characters")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ScheduleError("name", name, "a schedule's name holds no lone surrogate") from error
    return name


def checked_policies(missed: str, overlap: str) -> None:
    """This version keeps one policy of each kind."""
    if missed != "latest":
        raise ScheduleError(
            "missed", missed, "this version offers 'latest': only the newest missed slot runs"
        )
    if overlap != "allow":
        raise ScheduleError(
            "overlap", overlap, "this version offers 'allow': each slot runs, whatever still runs"
        )
