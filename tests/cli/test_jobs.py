"""`redisched jobs`."""

from __future__ import annotations

from redisched import JobState
from redisched.core.record import Finish
from tests.cli.command_line import CommandLine
from tests.ops.yard import Yard


def test_jobs_are_listed_by_place(cli: CommandLine, yard: Yard) -> None:
    yard.dead("d", reason="no such customer")
    yard.succeeded("e")
    yard.processing("p")
    yard.ready("r")
    yard.scheduled("s")

    everywhere = cli("jobs", "list", "--json").json
    assert {job["id"]: job["state"] for job in everywhere} == {
        "default:d": "dead",
        "default:e": "succeeded",
        "default:p": "processing",
        "default:r": "ready",
        "default:s": "scheduled",
    }
    assert [job["id"] for job in cli("jobs", "list", "--place", "ready", "--json").json] == ["default:r"]
    assert len(cli("jobs", "list", "--limit", "2", "--json").json) == 2
    table = cli("jobs", "list").out.splitlines()
    assert len(table) == 1 + 5
    assert any("default:d" in line and "no such customer" in line for line in table)


def test_a_job_is_shown(cli: CommandLine, yard: Yard) -> None:
    yard.ready("a")

    assert "yard.task" in cli("jobs", "show", "default:a").out
    shown = cli("jobs", "show", "default:a", "--json").json
    assert (shown["id"], shown["state"], shown["args"]) == ("default:a", "ready", ["a"])


def test_a_job_that_never_was_is_trouble(cli: CommandLine) -> None:
    ran = cli("jobs", "show", "default:none", "--json", code=1)

    assert "default:none" in ran.error
    assert ran.json["state"] == "not found"


def test_jobs_are_cancelled_and_each_outcome_is_said(cli: CommandLine, yard: Yard) -> None:
    yard.processing("p")
    yard.ready("r")

    ran = cli("jobs", "cancel", "default:r", "default:p")
    assert ran.out.splitlines() == ["default:r: cancelled", "default:p: running; asked to stop"]
    assert cli("jobs", "cancel", "default:r", code=1).line == "default:r: already ended"


def test_ended_jobs_run_again(cli: CommandLine, yard: Yard) -> None:
    yard.succeeded("a")

    assert cli("jobs", "retry", "default:a").line == "default:a: revived"
    assert yard.app.job("default:a").status() is JobState.READY
    assert cli("jobs", "retry", "default:a", code=1).line == "default:a: has not ended"


def test_a_job_gets_another_time(cli: CommandLine, yard: Yard) -> None:
    yard.ready("a")

    cli("jobs", "reschedule", "default:a", "--at", "2090-01-01T00:00:00Z")
    info = yard.app.job("default:a").info()
    assert (info.state, info.due_at and info.due_at.year) == (JobState.SCHEDULED, 2090)
    assert cli("jobs", "reschedule", "default:a", "--in", "0").line == "default:a: rescheduled"
    assert yard.app.job("default:a").status() is JobState.READY
    assert cli("jobs", "reschedule", "default:none", "--in", "0", code=1).line == "default:none: not found"


def test_dead_letters_are_listed_retried_and_purged(cli: CommandLine, yard: Yard) -> None:
    yard.dead("a", "b", "c", "d", reason="no such customer")
    yard.ready("r")

    assert [job["reason"] for job in cli("dead", "list", "--json").json] == ["no such customer"] * 4
    assert cli("dead", "retry", "default:a").line == "1 revived"
    assert cli("dead", "purge", "default:b").line == "1 purged"
    assert "default:r is no dead letter: ready" in cli("dead", "purge", "default:r", code=1).error
    assert cli("dead", "retry", "--all").line == "2 revived"
    assert yard.app.job("default:c").status() is JobState.READY


def test_f77_ghosts_stop_no_list_and_no_bulk_call(cli: CommandLine, yard: Yard) -> None:
    """F77: records of dead letters were deleted by hand; lists, counts, retry and purge go on."""
    yard.dead(*"abcdef")
    yard.ready("r", "s")
    yard.delete_record("b", "d", "s")

    assert [job["id"] for job in cli("dead", "list", "--json").json] == [f"default:{job}" for job in "acef"]
    (counted,) = cli("status", "--json").json
    assert (counted["dead"], counted["ready"]) == (4, 1)
    assert cli("dead", "retry", "--all").line == "4 revived"
    yard.delete_record("a")
    claimed = yard.claim(9)
    assert sorted(job.id for job in claimed) == ["c", "e", "f", "r"]
    yard.finish(Finish.DEAD, *claimed)
    yard.delete_record("e")
    assert cli("dead", "purge", "--all").line == "3 purged"
    (counted,) = cli("status", "--json").json
    assert [counted[place] for place in ("scheduled", "ready", "processing", "dead")] == [0, 0, 0, 0]
