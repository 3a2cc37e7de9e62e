"""A queue on a real server, under a clock that only the test moves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Final, TypeVar, cast

import redis

from redisched.core.record import Finish, Record, Status
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations.jobs import Look, NewJob, Stored, enqueue, look
from redisched.store.operations.queues import QueueStatus, status
from redisched.store.operations.turns import Claimed, Finished, Limits, Turn, turn
from redisched.store.scripts import Script, expanded
from tests.servers import TestServer

T = TypeVar("T")

CLOCK: Final = "clock"
CLOCK_LUA: Final = f"local NOW = tonumber(redis.call('GET', '{CLOCK}'))"
NOON: Final = 1_800_000_000_000
LEASE: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(seconds=5)
HOUR: Final = 3_600_000
PLACES: Final = {Status.WAITING: "waiting", Status.PROCESSING: "processing", Status.DEAD: "dead"}


@cache
def clocked(name: str) -> Script:
    """The script as shipped, but for its clock."""
    return expanded(name, {"lib/now.lua": CLOCK_LUA})


def under_clock(operation: Operation[T]) -> Operation[T]:
    """`operation` with the test's clock instead of the server's."""
    return replace(operation, script=clocked(operation.script.name)) if operation.script else operation


def new_job(
    id: str,  # noqa: A002 - the field's name
    body: bytes = b"body",
    *,
    at_ms: int | None = None,
    delay_ms: int = 0,
    priority: int = 1,
    expires_ms: int | None = None,
    unclaimed_ms: int | None = None,
    retention_ms: int | None = None,
    unique: str | None = None,
) -> NewJob:
    """A job with nothing special about it."""
    return NewJob(
        id=id,
        body=body,
        at_ms=at_ms,
        delay_ms=delay_ms,
        priority=priority,
        expires_ms=expires_ms,
        unclaimed_ms=unclaimed_ms,
        retention_ms=retention_ms,
        unique=unique,
    )


@dataclass
class Queue:
    """Sends operations to one queue. `now_ms` is its clock; `tampered`: the test broke it on purpose."""

    server: TestServer
    keyspace: Keyspace = field(default_factory=lambda: Keyspace("test", "store"))
    tampered: bool = False
    now_ms: int = 0
    _turns: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.redis: redis.Redis = self.server.client()
        self.executor = Executor(lambda: Address.parse(self.server.url), patience=Patience(0))
        self.at(NOON)

    def at(self, now_ms: int) -> None:
        """Set the clock."""
        self.now_ms = now_ms
        self.redis.set(CLOCK, now_ms, px=HOUR)

    def pass_ms(self, ms: int) -> None:
        """Let time pass."""
        self.at(self.now_ms + ms)

    def do(self, operation: Operation[T]) -> T:
        return self.executor.send(under_clock(operation))

    def key(self, part: str) -> str:
        return self.keyspace.key(part)

    def enqueue(self, *jobs: NewJob | str) -> list[Stored]:
        """Store jobs; a text is the id of a job with nothing special about it."""
        return self.do(enqueue(self.keyspace, [new_job(j) if isinstance(j, str) else j for j in jobs]))

    def turn(
        self,
        wanted: int = 0,
        finishes: Sequence[Finished] = (),
        *,
        worker: str = "w1",
        turn_id: str | None = None,
        lease: timedelta = LEASE,
        longest: timedelta = timedelta(),
        limits: Limits | None = None,
    ) -> Turn:
        """A turn of a worker, new unless `turn_id` is given."""
        return self.do(
            turn(
                self.keyspace,
                worker=worker,
                turn_id=turn_id or f"t{next(self._turns)}",
                wanted=wanted,
                finishes=finishes,
                lease=lease,
                longest_wait=longest,
                limits=(limits or Limits()).packed(),
            )
        )

    def claim(self, wanted: int = 1, *, worker: str = "w1") -> list[Claimed]:
        return list(self.turn(wanted, worker=worker).claimed)

    def claim_one(self, id: str | None = None, *, worker: str = "w1") -> Claimed:  # noqa: A002 - the field's name
        """Claim one job; where `id` is given it is stored first, for now."""
        if id is not None:
            self.enqueue(id)
        (claimed,) = self.claim(1, worker=worker)
        return claimed

    def finish(
        self,
        claimed: Claimed,
        kind: Finish,
        *,
        delay_ms: int = 0,
        reason: str = "",
        outcome: bytes = b"",
        limits: Limits | None = None,
    ) -> Turn:
        """Say what became of a claimed job."""
        done = Finished(claimed.id, claimed.version, kind, delay_ms, reason, outcome)
        return self.turn(0, [done], limits=limits)

    def look(self, short: str) -> Look:
        return self.do(look(self.keyspace, short))

    def record(self, short: str) -> Record:
        found = self.look(short).record
        assert found is not None
        return found

    def status(self) -> QueueStatus:
        return self.do(status(self.keyspace))

    # -- what is stored, past all scripts

    def hash(self, part: str) -> dict[bytes, bytes]:
        return cast("dict[bytes, bytes]", self.redis.hgetall(self.key(part)))

    def zset(self, part: str) -> dict[bytes, int]:
        """Members and scores, the lowest score first."""
        rows = self.redis.zrange(self.key(part), 0, -1, withscores=True)
        return {member: int(score) for member, score in cast("list[tuple[bytes, float]]", rows)}

    def entries(self, priority: int = 1) -> list[bytes]:
        return cast("list[bytes]", self.redis.lrange(self.key(f"ready:{priority}"), 0, -1))

    def ready(self, priority: int = 1) -> list[str]:
        """The ids in a ready list, stale entries among them."""
        return [entry.partition(b":")[2].decode() for entry in self.entries(priority)]

    def counter(self, name: str) -> int:
        return int(self.hash("stats").get(name.encode(), 0))

    def unique_holder(self, unique: str) -> str | None:
        holder = self.hash("unique").get(unique.encode())
        return None if holder is None else holder.decode()

    def problems(self) -> list[str]:
        """What does not hold of the queue as a whole; empty when all is well."""
        return [] if self.tampered else list(_problems(self))


def _problems(queue: Queue) -> Iterator[str]:
    """Each job is where its record says, once, and nothing is where no record says."""
    bodies, states, unique = queue.hash("jobs"), queue.hash("state"), queue.hash("unique")
    records = {job: _record(body, states.get(job)) for job, body in bodies.items() if len(body) > 1}
    entries = [*queue.zset("scheduled"), *(entry for n in range(4) for entry in queue.entries(n))]
    shelves = {name: set(queue.zset(name)) for name in ("processing", "ended", "dead")}
    for job, record in records.items():
        yield from _misplaced(job, record, entries, shelves)
        yield from _unique_problems(unique, job, record)
    for name, members in shelves.items():
        yield from (f"{name} holds {job!r}, which is no job" for job in members - records.keys())
    yield from (f"{job!r} has a state and no body" for job in states.keys() - records.keys())
    waiting = {job for job, record in records.items() if record.status is Status.WAITING}
    if len(entries) - len(waiting) != queue.counter("stale"):
        yield f"{len(entries)} entries of {len(waiting)} jobs, and {queue.counter('stale')} counted as stale"
    tombstones = set(queue.zset("tombstones"))
    if tombstones != bodies.keys() - records.keys():
        yield f"tombstones {tombstones} are not those among the bodies"
    watched = set(queue.zset("unclaimed"))
    yield from (f"{job!r} is watched for being unclaimed, and does not wait" for job in watched - waiting)


def _record(body: bytes, state: bytes | None) -> Record:
    return Record.of_head(body) if state is None else Record.of_state(state)


def _misplaced(
    job: bytes, record: Record, entries: list[bytes], shelves: dict[str, set[bytes]]
) -> Iterator[str]:
    # In a ready list the entry of a job that has ended may still be there: it is stale.
    entry = b"%d%d:%s" % (record.priority, record.generation, job)
    waiting = entries.count(entry) if record.status is Status.WAITING else 0
    found = ["waiting"] * waiting + [name for name in shelves if job in shelves[name]]
    if found != [PLACES.get(record.status, "ended")]:
        yield f"{job!r} is {record.status.name} and found in {found}"


def _unique_problems(unique: dict[bytes, bytes], job: bytes, record: Record) -> Iterator[str]:
    holder = unique.get(record.unique.encode())
    expected = bool(record.unique) and record.status in {Status.WAITING, Status.PROCESSING}
    if (holder == job) != expected:
        yield f"{job!r} is {record.status.name}, and {holder!r} holds its unique key {record.unique!r}"
