"""F79: two applications, or two stages of one, on the same Redis database."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import pytest

from redisched import Every
from redisched.core.states import JobState
from redisched.ops.dead_letters import purge_all, retry_all
from tests.apps.probe import probe
from tests.apps.workshop import raises
from tests.field.census import queue_status
from tests.fleet import Fleet
from tests.processes import Processes
from tests.servers import TestServer
from tests.waiting import wait_for

IDS: Final = ["1", "report", "a:b"]


@pytest.fixture
def other(server: TestServer, processes: Processes, tmp_path: Path) -> object:
    """A second application: its namespace begins like the first one's."""
    directory = tmp_path / "other"
    directory.mkdir()
    found = Fleet(server, processes, directory, namespace="test-2")
    yield found
    found.close()


def test_f79_the_same_ids_and_names_are_two_applications_jobs(fleet: Fleet, other: Fleet) -> None:
    """Each worker runs its own application's jobs and none of the other's, and says which it serves."""
    both = (fleet, other)
    jobs = [
        [one.app.options(job_id=name, unique=name).enqueue(probe, label=one.namespace) for name in IDS]
        for one in both
    ]
    assert all(job.created for row in jobs for job in row)
    workers = [one.start() for one in both]
    for one, row in zip(both, jobs, strict=True):
        assert {job.result(timeout=10) for job in row} == {one.namespace}
        assert {start.facts["label"] for start in one.starts()} == {one.namespace}
        assert len(one.starts()) == len(IDS)
    for one, worker in zip(both, workers, strict=True):
        assert f"namespace {one.namespace}," in worker.log
        assert len(queue_status(one).workers) == 1


def test_f79_both_applications_schedules_are_active(fleet: Fleet, other: Fleet) -> None:
    """One's slot is not the other's, though name and instant are the same."""
    for one in (fleet, other):
        one.app.schedules.upsert("report", probe.call(label=one.namespace), Every(seconds=1))
        one.start()
    for one in (fleet, other):
        wait_for(partial(has_started, one, 3), what="three slots", timeout=10)
        assert {start.facts["label"] for start in one.starts()} == {one.namespace}
    shared = {x.facts["slot"] for x in fleet.starts()} & {x.facts["slot"] for x in other.starts()}
    assert shared, "the same slot fired for both"
    for one in (fleet, other):
        one.app.schedules.remove("report")


def test_f79_what_is_done_to_one_leaves_the_other_as_it_was(fleet: Fleet, other: Fleet) -> None:
    """Purge, retry, pause, cancel, remove: not a byte of the other changes, and no third prefix appears."""
    for one in (fleet, other):
        one.app.enqueue(raises, "ValueError")
        one.app.options(job_id="later", unique="u").enqueue_in(60, probe)
        one.app.schedules.upsert("report", probe.call(), Every(minutes=5))
        burst(one)
        assert queue_status(one).dead == 1
    before = contents(other)
    app, keyspace = fleet.app, fleet.app.backend.keyspace("default")
    assert app.backend.executor().run(retry_all(keyspace)).revived == 1
    app.pause()
    app.job("default:later").cancel()
    app.schedules.remove("report")
    app.resume()
    burst(fleet)
    assert app.backend.executor().run(purge_all(keyspace)) == 1
    assert contents(other) == before
    assert other.app.job("default:later").status() is JobState.SCHEDULED
    with fleet.server.client() as client:
        prefixes = {key.split(b"}")[0] for key in client.scan_iter()}
    assert prefixes == {b"rs:{test:default", b"rs:{test-2:default"}


def has_started(one: Fleet, count: int) -> bool:
    return len(one.starts()) >= count


def burst(one: Fleet) -> None:
    """A worker does what there is to do now."""
    assert one.start(app="tests.apps.workshop:app", burst=True, ready=False).process.wait(20) == 0


def contents(one: Fleet) -> dict[bytes, bytes | None]:
    """Every key of an application as the server would save it; hints that run out apart."""
    prefix = f"rs:{{{one.namespace}:"
    with one.server.client() as client:
        keys = [key for key in client.scan_iter() if key.startswith(prefix.encode())]
        return {key: client.dump(key) for key in keys if not key.endswith((b":timer", b":wake"))}
