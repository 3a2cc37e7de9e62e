"""What is asked of a queue as a whole, and of its server."""

from __future__ import annotations

from dataclasses import dataclass

from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, call, command
from redisched.store.reading import as_bytes, as_int, as_list, as_optional_int, as_text, in_rows
from redisched.store.scripts import Script


def pause(keyspace: Keyspace) -> Operation[bool]:
    """Whether that changed anything."""
    return call("pause", keyspace, lambda reply: reply == 1, pause=1)


def resume(keyspace: Keyspace) -> Operation[bool]:
    """Whether that changed anything."""
    return call("pause", keyspace, lambda reply: reply == 1, pause=0)


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker seen lately; `about` is what it says of itself, packed."""

    id: str
    last_seen_ms: int
    about: bytes


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The counts of one queue at `now_ms`. `ready` leaves out entries whose generation is over."""

    now_ms: int
    scheduled: int
    ready: int
    processing: int
    ended: int
    dead: int
    alarms: int
    schedules: int
    paused: bool
    next_run_ms: int | None
    counters: dict[str, int]
    workers: tuple[WorkerRow, ...]


def status(keyspace: Keyspace, *, workers: int = 100) -> Operation[QueueStatus]:
    """Reads only; the newest `workers` of its workers."""
    return call("status", keyspace, _status, workers=workers)


def _status(reply: object) -> QueueStatus:
    items = as_list(reply)
    numbers = [as_int(item) for item in items[:12]]
    counters = {as_text(name): as_int(value) for name, value in in_rows(items[13], 2)}
    stale = max(0, counters.get("stale", 0))
    workers = tuple(WorkerRow(as_text(a), as_int(b), as_bytes(c)) for a, b, c in in_rows(items[14], 3))
    now, scheduled, *ready, processing, ended, dead, alarms, schedules, paused = numbers
    return QueueStatus(
        now_ms=now,
        scheduled=scheduled,
        ready=max(0, sum(ready) - stale),
        processing=processing,
        ended=ended,
        dead=dead,
        alarms=alarms,
        schedules=schedules,
        paused=paused == 1,
        next_run_ms=as_optional_int(items[12]),
        counters=counters,
        workers=workers,
    )


def wait(keyspaces: list[Keyspace], seconds: float) -> Operation[str | None]:
    """Block until one of the queues has a hint that work is there; the key, or None when the time is up.

    The server's timeout runs on its wall clock: the caller bounds the wait by its own.
    """
    keys = tuple(keyspace.key("wake") for keyspace in keyspaces)

    def read(reply: object) -> str | None:
        return None if reply is None else as_text(as_list(reply)[0])

    return command("BLPOP", read, *keys, f"{seconds:.3f}")


def server_time_ms() -> Operation[int]:
    """The server's clock."""

    def read(reply: object) -> int:
        seconds, micros = as_list(reply)
        return as_int(seconds) * 1000 + as_int(micros) // 1000

    return command("TIME", read)


def ping() -> Operation[bool]:
    return command("PING", lambda reply: reply == b"PONG")


def config_get(*names: str) -> Operation[dict[str, str]]:
    """The server's settings of those names; empty where CONFIG is not allowed to us."""
    return command("CONFIG GET", lambda reply: {as_text(k): as_text(v) for k, v in in_rows(reply, 2)}, *names)


def info(section: str) -> Operation[dict[str, str]]:
    """One section of INFO."""

    def read(reply: object) -> dict[str, str]:
        lines = as_text(reply).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))

    return command("INFO", read, section)


def arities(*names: str) -> Operation[dict[str, int]]:
    """The commands among `names` that the server has, with the count of words each takes (see COMMAND)."""

    def read(reply: object) -> dict[str, int]:
        known = [as_list(one) for one in as_list(reply) if one is not None]
        return {as_text(one[0]).upper(): as_int(one[1]) for one in known if one}

    return command("COMMAND INFO", read, *names)


def whoami() -> Operation[str]:
    """The user that this connection is."""
    return command("ACL WHOAMI", as_text)


def dry_run(user: str, name: str, arity: int, key: str) -> Operation[str]:
    """`OK`, or why `user` may not run the command on `key`. Nothing is run."""
    arguments = (key, *["0"] * abs(arity))[: abs(arity) - 1]
    return command("ACL DRYRUN", as_text, user, name, *arguments)


def load_script(script: Script) -> Operation[str]:
    """The digest under which the server keeps it; ScriptError where it cannot be compiled."""
    return command("SCRIPT LOAD", as_text, script.text)
