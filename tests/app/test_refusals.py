"""What is refused at the call, by name and with a way out."""

from __future__ import annotations

from typing import cast

import pytest

from redisched import ArgumentError, ConfigurationError, ResultTimeoutError, Scheduler, TaskCall
from tests.apps.probe import noop
from tests.fleet import Fleet


def test_enqueue_many_takes_calls_and_says_so() -> None:
    with pytest.raises(ArgumentError, match="pass calls of tasks"):
        Scheduler("unix:///nowhere").enqueue_many([cast("TaskCall[None]", noop)])


def test_a_task_is_not_made_a_task_again() -> None:
    with pytest.raises(ConfigurationError, match="a task already"):
        Scheduler("unix:///nowhere").task(noop)


def test_a_result_that_does_not_come_says_where_its_job_stands(fleet: Fleet) -> None:
    job = fleet.app.enqueue(noop)
    with pytest.raises(ResultTimeoutError, match="does a worker serve its queue"):
        job.result(timeout=0)
    job.cancel()
