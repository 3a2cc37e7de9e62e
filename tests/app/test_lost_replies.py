"""A lost reply does not change the answer: the call is repeated with the same id and says what it did."""

from __future__ import annotations

import pytest

from redisched import CancelOutcome, Scheduler
from tests.apps.probe import noop
from tests.faults.proxy import Mode, Proxy


@pytest.fixture
def app(proxy: Proxy) -> Scheduler:
    return Scheduler(proxy.url, namespace="test")


def test_a_job_whose_first_reply_was_lost_was_created_by_this_call(app: Scheduler, proxy: Proxy) -> None:
    app.enqueue(noop)
    bites = sum(proxy.bites.values())
    proxy.arm(Mode.DROP, b"EVALSHA")
    job = app.options(unique="key").enqueue_in("1h", noop)
    assert sum(proxy.bites.values()) == bites + 1
    assert job.created
    assert not app.options(unique="key").enqueue(noop).created
    job.cancel()


def test_an_id_that_was_there_was_not_created_by_this_call(app: Scheduler) -> None:
    assert app.options(job_id="mine").enqueue_in("1h", noop).created
    again = app.options(job_id="mine").enqueue_in("1h", noop)
    assert not again.created
    again.cancel()


def test_a_cancel_whose_first_reply_was_lost_has_cancelled(app: Scheduler, proxy: Proxy) -> None:
    job = app.enqueue_in("1h", noop)
    app.enqueue_in("1h", noop).cancel()
    bites = sum(proxy.bites.values())
    proxy.arm(Mode.DROP, b"EVALSHA")
    assert job.cancel() is CancelOutcome.CANCELLED
    assert sum(proxy.bites.values()) == bites + 1
