"""F69: no two names make one key, whatever they are made of."""

from __future__ import annotations

import unicodedata
from itertools import combinations
from typing import Final

import pytest

from redisched import Every, Scheduler
from redisched.core.errors import ArgumentError, ConfigurationError, ScheduleError
from redisched.core.states import JobState
from redisched.store.keys import Keyspace
from tests.apps.probe import probe
from tests.fleet import Fleet
from tests.waiting import wait_for

NAMES: Final = [
    "a",
    "a:b",
    "a:1:b",
    "a ",
    " a",
    "A",
    unicodedata.normalize("NFC", "é"),
    unicodedata.normalize("NFD", "é"),
    "*",
    "a*",
    "[a]",
    "{a}",
    "{test:default}",
    "}:a{",
    "..",
    "../a",
    "a%3Ab",
    "a\nb",
    "a\x00b",
    "x" * 256,
]
NOT_NAMES: Final = ["", "a:b", "a b", "{a}", "a*", "é", "a/b", "a\n", "x" * 65]


def test_f69_schedules_of_confusable_names_all_fire_every_slot(fleet: Fleet) -> None:
    """Two workers, the same slots for all of them: none suppresses another's."""
    for name in NAMES:
        fleet.app.schedules.upsert(name, probe.call(label=name), Every(seconds=1))
    for _ in range(2):
        fleet.start()
    rows = fleet.app.schedules.list
    wait_for(lambda: all(row.fired >= 3 for row in rows()), what="three slots of each", timeout=20)
    for name in NAMES:
        assert fleet.app.schedules.remove(name)
    slots: dict[object, list[int]] = {name: [] for name in NAMES}
    for start in fleet.starts():
        assert start.facts["label"] == start.facts["schedule"]
        slots[start.facts["schedule"]].append(int(str(start.facts["slot"])[1:]))
    for name in NAMES:
        first = min(slots[name])
        assert sorted(slots[name]) == list(range(first, first + len(slots[name]))), name


def test_f69_schedules_of_confusable_names_are_listed_and_removed_one_by_one(fleet: Fleet) -> None:
    for name in NAMES:
        fleet.app.schedules.upsert(name, probe.call(), Every(minutes=5))
    for at, name in enumerate(NAMES):
        assert {one.name for one in fleet.app.schedules.list()} == set(NAMES[at:])
        assert fleet.app.schedules.remove(name)
        assert not fleet.app.schedules.remove(name)


def test_f69_a_slots_key_tells_all_its_parts_apart() -> None:
    """Schedule "a:b" with slot "1" and schedule "a" with slot "b:1" are two keys; so is every pair."""
    keyspace = Keyspace("test", "default")
    keys = [keyspace.slot(name, 1, slot) for name in NAMES for slot in ("1", "b:1")]
    assert all(first != second for first, second in combinations(keys, 2))
    assert all(key.startswith("rs:{test:default}:slot:") for key in keys)


def test_f69_jobs_and_unique_keys_of_confusable_names_are_all_their_own(fleet: Fleet) -> None:
    """Each is created, found by its id and run; a second one of the same name is the first one."""
    jobs = [fleet.app.options(job_id=name, unique=f"u{name}").enqueue(probe, label=name) for name in NAMES]
    assert all(job.created for job in jobs)
    assert len({job.id for job in jobs}) == len(NAMES)
    again = [fleet.app.options(unique=f"u{name}").enqueue(probe) for name in NAMES]
    assert [job.id for job in again] == [job.id for job in jobs]
    fleet.start()
    assert [fleet.app.job(job.id).result(timeout=10) for job in jobs] == NAMES
    assert set(fleet.start_counts().values()) == {1}


def test_f69_cancelling_one_name_leaves_its_neighbours(fleet: Fleet) -> None:
    """`*` is a name, not a pattern."""
    jobs = {name: fleet.app.options(job_id=name).enqueue_in(60, probe) for name in NAMES}
    jobs["*"].cancel()
    left = {name for name, job in jobs.items() if job.status() is JobState.SCHEDULED}
    assert left == set(NAMES) - {"*"}


def test_f69_every_key_lies_in_the_slot_of_its_queue(fleet: Fleet) -> None:
    """A name with braces must not move its key to another node of a cluster."""
    for name in NAMES:
        fleet.app.options(job_id=name, unique=name).enqueue(probe)
        fleet.app.schedules.upsert(name, probe.call(), Every(seconds=1))
    fleet.start()
    wait_for(lambda: all(one.fired for one in fleet.app.schedules.list()), what="each fires", timeout=15)
    for name in NAMES:
        fleet.app.schedules.remove(name)
    with fleet.server.client() as client:
        assert all(key.startswith(b"rs:{test:default}:") for key in client.scan_iter())


@pytest.mark.parametrize("name", NOT_NAMES, ids=ascii)
def test_f69_names_that_keys_are_joined_of_are_refused_at_construction(name: str) -> None:
    """Of namespaces and queues; nothing is sent to any server for it."""
    app = Scheduler("redis://127.0.0.1:1")
    if name:
        with pytest.raises(ConfigurationError, match="namespace"):
            Scheduler("redis://127.0.0.1:1", namespace=name)
    with pytest.raises(ConfigurationError, match="queue"):
        app.options(queue=name)
    with pytest.raises(ConfigurationError, match="queue"):
        app.task(queue=name)
    with pytest.raises(ConfigurationError, match="queue"):
        app.pause(name)


@pytest.mark.parametrize("name", ["", "x" * 10_240, "\ud800"], ids=["empty", "10 kB", "surrogate"])
def test_f69_names_of_no_use_are_refused_where_they_are_given(name: str) -> None:
    """Schedules, jobs and tasks: the error names the field."""
    app = Scheduler("redis://127.0.0.1:1")
    with pytest.raises(ScheduleError, match="name"):
        app.schedules.upsert(name, probe.call(), Every(minutes=5))
    with pytest.raises(ArgumentError, match="job_id"):
        app.options(job_id=name)
    with pytest.raises(ArgumentError, match="unique"):
        app.options(unique=name)
    with pytest.raises(ConfigurationError, match="task"):
        app.task(name=name)(lambda: None)
