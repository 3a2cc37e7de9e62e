"""`redisched enqueue`."""

from __future__ import annotations

import pytest

from redisched import JobState
from tests.cli.command_line import CommandLine
from tests.ops.yard import Yard


def test_a_job_is_enqueued_with_arguments_as_json_or_else_as_text(cli: CommandLine, yard: Yard) -> None:
    arguments = ["42", "true", "null", '"42"', "[1, 2]", "hello", "NaN", "{", ""]

    job = cli("enqueue", "shop.mail", *arguments, "--kw", "to=you", "--kw", "copies=2").line

    info = yard.app.job(job).info()
    assert info.task == "shop.mail"
    assert info.args == (42, True, None, "42", [1, 2], "hello", "NaN", "{", "")
    assert info.kwargs == {"to": "you", "copies": 2}
    assert info.state is JobState.READY


def test_a_job_is_enqueued_for_later_with_options(cli: CommandLine, yard: Yard) -> None:
    options = ["--queue", "mail", "--priority", "0", "--id", "a b", "--unique", "k"]
    job = cli("enqueue", "shop.mail", "--in", "10m", *options).line

    info = yard.app.job(job).info()
    assert (job, info.priority, info.unique) == ("mail:a b", 0, "k")
    assert info.due_at is not None
    assert info.created_at is not None
    assert (info.due_at - info.created_at).total_seconds() == 600


def test_the_same_id_again_is_the_same_job_and_says_so(cli: CommandLine, yard: Yard) -> None:
    at = ["--at", "2090-03-28T02:30:00+01:00", "--id", "one"]
    first, again = cli("enqueue", "shop.mail", *at), cli("enqueue", "shop.mail", *at)

    assert first.line == again.line == "default:one"
    assert first.err == ""
    assert "already" in again.error
    assert cli("jobs", "list", "--json").json[0]["due_at"] == "2090-03-28T01:30:00+00:00"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--at", "2030-01-01T00:00"], "when='2030-01-01T00:00'"),
        (["--in", "soon", "--kw", "a=1"], "delay='soon'"),
        (["--id", ""], "job_id=''"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(
    cli: CommandLine, yard: Yard, options: list[str], names: str
) -> None:
    assert names in cli("enqueue", "shop.mail", *options, code=2).error
    assert yard.redis.dbsize() == 0
