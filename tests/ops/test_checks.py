"""What facts about a server lead to: no server is asked here."""

from __future__ import annotations

import pytest

from redisched import StoreMisconfiguredError
from redisched.ops import checks
from redisched.ops.facts import COMMANDS_OF_7, Facts
from redisched.ops.findings import Level, fail, ok, refuse, warn

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("config", "info", "level", "words"),
    [
        ({"appendonly": "yes", "appendfsync": "always"}, {}, Level.OK, "survives a crash and a power cut"),
        ({"appendonly": "yes", "appendfsync": "everysec"}, {}, Level.OK, "power cut can lose the last 2 s"),
        ({"appendonly": "yes", "appendfsync": "no"}, {}, Level.WARN, "30 s or more"),
        ({"appendonly": "no", "save": "3600 1"}, {}, Level.WARN, "accepted since the last one"),
        ({"appendonly": "no", "save": ""}, {}, Level.WARN, "every job is lost"),
        ({}, {"aof_enabled": "1"}, Level.WARN, "cannot be told"),
        ({}, {"aof_enabled": "0"}, Level.WARN, "a crash loses jobs"),
        ({}, {}, Level.WARN, "cannot be told"),
        ({"appendonly": "yes"}, {"aof_last_write_status": "err"}, Level.FAIL, "cannot write"),
    ],
)
def test_persistence_says_what_an_accepted_job_survives(
    config: dict[str, str], info: dict[str, str], level: Level, words: str
) -> None:
    found = checks.persistence(Facts(info, config))

    assert found.level is level
    assert words in found.what


@pytest.mark.parametrize(
    ("used", "limit", "machine", "level"),
    [
        (50, 0, 1_000, Level.OK),
        (950, 0, 1_000, Level.WARN),
        (50, 100, 1_000, Level.OK),
        (90, 100, 1_000, Level.WARN),
        (100, 100, 1_000, Level.FAIL),
    ],
)
def test_memory_is_judged_by_its_limit_or_else_by_the_machine(
    used: int, limit: int, machine: int, level: Level
) -> None:
    told = {"used_memory": used, "maxmemory": limit, "total_system_memory": machine}
    found = checks.memory(Facts({name: str(value * MIB) for name, value in told.items()}))

    assert found.level is level
    assert f"{used:,.1f} MiB" in found.what


@pytest.mark.parametrize(
    ("commands", "level"),
    [
        (frozenset(COMMANDS_OF_7), Level.OK),
        (frozenset(COMMANDS_OF_7[:1]), Level.FAIL),
        (frozenset(), Level.FAIL),
        (None, Level.WARN),
    ],
)
def test_a_version_is_judged_by_what_the_server_can_do(commands: frozenset[str] | None, level: Level) -> None:
    assert checks.version(Facts({"redis_version": "99.0"}, commands=commands)).level is level


@pytest.mark.parametrize(
    ("server_ms", "level", "words"),
    [
        (10_050, Level.OK, "agree"),
        (11_100, Level.OK, "agree"),
        (11_101, Level.WARN, "ahead of"),
        (9_000, Level.OK, "agree"),
        (8_500, Level.WARN, "1.5 s behind"),
    ],
)
def test_a_clock_gap_counts_only_beyond_what_the_question_took(
    server_ms: int, level: Level, words: str
) -> None:
    """The server answered at some time between 10,000 and 10,100 ms of our clock."""
    found = checks.clocks(Facts(asked_ms=10_000, server_ms=server_ms, answered_ms=10_100))

    assert found.level is level
    assert words in found.what


def test_what_the_server_did_not_tell_is_a_warning() -> None:
    nothing = Facts()

    judged = [checks.eviction(nothing), checks.role(nothing), checks.memory(nothing), checks.version(nothing)]

    assert {one.level for one in judged} == {Level.WARN}
    assert all("cannot be told" in one.what for one in judged)
    assert checks.cluster(nothing) is None


def test_only_what_failed_refuses_and_it_says_all_of_it() -> None:
    refuse([ok("a", "fine"), warn("b", "hm", "look")])

    with pytest.raises(StoreMisconfiguredError, match="bad: mend it; worse: mend that"):
        refuse([ok("a", "fine"), fail("c", "bad", "mend it"), fail("d", "worse", "mend that")])
