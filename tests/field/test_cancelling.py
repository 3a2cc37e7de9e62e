"""Field cases about cancelling and rescheduling: what the call says is what happens, whoever else acts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from redisched import CancelOutcome, Job, JobCancelledError, JobState, RescheduleOutcome
from tests.apps.probe import probe, probe_thread, waits_for_file
from tests.field.census import places, queue_status
from tests.fleet import ROOT, Fleet
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import redis

    from tests.processes import Processes

PLACES: Final = ("scheduled", "ready:0", "ready:1", "ready:2", "ready:3", "processing", "unique", "unclaimed")


# -- F53


def test_f53_a_scheduled_job_that_is_cancelled_never_runs(fleet: Fleet) -> None:
    """Its end is final, and it waits nowhere any more; a job due after it runs."""
    fleet.start()
    job = fleet.app.enqueue_in(1, probe)
    witness = fleet.app.enqueue_in(1.2, probe)
    assert job.cancel() is CancelOutcome.CANCELLED
    assert job.status() is JobState.CANCELLED
    witness.result(timeout=10)
    assert_gone(fleet, job)
    assert job.cancel() is CancelOutcome.ALREADY_ENDED
    assert job.reschedule(delay=0) is RescheduleOutcome.ALREADY_ENDED


def test_f53_a_ready_job_that_is_cancelled_behind_others_never_runs(fleet: Fleet, tmp_path: Path) -> None:
    """Twenty jobs before it, one slot, and one behind it that runs."""
    gate = tmp_path / "gate"
    fleet.start(concurrency=1)
    before = [fleet.app.enqueue(waits_for_file, str(gate)) for _ in range(20)]
    job, witness = fleet.app.enqueue(probe), fleet.app.enqueue(probe)
    wait_for(lambda: fleet.starts(before[0].id), what="the slot to be taken")
    assert job.status() is JobState.READY
    assert job.cancel() is CancelOutcome.CANCELLED
    gate.touch()
    witness.result(timeout=10)
    assert_gone(fleet, job)
    status = queue_status(fleet)
    assert (places(status), status.ended, status.ready) == (22, 22, 0)


def assert_gone(fleet: Fleet, job: Job[object]) -> None:
    """Never started, cancelled for good, and in no place where work is looked for."""
    assert not fleet.starts(job.id)
    assert job.status() is JobState.CANCELLED
    with pytest.raises(JobCancelledError):
        job.result(timeout=1)
    short = job.id.partition(":")[2]
    with fleet.server.client() as client:
        for place in PLACES:
            assert short not in dump(client, f"rs:{{test:default}}:{place}")


def dump(client: redis.Redis, key: str) -> str:
    """All members of a list, a set or a hash, as one text."""
    match client.type(key):
        case b"list":
            return repr(client.lrange(key, 0, -1))
        case b"zset":
            return repr(client.zrange(key, 0, -1))
        case b"hash":
            return repr(client.hgetall(key))
        case _:
            return ""


def test_a_running_job_is_asked_to_stop_and_ends_cancelled(fleet: Fleet, tmp_path: Path) -> None:
    """The call says that it was too late to prevent the run."""
    fleet.start(heartbeat=0.2)
    job = fleet.app.enqueue(waits_for_file, str(tmp_path / "never"))
    wait_for(lambda: fleet.starts(job.id), what="the job to run")
    assert job.cancel() is CancelOutcome.STOP_REQUESTED
    with pytest.raises(JobCancelledError):
        job.result(timeout=10)
    assert not fleet.noted("end")


# -- F54


CANCELLING: Final = """
jobs = json.load(sys.stdin)
print(json.dumps({job: app.job(job).cancel().name for job in jobs}))
"""


# Starts and state in the end, for each answer. A job in a worker's hands that is asked to stop may still be
# taken back before it began, but it never goes back to wait.
FATES: Final = {
    CancelOutcome.CANCELLED: {(0, JobState.CANCELLED)},
    CancelOutcome.ALREADY_ENDED: {(1, JobState.SUCCEEDED)},
    CancelOutcome.STOP_REQUESTED: {
        (1, JobState.SUCCEEDED),
        (1, JobState.CANCELLED),
        (0, JobState.CANCELLED),
    },
}


def cancel_against_claims(
    fleet: Fleet, processes: Processes, count: int, workers: int, clients: int
) -> Counter[CancelOutcome]:
    """Ready jobs, on the event loop and in threads; other processes cancel each as workers claim them."""
    fleet.app.pause()
    for _ in range(workers):
        fleet.start()
    calls = [probe.call(), probe_thread.call(seconds=0.002)] * (count // 2)
    jobs = [job.id for job in fleet.app.enqueue_many(calls)]
    cancelling = [Client(fleet, processes, CANCELLING) for _ in range(clients)]
    fleet.app.resume()
    for n, one in enumerate(cancelling):
        # Every other one from the far end: there the claims have not been.
        one.tell(jobs[n::clients][:: -1 if n % 2 else 1])
    outcomes = {job: CancelOutcome[name] for one in cancelling for job, name in one.answer().items()}
    wait_for(lambda: queue_status(fleet).ended == count, what="all to end", timeout=20 + count / 100)
    starts = fleet.start_counts()
    for job in jobs:
        assert (starts[job], fleet.app.job(job).status()) in FATES[outcomes[job]], (job, outcomes[job])
    return Counter(outcomes.values())


def test_f54_a_cancel_that_races_with_claims_says_exactly_what_happened(
    fleet: Fleet, processes: Processes
) -> None:
    """Cancelled, and then never started; ended, and then it ran once; or in a worker's hands."""
    found = cancel_against_claims(fleet, processes, count=800, workers=2, clients=2)
    assert found[CancelOutcome.CANCELLED] > 0, found
    assert found[CancelOutcome.ALREADY_ENDED] > 0, found


