"""`redisched status`, `pause`, `resume`, `doctor`, and which server they are about."""

from __future__ import annotations

from tests.cli.command_line import CommandLine
from tests.conftest import ServerFactory
from tests.ops.yard import NAMESPACE, Yard
from tests.servers import TestServer
from tests.waiting import wait_for


def test_the_status_of_queues_is_counted(cli: CommandLine, yard: Yard) -> None:
    yard.ready("a", "b")
    yard.scheduled("c")

    one, other = cli("status", "default", "other", "--json").json
    assert (one["queue"], one["ready"], one["scheduled"], one["paused"]) == ("default", 2, 1, False)
    assert (other["queue"], other["ready"]) == ("other", 0)
    head, *table = cli("status").out.splitlines()
    assert yard.server.url.removeprefix("unix://") in head
    assert f"namespace {NAMESPACE}" in head
    assert table[1].split()[:3] == ["default", "1", "2"]


def test_a_job_unclaimed_for_too_long_is_trouble(cli: CommandLine, yard: Yard) -> None:
    yard.app.options(unclaimed_timeout="1ms").enqueue("yard.task")
    job = wait_for(
        lambda: [job for job in cli("jobs", "list", "--place", "unclaimed", "--json").json if job["alarm"]],
        what="the alarm",
    )

    assert len(job) == 1
    assert cli("status", "--json", code=1).json[0]["alarms"] == 1


def test_a_queue_is_paused_and_resumed(cli: CommandLine, yard: Yard) -> None:
    yard.ready("a")

    assert cli("pause", "default").line == "default: paused"
    assert cli("pause", "default").line == "default: was paused already"
    assert yard.claim(1) == []
    assert cli("status", "--json").json[0]["paused"] is True
    assert cli("resume", "default").line == "default: resumed"
    assert len(yard.claim(1)) == 1


def test_the_doctor_finds_no_trouble_on_a_fit_server(cli: CommandLine, yard: Yard) -> None:
    found = {one["check"]: one["level"] for one in cli("doctor", "--json").json}

    assert found["eviction"] == "ok"
    assert "fail" not in found.values()


def test_the_doctor_ends_with_1_where_a_check_fails(fresh_server: ServerFactory, bare: CommandLine) -> None:
    server = fresh_server(config=["maxmemory-policy allkeys-lru"])

    ran = bare("doctor", "--url", server.url, "--json", code=1)

    assert [one["check"] for one in ran.json if one["level"] == "fail"] == ["eviction"]
    said = bare("doctor", "--url", server.url, code=1).out
    assert "eviction: CONFIG SET maxmemory-policy noeviction" in said


def test_a_server_that_does_not_answer_is_one_line_of_trouble(bare: CommandLine) -> None:
    ran = bare("status", "--url", f"unix://{bare.folder}/none.sock", code=1)

    assert ran.error.startswith("redisched: ")
    assert "none.sock" in ran.error


def test_options_of_the_server_stand_before_or_behind_and_outrank_the_environment(
    bare: CommandLine, server: TestServer
) -> None:
    wrong = {"REDISCHED_URL": "redis://127.0.0.1:1", "REDISCHED_NAMESPACE": "wrong"}
    right = ["--url", server.url, "--namespace", "right"]

    behind = bare("status", *right, env=wrong).out
    before = bare(*right, "status", env=wrong).out

    assert before == behind
    assert "namespace right" in before


def test_an_option_of_a_command_can_be_set_in_the_environment(cli: CommandLine, yard: Yard) -> None:
    yard.ready("a", "b", "c")

    assert len(cli("jobs", "list", env={"REDISCHED_JOBS_LIST_LIMIT": "2", "REDISCHED_JSON": "1"}).json) == 2
