"""What a worker is told at its start, and what it refuses."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from redisched.core.config import WorkerConfig
from redisched.core.errors import ConfigurationError
from redisched.core.values import unpack
from redisched.worker.identity import Identity
from redisched.worker.settings import QueueWeights


def test_queues_without_weights_are_served_in_the_order_given() -> None:
    found = QueueWeights.parse(["mail", "bulk"])
    assert (found.names, found.weights) == (("mail", "bulk"), ())


def test_queues_with_weights_share_the_claims() -> None:
    found = QueueWeights.parse(["mail=3", "bulk=1"])
    assert (found.names, found.weights) == (("mail", "bulk"), (3, 1))


def test_no_queue_means_the_default_one() -> None:
    assert QueueWeights.parse([]).names == ("default",)


@pytest.mark.parametrize(
    "queues",
    [
        ["mail=0"],
        ["mail=-1"],
        ["mail=1.5"],
        ["mail=99999"],
        ["mail="],
        ["=1"],
        [""],
        ["ma il"],
        ["ma:il"],
        ["{mail}"],
        ["ümlaut"],
        ["a", "a"],
        ["a=1", "a=2"],
        ["a=1", "b"],
    ],
)
def test_queues_that_cannot_be_served_are_refused_by_name(queues: list[str]) -> None:
    """Never skipped silently: the message names the text."""
    with pytest.raises(ConfigurationError) as caught:
        QueueWeights.parse(queues)
    assert any(ascii(part)[1:-1] in ascii(str(caught.value)) for part in queues)


def test_a_heartbeat_leaves_room_for_one_that_is_lost() -> None:
    """A short lease shortens the heartbeat: three fit in, whatever was asked for."""
    config = WorkerConfig(visibility_timeout=timedelta(seconds=1), heartbeat=timedelta(seconds=3))
    assert 3 * config.heartbeat < config.visibility_timeout


@pytest.mark.parametrize(
    "given",
    [
        {"concurrency": 0},
        {"visibility_timeout": timedelta(milliseconds=100)},
        {"longest_wait": timedelta(0)},
        {"longest_wait": timedelta(minutes=1)},
        {"max_deliveries": 0},
    ],
    ids=lambda given: next(iter(given)),
)
def test_settings_that_cannot_work_are_refused_by_name(given: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(given))):
        WorkerConfig(**given)  # type: ignore[arg-type]  # a table of wrong values


def test_every_start_of_a_worker_is_another_worker() -> None:
    """The same name and the same process: its leases are still not those of its former life."""
    first, second = Identity.make("mailer"), Identity.make("mailer")
    assert first.id != second.id
    assert first.name == second.name == "mailer"


def test_a_worker_says_who_it_is() -> None:
    facts = unpack(Identity.make("mailer").about(["mail"], 8))
    assert isinstance(facts, dict)
    assert facts["name"] == "mailer"
    assert facts["pid"] == os.getpid()
    assert facts["queues"] == ["mail"]
    assert facts["concurrency"] == 8


def test_a_worker_without_a_name_has_its_hosts() -> None:
    assert Identity.make(None).name == os.uname().nodename
