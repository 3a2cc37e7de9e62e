"""The doctor against real servers: fit ones, and unfit in one respect each."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from redisched.app.backend import Backend
from redisched.ops.doctor import examine, startup_findings
from redisched.ops.findings import Finding, Level, failures
from tests.conftest import ServerFactory
from tests.faults.clock import Clock
from tests.ops.yard import Yard
from tests.servers import TestServer, free_port
from tests.waiting import wait_for

Examine = Callable[[str], dict[str, Finding]]


@pytest.fixture
def diagnosed() -> Examine:
    """Examine the server at a URL; its findings by the name of the check."""

    def look(url: str) -> dict[str, Finding]:
        backend = Backend(url, "ward", call_seconds=1.0)
        with closing(backend):
            return {one.check: one for one in examine(backend.executor().send, "ward")}

    return look


def ask(server: TestServer, *words: str) -> Any:
    return server.client(decode=True).execute_command(*words)  # type: ignore[no-untyped-call]


def levels(findings: dict[str, Finding]) -> dict[str, str]:
    return {name: one.level.value for name, one in findings.items()}


CHECKS = ("version", "role", "eviction", "scripts", "rights", "persistence", "memory", "clock")
FINE = dict.fromkeys(CHECKS, "ok")


def test_a_fit_server_passes_every_check_and_nothing_is_left_on_it(
    fresh_server: ServerFactory, diagnosed: Examine
) -> None:
    server = fresh_server(appendfsync="always", config=["maxmemory 1gb"])

    found = diagnosed(server.url)

    assert levels(found) == FINE
    assert server.engine.version in found["version"].what
    assert "power cut" in found["persistence"].what
    assert server.client().dbsize() == 0


def test_a_server_that_keeps_nothing_is_warned_of(server: TestServer, diagnosed: Examine) -> None:
    found = diagnosed(server.url)

    assert levels(found) == FINE | {"persistence": "warn"}
    assert "every job is lost" in found["persistence"].what


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_an_evicting_server_fails(fresh_server: ServerFactory, diagnosed: Examine, policy: str) -> None:
    found = diagnosed(fresh_server(config=[f"maxmemory-policy {policy}"]).url)

    assert levels(found) == FINE | {"persistence": "warn", "eviction": "fail"}
    assert policy in found["eviction"].what
    assert "noeviction" in found["eviction"].way_out


def test_a_worker_is_refused_by_an_evicting_server_unless_it_is_allowed(fresh_server: ServerFactory) -> None:
    yard = Yard(fresh_server(config=["maxmemory-policy allkeys-lru"]))

    def start(*, allowed: bool) -> list[Finding]:
        return startup_findings(yard.send, "ward", ["a", "b"], evicting_allowed=allowed)

    assert [one.check for one in failures(start(allowed=False))] == ["eviction"]
    assert failures(start(allowed=True)) == []
    assert {one.level for one in start(allowed=True) if one.check == "eviction"} == {Level.WARN}
    yard.close()


def test_a_full_server_fails(fresh_server: ServerFactory, diagnosed: Examine) -> None:
    server = fresh_server()
    client = server.client()
    client.set("ballast", b"x" * 1024 * 1024)
    client.config_set("maxmemory", "1mb")

    found = diagnosed(server.url)

    assert found["memory"].level is Level.FAIL
    assert "jobs are refused" in found["memory"].what


def test_a_replica_fails_and_names_its_primary(fresh_server: ServerFactory, diagnosed: Examine) -> None:
    primary = fresh_server(tcp=True)
    replica = fresh_server(tcp=True, config=[f"replicaof 127.0.0.1 {primary.port}"])

    found = diagnosed(replica.url)

    assert found["role"].level is Level.FAIL
    assert f"127.0.0.1:{primary.port}" in found["role"].what
    assert levels(diagnosed(primary.url))["role"] == "ok"


@pytest.fixture
def limited(fresh_server: ServerFactory) -> Callable[..., str]:
    """The URL of a fresh server for a user with these rights on our keys."""

    def make(*rights: str) -> str:
        server = fresh_server(tcp=True)
        ask(server, "ACL", "SETUSER", "us", "on", ">secret", "~rs:{ward:*", *rights)
        return f"redis://us:secret@127.0.0.1:{server.port}"

    return make


def test_a_user_who_may_not_ask_gets_warnings_and_no_failure(
    limited: Callable[..., str], diagnosed: Examine
) -> None:
    found = diagnosed(limited("+@all", "-config", "-info", "-acl", "-command"))

    assert not failures(found.values())
    told = {name: level for name, level in levels(found).items() if level == "warn"}
    assert told == dict.fromkeys(["version", "role", "eviction", "rights", "persistence", "memory"], "warn")
    assert all(
        "cannot" in one.what or "may not" in one.what for one in found.values() if one.level is Level.WARN
    )


def test_without_config_the_policy_is_read_from_info(limited: Callable[..., str], diagnosed: Examine) -> None:
    found = diagnosed(limited("+@all", "-config"))

    assert levels(found) == FINE | {"persistence": "warn"}


def test_a_user_who_may_not_load_scripts_fails(limited: Callable[..., str], diagnosed: Examine) -> None:
    found = diagnosed(limited("+@all", "-script"))

    assert found["scripts"].level is Level.FAIL
    assert "NOPERM" in found["scripts"].what
    assert "+script|load" in found["scripts"].way_out


def test_a_user_who_may_not_run_what_the_scripts_call_fails(
    limited: Callable[..., str], diagnosed: Examine
) -> None:
    found = diagnosed(limited("+@all", "-zadd", "-ltrim"))

    assert found["scripts"].level is Level.OK
    assert found["rights"].level is Level.FAIL
    assert found["rights"].way_out == "ACL SETUSER us +ltrim +zadd"


def test_a_user_without_rights_on_our_keys_fails(fresh_server: ServerFactory, diagnosed: Examine) -> None:
    server = fresh_server(tcp=True)
    ask(server, "ACL", "SETUSER", "us", "on", ">secret", "~other:*", "+@all")

    found = diagnosed(f"redis://us:secret@127.0.0.1:{server.port}")

    assert {found["scripts"].level, found["rights"].level} == {Level.FAIL}


@pytest.mark.parametrize(("step_ms", "words"), [(90_000, "ahead of"), (-90_000, "behind")])
def test_a_clock_gap_is_warned_of(
    fresh_server: ServerFactory, clock: Clock, diagnosed: Examine, step_ms: int, words: str
) -> None:
    server = fresh_server(env=clock.env())
    assert levels(diagnosed(server.url))["clock"] == "ok"

    clock.step(step_ms)
    found = diagnosed(server.url)

    assert found["clock"].level is Level.WARN
    assert words in found["clock"].what


def test_a_cluster_is_said_to_be_one(fresh_server: ServerFactory, diagnosed: Examine) -> None:
    server = fresh_server(tcp=True, config=["cluster-enabled yes", f"cluster-port {free_port()}"])
    ask(server, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    wait_for(lambda: "cluster_state:ok" in ask(server, "CLUSTER", "INFO"), what="the cluster")

    found = diagnosed(server.url)

    assert levels(found) == FINE | {"persistence": "warn", "cluster": "warn"}


def test_a_server_that_is_not_there_is_the_only_finding(
    fresh_server: ServerFactory, diagnosed: Examine
) -> None:
    server = fresh_server()
    server.kill()

    found = diagnosed(server.url)

    assert levels(found) == {"server": "fail"}


def test_a_wrong_password_is_found_at_once(fresh_server: ServerFactory, diagnosed: Examine) -> None:
    server = fresh_server(tcp=True)
    server.client().config_set("requirepass", "secret")
    started = time.monotonic()

    found = diagnosed(f"redis://:wrong@127.0.0.1:{server.port}")

    assert time.monotonic() - started < 1.0
    assert levels(found) == {"server": "fail"}
    assert "password" in found["server"].what
