"""What a run can know and say of itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from redisched import Every
from redisched.core.errors import JobCancelledError
from redisched.core.states import CancelOutcome
from tests.apps.probe import fails_until
from tests.apps.workshop import (
    facts,
    facts_process,
    facts_thread,
    heeds,
    heeds_process,
    heeds_thread,
    marks,
    marks_process,
    marks_thread,
    progresses,
    progresses_process,
    progresses_thread,
)
from tests.fleet import Fleet
from tests.waiting import wait_for
from tests.worker.watching import WORKSHOP, ended_jobs

FACTS = [facts, facts_thread, facts_process]
HEEDS = [heeds, heeds_thread, heeds_process]


@pytest.mark.parametrize("task", FACTS, ids=lambda task: task.name.rpartition(".")[2])
def test_a_run_knows_what_it_is(fleet: Fleet, task: object) -> None:
    """The same facts on the loop, in a thread, in a child."""
    fleet.start(app=WORKSHOP)
    before = datetime.now(UTC)
    job = fleet.app.enqueue_in(0.2, task.name)  # type: ignore[attr-defined]  # a task of either kind
    found = cast("dict[str, object]", job.result(timeout=10))
    assert found["id"] == job.id
    assert found["task"] == task.name  # type: ignore[attr-defined]
    assert (found["queue"], found["attempt"], found["delivery"]) == ("default", 1, 1)
    assert (found["slot"], found["stopping"]) == (None, False)
    info = job.info()
    assert found["version"] == info.version
    assert (found["created_at"], found["due_at"]) == (info.created_at, info.due_at)
    created, due, started = (cast("datetime", found[x]) for x in ("created_at", "due_at", "started_at"))
    assert before - timedelta(seconds=1) <= created < due <= started <= datetime.now(UTC)
    assert found["late_by"] == started - due
    assert due - created == timedelta(seconds=0.2)


def test_the_version_rises_with_every_claim(fleet: Fleet) -> None:
    """A store that refuses lower ones is safe from runs that are over."""
    fleet.start()
    job = fleet.app.enqueue(fails_until, 4)
    job.result(timeout=10)
    versions = [cast("int", start.facts["version"]) for start in fleet.starts(job.id)]
    assert len(versions) == 4
    assert versions == sorted(set(versions))
    assert [start.delivery for start in fleet.starts(job.id)] == [1, 2, 3, 4]


def test_a_run_made_by_a_schedule_knows_its_slot(fleet: Fleet) -> None:
    """Its nominal time is when the job was due."""
    fleet.app.schedules.upsert("each second: é", facts.call(), Every(seconds=1))
    fleet.start(app=WORKSHOP)
    (info, *_) = wait_for(lambda: ended_jobs(fleet), what="a slot's job ends", timeout=10)
    fleet.app.schedules.remove("each second: é")
    found = cast("dict[str, object]", fleet.app.job(info.id).result(timeout=5))
    schedule, slot_id, at = cast("list[object]", found["slot"])
    assert schedule == "each second: é"
    assert at == found["due_at"]
    assert slot_id


@pytest.mark.parametrize("task", HEEDS, ids=lambda task: task.name.rpartition(".")[2])
def test_a_run_is_told_of_its_cancellation(fleet: Fleet, task: object) -> None:
    """By the next heartbeat; the job ends as cancelled, whatever the run returns then."""
    fleet.start(app=WORKSHOP, visibility_timeout=1, stop_grace=5)
    job = fleet.app.enqueue(task.name)  # type: ignore[attr-defined]  # a task of either kind
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    assert job.cancel() is CancelOutcome.STOP_REQUESTED
    stopped = wait_for(lambda: fleet.noted("stopping", job.id), what="it hears of it")
    assert stopped[0].facts["stopping"] is True
    wait_for(lambda: job.status().is_end, what="its end")


def test_a_coroutine_that_is_cancelled_ends_as_cancelled(fleet: Fleet) -> None:
    fleet.start(app=WORKSHOP, visibility_timeout=1)
    job = fleet.app.enqueue(heeds)
    wait_for(lambda: fleet.starts(job.id), what="it runs", timeout=10)
    job.cancel()
    with pytest.raises(JobCancelledError):
        job.result(timeout=10)


def test_progress_is_logged_as_one_line_for_every_kind(fleet: Fleet) -> None:
    worker = fleet.start(app=WORKSHOP)
    jobs = [fleet.app.enqueue(task) for task in (progresses, progresses_thread, progresses_process)]
    for job in jobs:
        job.result(timeout=10)
    notes = ["25 % done: a quarter\\nforged line", "50 % done", "75 % done: nearly"]
    for job, said in zip(jobs, notes, strict=True):
        assert f"job {job.id}: {said}" in worker.log
    assert not any(line.startswith("forged") for line in worker.log.splitlines())


def test_context_variables_of_coroutines_are_their_own(fleet: Fleet) -> None:
    """Runs at the same time, and one after the other, see none of each other's."""
    fleet.start(app=WORKSHOP)
    jobs = [fleet.app.enqueue(marks, str(n)) for n in range(10)]
    assert [job.result(timeout=10) for job in jobs] == [["clean", str(n)] for n in range(10)]


@pytest.mark.parametrize("task", [marks_thread, marks_process], ids=["thread", "process"])
def test_what_a_run_sets_is_gone_for_the_next_one_in_its_place(fleet: Fleet, task: object) -> None:
    """Threads and children serve many jobs: a tenant or a locale must not leak from one into another."""
    fleet.start(app=WORKSHOP, concurrency=1)
    jobs = [fleet.app.enqueue(task.name, str(n)) for n in range(5)]  # type: ignore[attr-defined]
    assert [job.result(timeout=10) for job in jobs] == [["clean", str(n)] for n in range(5)]
