"""What becomes of a run that fails: tried again or dead, and what a dead letter says."""

from __future__ import annotations

import pytest

from redisched import Retry
from redisched.core.errors import JobDeadError
from redisched.core.states import JobState, ReviveOutcome
from tests.apps.probe import fails_until, probe, probe_process, probe_thread
from tests.apps.workshop import raises, sleeps
from tests.fleet import Fleet
from tests.worker.watching import WORKSHOP, queue_report


@pytest.mark.parametrize(
    ("error", "starts"), [("ConnectionError", 3), ("ValueError", 1), ("FileNotFoundError", 1)]
)
def test_a_task_is_tried_again_on_the_errors_worth_it(fleet: Fleet, error: str, starts: int) -> None:
    """OSError is, ValueError is none, and FileNotFoundError is given up on though it is an OSError."""
    fleet.start(app=WORKSHOP)
    job = fleet.app.enqueue(raises, error)
    with pytest.raises(JobDeadError, match=error):
        job.result(timeout=10)
    assert len(fleet.starts(job.id)) == starts


def test_a_calls_own_retry_policy_wins(fleet: Fleet) -> None:
    """Its numbers; which errors are worth it stays with the task."""
    fleet.start(app=WORKSHOP)
    quick = fleet.app.options(retry=Retry(max_attempts=2, base=0.05, jitter="none"))
    connection, value = quick.enqueue(raises, "ConnectionError"), quick.enqueue(raises, "ValueError")
    for job in (connection, value):
        with pytest.raises(JobDeadError):
            job.result(timeout=10)
    assert (len(fleet.starts(connection.id)), len(fleet.starts(value.id))) == (2, 1)


def test_a_dead_letter_keeps_what_is_needed_to_understand_it(fleet: Fleet) -> None:
    """Its call, why it died, where in the code, and every attempt."""
    fleet.start(app=WORKSHOP)
    job = fleet.app.enqueue(raises, "ConnectionError", text="no route to x7Kp")
    with pytest.raises(JobDeadError, match="no route to x7Kp") as caught:
        job.result(timeout=10)
    info = job.info()
    assert (info.state, info.task) == (JobState.DEAD, raises.name)
    assert (info.args, info.kwargs) == (("ConnectionError",), {"text": "no route to x7Kp"})
    assert info.reason == "ConnectionError: no route to x7Kp"
    assert (info.attempts, info.deliveries) == (3, 3)
    assert [attempt.error for attempt in info.history] == [info.reason] * 3
    assert "in raises" in (info.traceback or "")
    assert "raise ERRORS[kind](text)" in (info.traceback or "")
    assert caught.value.traceback == info.traceback
    assert queue_report(fleet).dead == 1


def test_a_dead_letter_runs_again_on_request_with_its_attempts_counted_anew(fleet: Fleet) -> None:
    fleet.start(app=WORKSHOP)
    job = fleet.app.enqueue(raises, "ConnectionError")
    for lives in (1, 2):
        with pytest.raises(JobDeadError):
            job.result(timeout=10)
        assert len(fleet.starts(job.id)) == 3 * lives
        if lives == 1:
            assert job.retry() is ReviveOutcome.REVIVED


def test_a_job_that_succeeds_in_the_end_tells_of_its_failures(fleet: Fleet) -> None:
    fleet.start()
    job = fleet.app.enqueue(fails_until, 3)
    assert job.result(timeout=10) == 3
    errors = [attempt.error for attempt in job.info().history]
    assert errors == ["ValueError: attempt 1 fails", "ValueError: attempt 2 fails", None]


@pytest.mark.parametrize("task", [probe, probe_thread, probe_process], ids=["async", "thread", "process"])
def test_an_attempt_is_known_by_its_start_and_end(fleet: Fleet, task: object) -> None:
    fleet.start()
    job = fleet.app.enqueue(task.name, 0.3, "kept")  # type: ignore[attr-defined]  # a task of either kind
    job.result(timeout=10)
    (attempt,) = job.info().history
    assert 290 <= attempt.finished_ms - attempt.started_ms < 2000


def test_one_failing_job_costs_its_neighbours_nothing(fleet: Fleet) -> None:
    fleet.start(app=WORKSHOP, concurrency=5)
    bad = [fleet.app.enqueue(raises, "ValueError") for _ in range(10)]
    good = [fleet.app.enqueue(sleeps, 0.1) for _ in range(10)]
    for job in good:
        job.result(timeout=10)
    assert {job.info().attempts for job in good} == {1}
    for job in bad:
        with pytest.raises(JobDeadError):
            job.result(timeout=10)


@pytest.mark.parametrize("kind", ["async", "thread", "process"])
def test_a_run_whose_word_cannot_be_made_ends_all_the_same(fleet: Fleet, kind: str) -> None:
    """And its slot is free for the next one."""
    fleet.start(app=WORKSHOP, concurrency=1)
    job = fleet.app.enqueue(f"tests.apps.workshop.judged_rudely_{kind}")
    with pytest.raises(JobDeadError, match="no word could be made: RuntimeError: not telling"):
        job.result(timeout=10)
    fleet.app.enqueue(sleeps, 0).result(timeout=10)


def test_a_run_that_ended_and_whose_word_was_not_said_is_run_again(fleet: Fleet) -> None:
    """The worker dies between the two: at least once."""
    dies = {"REDISCHED_FAILPOINTS": "worker.after_run=kill"}
    worker = fleet.start(visibility_timeout=1, env=dies)
    job = fleet.app.enqueue(probe, label="said")
    worker.process.wait(10)
    fleet.start(visibility_timeout=1)
    assert job.result(timeout=10) == "said"
    assert [start.delivery for start in fleet.starts(job.id)] == [1, 2]
