"""What workers do: one round trip to finish, recover, promote, claim; and to keep what they hold."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from redisched.core import config
from redisched.core.record import HEAD_BYTES, Finish, Flags
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, call
from redisched.store.packing import for_lua
from redisched.store.reading import as_bytes, as_int, as_list, as_text, in_rows

_SUSPECT: Final = int(Flags.SUSPECT)
_STATE: Final = struct.Struct(">2x6s7xII6s6s6s6xB18x")


class Claimed(NamedTuple):
    """A job under this worker's lease. Times in ms of the server's clock; `body` is opaque."""

    id: str
    version: int
    attempts: int
    deliveries: int
    created_ms: int
    due_ms: int
    claimed_ms: int
    flags: int
    body: bytes
    outcome: bytes

    @property
    def suspect(self) -> bool:
        """Whether a worker was lost with it: it is to run apart from the others."""
        return bool(self.flags & _SUSPECT)


class Finished(NamedTuple):
    """What a worker says of a job it claimed."""

    id: str
    version: int
    kind: Finish
    delay_ms: int = 0
    reason: str = ""
    outcome: bytes = b""


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule that has a slot now, as it is stored."""

    name: str
    definition: bytes


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn came to. `wait_ms`: how long to wait where there is nothing more to do now. `corrupt`:
    jobs that could not be read and are dead now, (id, what is wrong) each.
    """

    now_ms: int
    more: bool
    wait_ms: int
    refused: tuple[str, ...]
    claimed: tuple[Claimed, ...]
    due: tuple[DueSchedule, ...]
    corrupt: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a turn may do and what it keeps; counts, and durations."""

    budget: int = config.TURN_ELEMENTS
    retention: timedelta = config.RETENTION
    dead_retention: timedelta = config.DEAD_RETENTION
    retained_jobs: int = config.RETAINED_JOBS
    dead_jobs: int = config.DEAD_JOBS
    window: timedelta = config.IDEMPOTENCY_WINDOW
    max_deliveries: int = config.MAX_DELIVERIES
    overdue: timedelta = config.TIMER_OVERDUE
    schedules: int = 50

    def packed(self) -> bytes:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return for_lua({k: _ms(v) if isinstance(v, timedelta) else v for k, v in plain.items()})


def turn(
    keyspace: Keyspace,
    *,
    worker: str,
    turn_id: str,
    wanted: int,
    finishes: Sequence[Finished],
    lease: timedelta,
    longest_wait: timedelta,
    limits: bytes,
) -> Operation[Turn]:
    """One turn; the same `turn_id` again gives the same claims. A worker counts its turns: one whose number
    is below the last one's came too late and does nothing. `longest_wait` 0: no wait will follow.
    """
    return call(
        "turn",
        keyspace,
        _turn,
        worker=worker,
        turn=turn_id,
        wanted=wanted,
        lease=_ms(lease),
        longest=_ms(longest_wait),
        finishes=for_lua(finishes),
        limits=limits,
    )


def _turn(reply: object) -> Turn:
    now, more, wait, refused, claims, due, corrupt = as_list(reply)
    return Turn(
        as_int(now),
        more == 1,
        as_int(wait),
        tuple(as_text(item) for item in as_list(refused)),
        tuple(_claimed(*row) for row in in_rows(claims, 3)),
        tuple(DueSchedule(as_text(name), as_bytes(definition)) for name, definition in in_rows(due, 2)),
        tuple((as_text(short), as_text(fault)) for short, fault in in_rows(corrupt, 2)),
    )


def _claimed(short: object, body: object, state: object) -> Claimed:
    stored = as_bytes(state)
    version, attempts, deliveries, created, due, claimed, flags = _STATE.unpack_from(stored)
    number = int.from_bytes
    return Claimed(
        as_text(short),
        number(version, "big"),
        attempts,
        deliveries,
        number(created, "big"),
        number(due, "big"),
        number(claimed, "big"),
        flags,
        as_bytes(body)[HEAD_BYTES:],
        stored[_outcome_at(stored) :],
    )


def _outcome_at(state: bytes) -> int:
    """Where the outcome starts: behind worker, reason and unique key, each with its length before it."""
    at = _STATE.size
    at += 1 + state[at]
    at += 1 + state[at]
    return at + 2 + int.from_bytes(state[at : at + 2], "big") + 4


class Extension(NamedTuple):
    """What became of a lease: 1 extended, 2 extended and asked to stop, 0 lost."""

    extended: bool
    stop: bool


def extend(
    keyspace: Keyspace, *, worker: str, lease: timedelta, runs: Sequence[tuple[str, int]]
) -> Operation[list[Extension]]:
    """Keep claimed jobs, (id, version) each."""

    def read(reply: object) -> list[Extension]:
        return [Extension(code != 0, code == 2) for code in as_list(reply)]

    return call("extend", keyspace, read, worker=worker, lease=_ms(lease), runs=for_lua(runs))


def enlist(
    keyspace: Keyspace, *, worker: str, about: bytes, forget: timedelta = timedelta(minutes=1)
) -> Operation[int]:
    """Say who this worker is; how many long-gone workers were forgotten."""
    return call("enlist", keyspace, as_int, worker=worker, about=about, forget=_ms(forget), limit=100)


def leave(keyspace: Keyspace, *, worker: str) -> Operation[int]:
    """This worker takes no more turns: its record goes, and what it watched is handed on."""
    return call("enlist", keyspace, as_int, worker=worker, about=b"", forget=60_000, limit=100)


class Audit(NamedTuple):
    """How many jobs were mended, and how many records looked at."""

    mended: int
    looked_at: int


def audit(keyspace: Keyspace, *, every: timedelta, limit: int = 300) -> Operation[Audit]:
    """Walk a part of the records; does nothing where another walked less than `every` ago."""
    return call("audit", keyspace, lambda r: Audit(*map(as_int, as_list(r))), every=_ms(every), limit=limit)


def prune(keyspace: Keyspace, *, limits: bytes, limit: int = 500) -> Operation[int]:
    """Drop what is past its retention; how many were dropped."""
    return call("prune", keyspace, as_int, limits=limits, limit=limit)


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
