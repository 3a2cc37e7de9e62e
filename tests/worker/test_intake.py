"""From a claim to a run, or to the word to send at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from redisched import Scheduler
from redisched.core.config import WorkerConfig
from redisched.core.record import Finish, Flags
from redisched.store.operations.turns import Finished
from redisched.worker.intake import Intake, kind_of
from redisched.worker.run import Kind, Run
from tests.worker.claims import CLAIMED_MS, claim

app = Scheduler()
TTL = timedelta(seconds=10)
intake = Intake(
    app.tasks, WorkerConfig(unknown_task_delay=timedelta(seconds=2), unknown_task_ttl=TTL, concurrency=1)
)


@app.task
async def on_loop() -> None: ...


@app.task
def in_thread() -> None: ...


@app.task(executor="thread")
async def loop_of_its_own() -> None: ...


@app.task(executor="process")
def in_child() -> None: ...


def admitted(**facts: object) -> Run | Finished:
    return intake.admit(claim(**facts), "default", 0.0, 10.0)  # type: ignore[arg-type]  # the words of claim()


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (on_loop, Kind.ASYNC),
        (in_thread, Kind.THREAD),
        (loop_of_its_own, Kind.THREAD),
        (in_child, Kind.PROCESS),
    ],
    ids=lambda item: getattr(item, "name", None),
)
def test_a_task_runs_where_it_says(task: object, kind: Kind) -> None:
    run = admitted(task=task)
    assert isinstance(run, Run)
    assert run.kind is kind


def test_a_suspect_runs_in_a_child_whatever_its_task_says() -> None:
    """A worker was lost with it: it must not take its neighbours along."""
    run = admitted(task=on_loop, flags=int(Flags.SUSPECT))
    assert isinstance(run, Run)
    assert run.kind is Kind.PROCESS


def test_an_application_has_the_kinds_of_its_tasks() -> None:
    assert intake.kinds() == set(Kind)
    assert Intake({}, WorkerConfig()).kinds() == {Kind.ASYNC}
    assert kind_of(in_thread) is Kind.THREAD


@pytest.mark.parametrize("body", [b"", b"\xc1\xff\x00", b"\x93\xa1a", b"\x80"])
def test_a_payload_that_cannot_be_read_is_dead_at_once_with_the_reason(body: bytes) -> None:
    word = admitted(task=on_loop, body=body)
    assert isinstance(word, Finished)
    assert word.kind is Finish.DEAD
    assert "payload" in word.reason


def test_an_unknown_task_goes_back_with_a_delay() -> None:
    """A newer worker may know it; which task it was is said."""
    word = admitted(task="report_v2")
    assert isinstance(word, Finished)
    assert (word.kind, word.delay_ms) == (Finish.DEFER, 2000)
    assert "report_v2" in word.reason


def test_an_unknown_task_is_dead_after_its_time() -> None:
    """Counted from when the job was due."""
    ttl_ms = int(TTL.total_seconds() * 1000)
    early = admitted(task="report_v2", due_ms=CLAIMED_MS - ttl_ms + 1)
    late = admitted(task="report_v2", due_ms=CLAIMED_MS - ttl_ms)
    assert isinstance(early, Finished)
    assert isinstance(late, Finished)
    assert (early.kind, late.kind) == (Finish.DEFER, Finish.DEAD)
    assert "unknown task report_v2" in late.reason
