"""What is asked of timetables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import cast

import msgpack

from redisched.core.errors import PayloadError
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, call
from redisched.store.operations.jobs import NewJob
from redisched.store.packing import for_lua
from redisched.store.reading import as_bytes, as_int, as_list, as_optional_int, as_text, in_rows

SLOT_KEPT = timedelta(days=1)


class Put(IntEnum):
    """What `put_schedule` came to."""

    UNCHANGED = 0
    CREATED = 1
    EDITED = 2


class Fired(IntEnum):
    """What became of a slot. LOST: another instance fired it, or the schedule changed; that is no error."""

    LOST = 0
    FIRED = 1
    PASSED_OVER = 2


@dataclass(frozen=True, slots=True)
class Definition:
    """A schedule as stored; `spec` is opaque."""

    incarnation: int
    revision: int
    paused: bool
    last_slot_ms: int
    last_wall: str
    fired: int
    spec: bytes

    @classmethod
    def unpacked(cls, value: bytes) -> Definition:
        """PayloadError where the bytes are not a definition."""
        try:
            parts = cast("object", msgpack.unpackb(value, raw=True))
        except ValueError as error:
            raise PayloadError("definition", value[:64], f"not a definition ({error})") from error
        match parts:
            case [int(a), int(b), int(c), int(d), bytes(wall), int(f), bytes(spec)]:
                return cls(a, b, c == 1, d, wall.decode("utf-8", "backslashreplace"), f, spec)
        raise PayloadError("definition", value[:64], "not a definition of this version of redisched")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotToFire:
    """A slot to turn into a job. `job` None: it is passed over, and counted under `counter`."""

    name: str
    incarnation: int
    revision: int
    slot_id: str
    at_ms: int
    wall: str
    next_ms: int | None
    job: NewJob | None
    counter: str = "passed_over"

    def row(self) -> list[object]:
        job = self.job.row() if self.job else False
        next_slot = False if self.next_ms is None else self.next_ms
        return [self.name, self.revision, self.at_ms, self.wall, next_slot, job, self.counter]


def put_schedule(
    keyspace: Keyspace, name: str, *, spec: bytes, after_ms: int, next_ms: int | None, wall: str
) -> Operation[Put]:
    """Create or edit; `wall` is the cursor of an edited schedule."""
    slot = "" if next_ms is None else next_ms
    return call(
        "put_schedule",
        keyspace,
        lambda r: Put(as_int(r)),
        name=name,
        spec=spec,
        after=after_ms,
        next=slot,
        wall=wall,
    )


def remove_schedule(keyspace: Keyspace, name: str) -> Operation[bool]:
    """Whether there was one."""
    return call("remove_schedule", keyspace, lambda reply: reply == 1, name=name)


def fire(
    keyspace: Keyspace, slots: Sequence[SlotToFire], *, keep: timedelta = SLOT_KEPT
) -> Operation[list[Fired]]:
    """Turn slots into jobs, each at most once."""
    tail = tuple(keyspace.slot(slot.name, slot.incarnation, slot.slot_id) for slot in slots)

    def read(reply: object) -> list[Fired]:
        return [Fired(as_int(code)) for code in as_list(reply)]

    rows = for_lua([slot.row() for slot in slots])
    return call("fire", keyspace, read, tail=tail, slots=rows, keep=keep // timedelta(milliseconds=1))


def postpone(keyspace: Keyspace, name: str, by: timedelta) -> Operation[bool]:
    """A schedule that cannot be read steps aside."""
    return call("postpone", keyspace, lambda r: r == 1, name=name, by=by // timedelta(milliseconds=1))


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A schedule in a listing; `definition` empty where it is gone."""

    name: str
    definition: bytes
    next_ms: int | None


@dataclass(frozen=True, slots=True)
class SchedulePage:
    """Part of the schedules; `cursor` 0: the last part."""

    now_ms: int
    cursor: int
    rows: tuple[ScheduleRow, ...]


def list_schedules(
    keyspace: Keyspace, *, name: str = "", cursor: int = 0, limit: int = 100
) -> Operation[SchedulePage]:
    """One schedule by name, or a page of all."""
    return call("list_schedules", keyspace, _page, name=name, cursor=cursor, limit=limit)


def _page(reply: object) -> SchedulePage:
    now, cursor, *rest = as_list(reply)
    rows = (ScheduleRow(as_text(a), as_bytes(b), as_optional_int(c)) for a, b, c in in_rows(rest, 3))
    return SchedulePage(as_int(now), as_int(cursor), tuple(rows))
