"""Every script touches only the keys that its call declares: seen by MONITOR, judged by COMMAND GETKEYS.

A key built inside a script would be in another slot of a cluster, and refused to a user limited by ACL.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import pytest

from redisched.core.record import Finish
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations import jobs, queues, schedules, turns
from redisched.store.operations.turns import Finished, Limits
from redisched.store.scripts import expanded, script_names
from tests.servers import TestServer
from tests.store.queue import new_job

T = TypeVar("T")

KEYS = Keyspace("test", "declared")
LEASE = timedelta(seconds=10)
NO_LEASE = timedelta()
SECOND = timedelta(seconds=1)
AT_ONCE = Limits(retention=timedelta(), dead_retention=timedelta(), window=timedelta())
REMEMBER = Limits(retention=timedelta(), dead_retention=timedelta())
KEEP = Limits()
FAR = 4_000_000_000_000

PLACES = ("scheduled", *(f"ready:{n}" for n in range(4)), "processing", "ended", "dead", "unclaimed")

_LINE = re.compile(rb"\+[\d.]+ \[\d+ (\S+)\] (.*)")
_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}


def unescaped(word: bytes) -> bytes:
    """A word as MONITOR prints it, with its bytes as they were."""

    def byte(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code[1:], 16)]) if code[:1] == b"x" else _ESCAPES.get(code, code)

    return re.sub(rb"\\(x[0-9a-f]{2}|.)", byte, word, flags=re.DOTALL)


class Monitor:
    """What the server runs, with where it comes from, up to a mark that we send."""

    def __init__(self, server: TestServer) -> None:
        self._client = server.client()
        self._marks = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(str(server.socket_path))
        self._file = self._socket.makefile("rb")
        self._socket.sendall(b"MONITOR\r\n")
        assert self._file.readline() == b"+OK\r\n"

    def seen(self) -> Iterator[tuple[bytes, list[bytes]]]:
        """The commands since the last mark: source (`lua` from within a script) and words."""
        self._marks += 1
        mark = f"mark {self._marks}"
        self._client.echo(mark)
        for line in self._file:
            found = _LINE.fullmatch(line.rstrip(b"\r\n"))
            assert found, line
            words = [unescaped(word) for word in _WORD.findall(found[2])]
            if words[-1] == mark.encode():
                return
            yield found[1], words

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@dataclass
class Watched:
    """Sends operations, and collects what their scripts touched undeclared."""

    executor: Executor
    server: TestServer
    monitor: Monitor
    undeclared: list[str]
    touched: dict[str, set[str]]

    def do(self, operation: Operation[T]) -> T:
        list(self.monitor.seen())
        reply = self.executor.send(operation)
        assert operation.script is not None
        touched: set[str] = set()
        for source, words in self.monitor.seen():
            if source == b"lua":
                touched.update(self._keys(words))
        self.touched.setdefault(operation.name, set()).update(touched)
        self.undeclared += [f"{operation.name}: {key}" for key in touched - set(operation.keys)]
        return reply

    def _keys(self, words: list[bytes]) -> list[str]:
        if words[0].upper() in {b"TIME", b"ECHO"}:
            return []
        return self.server.client().execute_command("COMMAND GETKEYS", *words)  # type: ignore[no-any-return, no-untyped-call]


@pytest.fixture
def watched(server: TestServer) -> Iterator[Watched]:
    executor = Executor(lambda: Address.parse(server.url), patience=Patience(0))
    monitor = Monitor(server)
    yield Watched(executor, server, monitor, [], {})
    monitor.close()
    executor.close()


def turn(
    watched: Watched,
    wanted: int = 0,
    finishes: list[Finished] | None = None,
    *,
    lease: timedelta = LEASE,
    limits: Limits = KEEP,
    turn_id: str = "",
    longest: timedelta = SECOND,
) -> turns.Turn:
    return watched.do(
        turns.turn(
            KEYS,
            worker="w1",
            turn_id=turn_id or f"t{len(watched.touched)}{wanted}{finishes}{lease}{limits}",
            wanted=wanted,
            finishes=finishes or [],
            lease=lease,
            longest_wait=longest,
            limits=limits.packed(),
        )
    )


def a_working_day(watched: Watched) -> None:
    """Drive every script through every path that leads to other keys."""
    do = watched.do
    every_option = new_job(
        "all", priority=0, expires_ms=5_000, unclaimed_ms=5, retention_ms=50, unique="key", delay_ms=0
    )
    many = [new_job(f"j{i}", priority=i % 4, unique=f"u{i}", unclaimed_ms=1) for i in range(12)]
    later = [new_job("later", at_ms=FAR, unique="later"), new_job("soon", delay_ms=1)]
    plain = [new_job(f"plain\0{i}\n", b"\0\xff\n") for i in range(4)]
    expired = new_job("expired", at_ms=1, expires_ms=1, unique="expired")
    do(jobs.enqueue(KEYS, [every_option, *many, *later, *plain, expired]))
    do(jobs.enqueue(KEYS, [every_option, new_job("other", unique="key")]))
    do(turns.enlist(KEYS, worker="w1", about=b"me"))
    claimed = turn(watched, 30, turn_id="first").claimed
    turn(watched, 30, turn_id="first")
    do(turns.extend(KEYS, worker="w1", lease=LEASE, runs=[(c.id, c.version) for c in claimed]))
    do(jobs.cancel(KEYS, claimed[0].id))
    kinds = list(Finish)
    finishes = [Finished(c.id, c.version, kinds[i % len(kinds)]) for i, c in enumerate(claimed)]
    turn(watched, 0, [*finishes, Finished("stale", 1, Finish.DEAD)])
    for place in PLACES:
        do(jobs.list_jobs(KEYS, place))
        do(jobs.sweep(KEYS, place))
    # recovery, at first as suspects, then as dead
    for n in range(4):
        turn(watched, 3, lease=NO_LEASE, turn_id=f"lapses {n}")
    # corrupt and foreign things
    client = watched.server.client()
    client.hset(KEYS.key("state"), "j1", b"torn")
    client.hset(KEYS.key("jobs"), "j2", b"torn")
    for place in ("processing", "scheduled"):
        client.zadd(KEYS.key(place), {"foreign": 0, "j1": 1, "j2": 2})
    client.rpush(KEYS.key("ready:1"), "foreign")
    turn(watched, 100, lease=NO_LEASE, turn_id="corrupt")
    # single jobs
    do(jobs.enqueue(KEYS, [new_job("one", unique="one", unclaimed_ms=1), new_job("two", at_ms=FAR)]))
    for at_ms in (FAR, None):
        do(jobs.reschedule(KEYS, "one", at_ms=at_ms))
    for short in ("one", "two", "nobody"):
        do(jobs.cancel(KEYS, short))
        do(jobs.look(KEYS, short))
        do(jobs.revive(KEYS, short))
    do(jobs.cancel(KEYS, "two"))
    do(jobs.discard(KEYS, ["one"], timedelta()))
    do(jobs.discard(KEYS, ["two"], LEASE))
    # a job that is processing without a lease
    turn(watched, 1, turn_id="loses its lease")
    client.delete(KEYS.key("processing"))
    do(turns.audit(KEYS, every=timedelta()))
    timetables(watched)
    # retention, with and without tombstones
    ended = turn(watched, 50, turn_id="last").claimed
    turn(watched, 0, [Finished(c.id, c.version, Finish.SUCCEEDED) for c in ended], limits=REMEMBER)
    do(turns.prune(KEYS, limits=REMEMBER.packed()))
    do(turns.prune(KEYS, limits=Limits(retained_jobs=0, dead_jobs=0).packed()))
    client.zadd(KEYS.key("tombstones"), {"old": 0})
    turn(watched, 0, limits=AT_ONCE, turn_id="prunes")
    do(queues.pause(KEYS))
    turn(watched, 5, turn_id="paused")
    do(queues.resume(KEYS))
    turn(watched, 1, turn_id="goes on", longest=timedelta())
    do(queues.status(KEYS))
    client.zadd(KEYS.key("workers"), {"long gone": 0})
    do(turns.leave(KEYS, worker="w1"))


def timetables(watched: Watched) -> None:
    """Everything that is done with schedules."""
    do = watched.do
    for spec in (b"one", b"one", b"two"):
        put = schedules.put_schedule(KEYS, "a:b", spec=spec, after_ms=0, next_ms=1, wall="2027")
        do(put)
    page = do(schedules.list_schedules(KEYS, name="a:b"))
    do(schedules.list_schedules(KEYS))
    kept = schedules.Definition.unpacked(page.rows[0].definition)
    turn(watched, 1, turn_id="due")
    slots = [
        schedules.SlotToFire(
            name="a:b",
            incarnation=kept.incarnation,
            revision=kept.revision,
            slot_id=str(at_ms),
            at_ms=at_ms,
            wall="",
            next_ms=next_ms,
            job=job,
        )
        for at_ms, next_ms, job in [
            (2, 3, new_job("fired", unique="slot", unclaimed_ms=1)),
            (2, 4, new_job("lost")),
            (3, 5, None),
            (6, None, new_job("fired later", at_ms=FAR)),
        ]
    ]
    do(schedules.fire(KEYS, slots))
    do(schedules.postpone(KEYS, "a:b", SECOND))
    put = schedules.put_schedule(KEYS, "a:b", spec=b"three", after_ms=0, next_ms=FAR, wall="")
    do(put)
    do(schedules.postpone(KEYS, "a:b", SECOND))
    do(schedules.remove_schedule(KEYS, "a:b"))


def test_scripts_touch_declared_keys_only(watched: Watched) -> None:
    a_working_day(watched)
    assert watched.undeclared == []
    # Or this would look at too little.
    assert sorted(watched.touched) == script_names()
    assert watched.touched["turn"] == {KEYS.key(part) for part in expanded("turn").keys}


def test_a_script_that_builds_a_key_is_found_out(watched: Watched) -> None:
    """The test of the test: the same way of looking, on a script that does what none may do."""
    text = "#!lua\n-- bad: builds a key.\n--\n-- KEYS\n--   stats  hash  counters\n-- RETURNS\n--   1\n--\n"
    text += "redis.call('HSET', K.stats, 'a', 1)\n"
    text += "redis.call('SET', 'rs:{test:' .. 'built', 1, 'PX', 99)\nreturn 1"
    bad = expanded("bad", {"bad.lua": text})
    operation = Operation("bad", lambda reply: reply, bad, (KEYS.key("stats"),))
    watched.do(operation)
    assert watched.undeclared == ["bad: rs:{test:built"]
    watched.undeclared.clear()
    watched.do(replace(operation, keys=(KEYS.key("stats"), "rs:{test:built")))
    assert watched.undeclared == []
