"""Which job is next: priorities within a queue, and several queues of one worker."""

from __future__ import annotations

from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for


def started_labels(fleet: Fleet, count: int) -> list[object]:
    """The labels of the first `count` starts, in their order."""
    wait_for(lambda: len(fleet.starts()) >= count, what=f"{count} starts", timeout=20)
    return [start.facts["label"] for start in fleet.starts()[:count]]


def fill(fleet: Fleet, queue: str, count: int, seconds: float = 0.0) -> None:
    app = fleet.app.options(queue=queue)
    app.enqueue_many([probe.call(seconds, label=queue) for _ in range(count)])


def test_priority_zero_goes_first_and_within_one_the_oldest(fleet: Fleet) -> None:
    for number in range(3):
        for priority in (3, 1, 0, 2):
            fleet.app.options(priority=priority).enqueue(probe, label=f"{priority}-{number}")
    fleet.start(concurrency=1)
    expected = [f"{priority}-{number}" for priority in range(4) for number in range(3)]
    assert started_labels(fleet, 12) == expected


def test_a_later_queue_waits_until_the_earlier_ones_are_empty(fleet: Fleet) -> None:
    fill(fleet, "second", 10)
    fill(fleet, "first", 10)
    fleet.start(queues=["first", "second"], concurrency=1)
    assert started_labels(fleet, 20) == ["first"] * 10 + ["second"] * 10


def test_queues_with_weights_get_their_shares(fleet: Fleet) -> None:
    """Three to one, give or take: neither waits for the other to be empty."""
    fill(fleet, "mail", 200, 0.005)
    fill(fleet, "bulk", 200, 0.005)
    fleet.start(queues=["bulk=1", "mail=3"], concurrency=1)
    assert 0.5 < started_labels(fleet, 150).count("mail") / 150 < 0.95


def test_equal_weights_are_equal_shares(fleet: Fleet) -> None:
    """`=1` on both is not the same as no weight: the first queue must not starve the second."""
    fill(fleet, "a", 150, 0.005)
    fill(fleet, "b", 150, 0.005)
    fleet.start(queues=["a=1", "b=1"], concurrency=1)
    assert 0.2 < started_labels(fleet, 120).count("a") / 120 < 0.8


def test_a_worker_leaves_other_queues_alone(fleet: Fleet) -> None:
    fill(fleet, "not-mine", 1)
    fill(fleet, "mine", 1)
    fleet.start(queues=["mine"], burst=True, ready=False).process.wait(20)
    assert started_labels(fleet, 1) == ["mine"]
    assert len(fleet.starts()) == 1