@pytest.mark.nightly
def test_f54_in_full_10000_cancels_race_with_claims(fleet: Fleet, processes: Processes) -> None:
    """10,000 jobs, 4 workers."""
    cancel_against_claims(fleet, processes, count=10_000, workers=4, clients=2)


HEAD: Final = """
import sys, json
from tests.apps.probe import app, probe
print("up", flush=True)
"""


class Client:
    """A process of the test's application that is told ids and answers with what became of them."""

    def __init__(self, fleet: Fleet, processes: Processes, code: str) -> None:
        self._process = processes.spawn(
            *(sys.executable, "-c", HEAD + code),
            env=fleet.env(),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "up\n"

    def tell(self, what: object) -> None:
        assert self._process.stdin is not None
        json.dump(what, self._process.stdin)
        self._process.stdin.close()

    def answer(self) -> dict[str, str]:
        """What it came to, once it has ended well."""
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        assert self._process.wait(30) == 0
        return dict(json.loads(said))


# -- F55


MOVING: Final = """
found = {}
for n in range(json.load(sys.stdin)):
    job = app.enqueue_in(0.01, probe)
    outcome = job.reschedule(delay=0.1)
    found[job.id] = outcome.name
print(json.dumps(found))
"""


def reschedule_against_promotion(fleet: Fleet, processes: Processes, rounds: int, clients: int) -> None:
    """Each job is moved just about when it falls due."""
    for n in range(3):
        # One of them looks for due jobs four times a second only, and late.
        slow = {"REDISCHED_FAILPOINTS": "worker.before_turn=sleep:250"} if n == 0 else {}
        fleet.start(env=slow)
    moving = [Client(fleet, processes, MOVING) for _ in range(clients)]
    for one in moving:
        one.tell(rounds)
    outcomes = {job: RescheduleOutcome[name] for one in moving for job, name in one.answer().items()}
    count = rounds * clients
    assert len(outcomes) == count
    wait_for(lambda: queue_status(fleet).ended == count, what="all to end", timeout=20)
    assert set(fleet.start_counts().values()) == {1}
    for start in fleet.starts():
        info = fleet.app.job(start.id).info()
        assert info.created_at is not None
        assert start.at_ms >= start.due_ms
        if outcomes[start.id] is RescheduleOutcome.RESCHEDULED:
            assert start.at_ms - info.created_at.timestamp() * 1000 >= 100
        else:
            assert outcomes[start.id] in {
                RescheduleOutcome.ALREADY_STARTED,
                RescheduleOutcome.ALREADY_ENDED,
            }


def test_f55_a_job_rescheduled_as_it_falls_due_runs_once_and_at_the_new_time(
    fleet: Fleet, processes: Processes
) -> None:
    """Or the call says that it had started; with a slow and two fast workers."""
    reschedule_against_promotion(fleet, processes, rounds=100, clients=2)


@pytest.mark.nightly
def test_f55_in_full_a_thousand_rounds(fleet: Fleet, processes: Processes) -> None:
    """1,000 rounds by one client."""
    reschedule_against_promotion(fleet, processes, rounds=1_000, clients=1)


# -- all of it at once


AT_ONCE: Final = """
import random
told = json.load(sys.stdin)
chance = random.Random(told["seed"])
found = {}
for job in told["jobs"]:
    if chance.random() < 0.5:
        found[job] = "CANCEL " + app.job(job).cancel().name
    else:
        found[job] = "RESCHEDULE " + app.job(job).reschedule(delay=chance.uniform(0, 0.2)).name
print(json.dumps(found))
"""


def test_clients_that_cancel_and_move_the_same_due_jobs_leave_each_with_one_fate(
    fleet: Fleet, processes: Processes
) -> None:
    """Three clients, jobs that fall due meanwhile: cancelled for good by at most one of them, or run once."""
    count = 300
    for _ in range(2):
        fleet.start()
    clients = [Client(fleet, processes, AT_ONCE) for _ in range(3)]
    jobs = [job.id for job in fleet.app.enqueue_many([probe.call()] * count, delay=0.3)]
    for seed, one in enumerate(clients):
        one.tell({"seed": seed, "jobs": jobs})
    answers = [one.answer() for one in clients]
    wait_for(lambda: queue_status(fleet).ended == count, what="all to end", timeout=20)
    starts = fleet.start_counts()
    for job in jobs:
        cancels = sum(answer[job] == "CANCEL CANCELLED" for answer in answers)
        assert cancels + starts[job] == 1, [answer[job] for answer in answers]
    assert places(queue_status(fleet)) == count
