"""What the command line says of itself, without a server."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import CONSOLE_SCRIPT, MODULE, CommandLine

COMMANDS = [
    ["worker"],
    ["enqueue"],
    ["status"],
    ["pause"],
    ["resume"],
    ["doctor"],
    ["demo"],
    ["jobs", "list"],
    ["jobs", "reschedule"],
    ["dead", "purge"],
    ["schedules", "next"],
    ["server", "stop"],
]


def test_help_comes_in_300_ms(bare: CommandLine) -> None:
    """Of the processor's time, the best of five: how long others have it instead is not ours."""
    took = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        bare("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    assert min(took) <= 0.3


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_enough_is_nothing_to_talk_about(bare: CommandLine, unbuffered: str) -> None:
    """As `redisched jobs list | head -1`."""
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    reading, writing = os.pipe()
    os.close(reading)

    ended = subprocess.run(
        [*bare.way, "--version"], env=env, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
    )

    os.close(writing)
    assert ended.stderr == b""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(bare: CommandLine, command: list[str]) -> None:
    said = bare(*command, "--help").out

    assert said.startswith(f"Usage: redisched {' '.join(command)}")


def test_help_needs_neither_redis_py_nor_the_scheduler(bare: CommandLine) -> None:
    code = (
        "import sys; from redisched.cli.main import app; "
        "print(sorted({'redis', 'rich', 'asyncio', 'redisched.app'} & set(sys.modules)))"
    )
    python = CommandLine(bare.folder, bare.env, way=(sys.executable, "-c", code))

    assert python().line == "[]"


def test_both_ways_of_starting_are_the_same_command(bare: CommandLine) -> None:
    answers = [CommandLine(bare.folder, bare.env, way)("--version") for way in (CONSOLE_SCRIPT, MODULE)]

    assert answers[0] == answers[1]
    assert answers[0].line.startswith("redisched ")


def test_another_program_s_version_in_the_environment_is_not_ours(bare: CommandLine) -> None:
    assert bare("jobs", "--help", env={"REDISCHED_VERSION": "1.2.3"}).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["jobs", "nonsense"],
        ["jobs", "list", "--nonsense"],
        ["jobs", "list", "--place", "nowhere"],
        ["jobs", "list", "--limit", "0"],
        ["jobs", "show"],
        ["jobs", "reschedule", "default:a"],
        ["jobs", "reschedule", "default:a", "--in", "1s", "--at", "2030-01-01T00:00Z"],
        ["dead", "retry"],
        ["dead", "purge", "default:a", "--all"],
        ["enqueue", "a.task", "--in", "1s", "--at", "2030-01-01T00:00Z"],
        ["enqueue", "a.task", "--kw", "no-value"],
        ["worker"],
        ["worker", "--app", "a:app", "-c", "0"],
    ],
    ids=" ".join,
)
def test_wrong_use_ends_with_2_before_any_server_is_asked(bare: CommandLine, arguments: list[str]) -> None:
    ran = bare(*arguments, code=2)

    assert ran.out == ""
    assert ran.err != ""
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["status", "bad queue"], "queue='bad queue'"),
        (["status", "--url", "http://there"], "url='http://there'"),
        (["status", "--namespace", "a b"], "namespace='a b'"),
        (["worker", "--app", "nocolon"], "app='nocolon'"),
        (["worker", "--app", "a:b", "--app-dir", "nowhere"], "app-dir='nowhere'"),
        (["worker", "a=1", "b", "--app", "a:b"], "give every queue a weight, or none"),
        (["worker", "--app", "a:b", "--visibility-timeout", "soon"], "visibility_timeout='soon'"),
        (["worker", "--app", "a:b", "--visibility-timeout", "1ms"], "half a second at least"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_value_that_cannot_be_used_is_one_line_that_names_it(
    bare: CommandLine, arguments: list[str], says: str
) -> None:
    ran = bare(*arguments, code=2, env={"REDISCHED_URL": f"unix://{bare.folder}/none"})

    assert ran.error.startswith("redisched: ")
    assert says in ran.error


def test_without_a_server_that_can_be_started_the_error_is_one_line(bare: CommandLine) -> None:
    assert "REDISCHED_SERVER_BIN" in bare("status", code=2).error


def test_a_setting_that_is_empty_is_refused(bare: CommandLine) -> None:
    """`REDISCHED_URL=$UNSET` must not quietly mean another server; neither must `--url "$UNSET"`."""
    assert "REDISCHED_URL" in bare("status", code=2, env={"REDISCHED_URL": ""}).error
    assert "url" in bare("status", "--url", "", code=2).error
    assert "url" in bare("--url", "", "status", code=2).error


def test_an_error_cannot_forge_a_line(bare: CommandLine, tmp_path: Path) -> None:
    ran = bare("jobs", "show", "no-colon\nredisched: all is well\x1b[2J", code=2)

    assert "\\n" in ran.error
    assert "\x1b" not in ran.error
