"""What is judged: facts in, findings out. No check asks the server."""

from __future__ import annotations

from typing import Final

from redisched.ops.facts import COMMANDS_OF_7, Facts
from redisched.ops.findings import Finding, fail, ok, warn

CLOCK_GAP_MS: Final = 1_000
NEARLY_FULL: Final = 0.9
_NOEVICTION: Final = "CONFIG SET maxmemory-policy noeviction, in the server's configuration too"
_APPEND: Final = "set appendonly yes, and appendfsync always where no accepted job may be lost"
_ASK: Final = "let this user ask (+info, +config|get), or look at the server's configuration"


def version(facts: Facts) -> Finding:
    """By what the server can do: a reported version may be another product's."""
    if facts.commands is None:
        return warn(
            "version", f"{facts.name}; whether it has what 7.0 brought cannot be told", "+command|info"
        )
    missing = sorted(set(COMMANDS_OF_7) - facts.commands)
    if missing:
        what = f"{facts.name} is too old: it has no {', '.join(missing)}"
        return fail("version", what, "use Redis 7.0 or newer, or Valkey 7.2 or newer")
    return ok("version", facts.name)


def eviction(facts: Facts, *, evicting_allowed: bool = False) -> Finding:
    """An evicting server drops keys of ours when it is full: accepted jobs would be gone."""
    if facts.policy is None:
        return warn("eviction", "whether the server evicts keys cannot be told", _ASK)
    if facts.policy == "noeviction":
        return ok("eviction", "maxmemory-policy is noeviction: a full server refuses jobs and loses none")
    what = f"maxmemory-policy is {facts.policy}: a full server would drop accepted jobs"
    if evicting_allowed:
        return warn("eviction", f"{what}; allowed by --allow-eviction", _NOEVICTION)
    return fail("eviction", what, f"{_NOEVICTION}; or accept it with --allow-eviction")


def persistence(facts: Facts) -> Finding:
    """In words: what an accepted job survives."""
    appends = facts.config.get("appendonly") == "yes" or facts.info.get("aof_enabled") == "1"
    if not appends:
        return _snapshots(facts)
    if facts.info.get("aof_last_write_status", "ok") != "ok":
        what = "the server cannot write its append-only file, and refuses jobs"
        return fail("persistence", what, "make room on its disk; see the server's log")
    return _appending(facts.config.get("appendfsync"))


def _appending(fsync: str | None) -> Finding:
    if fsync == "always":
        return ok("persistence", "appendfsync always: an accepted job survives a crash and a power cut")
    if fsync == "everysec":
        what = "appendfsync everysec: an accepted job survives a crash; a power cut can lose the last 2 s"
        return ok("persistence", what)
    if fsync == "no":
        what = "appendfsync no: an accepted job survives a crash; a power cut can lose the last 30 s or more"
        return warn("persistence", what, _APPEND)
    what = "the append-only file is on; what it loses in a power cut cannot be told"
    return warn("persistence", what, _ASK)


def _snapshots(facts: Facts) -> Finding:
    if not facts.config and "aof_enabled" not in facts.info:
        return warn("persistence", "what an accepted job survives cannot be told", _ASK)
    saves = facts.config.get("save")
    if saves:
        what = f"snapshots only (save {saves}): a crash loses the jobs accepted since the last one"
    elif saves is None:
        what = "no append-only file: a crash loses jobs, how many cannot be told"
    else:
        what = "nothing is kept on disk: when the server ends, every job is lost"
    return warn("persistence", what, _APPEND)


def clocks(facts: Facts) -> Finding:
    """Jobs are due by the server's clock, so a wrong client's clock harms nobody but its reader's."""
    ahead = facts.server_ms - facts.answered_ms
    behind = facts.asked_ms - facts.server_ms
    gap = max(ahead, behind)
    if gap <= CLOCK_GAP_MS:
        return ok("clock", "this host's clock and the server's agree within 1 s")
    way = "ahead of" if ahead > 0 else "behind"
    what = f"the server's clock is {gap / 1000:.1f} s {way} this host's; jobs are due by the server's"
    return warn("clock", what, "run a time service (NTP) on both")


def role(facts: Facts) -> Finding:
    """A replica refuses writes, or worse: takes them and loses them at the next sync."""
    told = facts.info.get("role")
    if told is None:
        return warn("role", "whether this is a primary cannot be told", _ASK)
    if told == "master":
        return ok("role", f"a primary with {facts.info.get('connected_slaves', '0')} replicas")
    where = f"{facts.info.get('master_host', '?')}:{facts.info.get('master_port', '?')}"
    return fail("role", f"the server is a replica of {where}", "name the primary in the URL")


def cluster(facts: Facts) -> Finding | None:
    """None where the server is no cluster's."""
    if facts.info.get("cluster_enabled") != "1":
        return None
    what = (
        "cluster mode: all keys of a queue live on one node, and this version asks only the node it is given"
    )
    return warn("cluster", what, "name the node that has the queue's slot")


def memory(facts: Facts) -> Finding:
    """How near the server is to refusing jobs, or to being killed."""
    used, limit, machine = (
        _bytes(facts, name) for name in ("used_memory", "maxmemory", "total_system_memory")
    )
    if used is None:
        return warn("memory", "how much memory the server uses cannot be told", _ASK)
    if not limit:
        if machine and used > NEARLY_FULL * machine:
            what = f"{_mib(used)} of the machine's {_mib(machine)} used, and no maxmemory: it may be killed"
            return warn("memory", what, "set maxmemory, with maxmemory-policy noeviction")
        return ok("memory", f"{_mib(used)} used; no maxmemory, so the machine is the limit")
    what = f"{_mib(used)} of {_mib(limit)} used"
    if used >= limit:
        return fail(
            "memory", f"{what}: full, jobs are refused", "raise maxmemory, or purge what is not needed"
        )
    if used >= NEARLY_FULL * limit:
        return warn("memory", f"{what}: nearly full, jobs will be refused", "raise maxmemory")
    return ok("memory", what)


def _bytes(facts: Facts, name: str) -> int | None:
    value = facts.info.get(name, "")
    return int(value) if value.isdigit() else None


def _mib(count: int) -> str:
    return f"{count / 1024 / 1024:,.1f} MiB"
