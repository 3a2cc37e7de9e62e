"""The promise as a whole: a load of short jobs while workers are killed and frozen at random."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.apps.trouble import APP, short
from tests.field.census import queue_status
from tests.fleet import Fleet, WorkerProcess
from tests.waiting import wait_for

WORKERS = 4
LONGEST_MS = 50
BACKLOG = 1000
"""Jobs kept waiting, so that every worker has some in hand when it is killed."""


@dataclass(frozen=True)
class Plan:
    """One kill a second, until so many hit running jobs and so many seconds are over; and freezes."""

    seconds: float
    hits: int
    lease: float

    @property
    def freeze(self) -> float:
        return self.lease * 1.5 + 1


class Watch:
    """Reads what the tasks note, as they note it: which jobs run where, and how all ended."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._at = 0
        self.running: dict[tuple[str, int], int] = {}
        self.ended: dict[str, int] = {}

    def look(self) -> None:
        if not self._fleet.probe_file.exists():
            return
        with self._fleet.probe_file.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        workers = {worker.pid for worker in self._fleet.workers}
        for line in new[: new.rfind(b"\n") + 1].splitlines(keepends=True):
            self._at += len(line)
            x = json.loads(line)
            if x["event"] == "start":
                self.running[x["id"], x["delivery"]] = x["parent"] if x["parent"] in workers else x["pid"]
            else:
                self.running.pop((x["id"], x["delivery"]), None)
                self.ended[x["id"]] = max(x["delivery"], self.ended.get(x["id"], 0))

    def busy(self) -> set[int]:
        """The workers that have jobs running now, by themselves or in children; dead ones, too."""
        self.look()
        return set(self.running.values())


@dataclass
class Storm:
    """What was done so far, and to whom."""

    fleet: Fleet
    plan: Plan
    rng: random.Random
    watch: Watch
    jobs: list[str] = field(default_factory=list)
    kills: int = 0
    hits: int = 0
    frozen: dict[WorkerProcess, float] = field(default_factory=dict)
    freezes: int = 0
    thawed: WorkerProcess | None = None
    """The last one: it is spared, or its stale words might die with it."""

    def start_worker(self) -> None:
        self.fleet.start(app=APP, ready=False, visibility_timeout=self.plan.lease)

    def feed(self) -> None:
        """Enqueue what is missing of the backlog."""
        missing = BACKLOG - queue_status(self.fleet).ready
        if missing > 0:
            made = self.fleet.app.enqueue_many([short.call(LONGEST_MS) for _ in range(missing)])
            self.jobs += [job.id for job in made]

    def victims(self) -> list[WorkerProcess]:
        """Those that run jobs and are not frozen."""
        busy, spared = self.watch.busy(), {*self.frozen, self.thawed}
        return [w for w in self.fleet.workers if w.pid in busy and w.alive and w not in spared]

    def kill_one(self, victims: list[WorkerProcess]) -> None:
        worker = self.rng.choice(victims)
        worker.kill()
        self.kills += 1
        self.hits += worker.pid in self.watch.busy()
        self.start_worker()

    def freeze_one(self, victims: list[WorkerProcess]) -> None:
        worker = self.rng.choice(victims)
        worker.freeze()
        if worker.pid not in self.watch.busy():
            worker.thaw()
            return
        self.frozen[worker] = time.monotonic() + self.plan.freeze
        self.freezes += 1

    def thaw(self) -> None:
        for worker, until in list(self.frozen.items()):
            if time.monotonic() >= until:
                worker.thaw()
                self.thawed = worker
                del self.frozen[worker]

    def rage(self) -> None:
        """Until the plan is fulfilled."""
        began = kill_at = time.monotonic()
        while time.monotonic() < began + self.plan.seconds or self.hits < self.plan.hits:
            self.feed()
            self.thaw()
            if not self.frozen and len(victims := self.victims()) > 1:
                self.freeze_one(victims)
            if time.monotonic() >= kill_at + 1 and (victims := self.victims()):
                kill_at = time.monotonic()
                self.kill_one(victims)
            time.sleep(0.02)  # the feeder's pace
        for until in self.frozen.values():
            time.sleep(max(0.0, until - time.monotonic()))  # the rest of its freeze
        self.thaw()


def settled(fleet: Fleet) -> bool:
    found = queue_status(fleet)
    return found.ready + found.processing + found.scheduled == 0


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(seconds=8, hits=5, lease=2), id="short"),
        pytest.param(
            Plan(seconds=62, hits=50, lease=10),
            id="full",
            marks=[pytest.mark.nightly, pytest.mark.timeout(900)],
        ),
    ],
)
def test_no_job_is_lost_or_dead_while_a_worker_is_killed_each_second(fleet: Fleet, plan: Plan) -> None:
    """Four workers, 0 to 50 ms a job: every one succeeds, and the words of frozen workers are refused."""
    seed = random.randrange(1_000_000)
    watch = Watch(fleet)
    storm = Storm(fleet, plan, random.Random(seed), watch)
    for _ in range(WORKERS):
        storm.start_worker()
    for worker in fleet.workers:
        worker.wait_until_ready()
    began = time.monotonic()
    storm.rage()
    raged = time.monotonic() - began
    wait_for(lambda: settled(fleet), what="all jobs have ended", timeout=30 + 15 * plan.lease)

    watch.look()
    found = queue_status(fleet)
    deliveries = dict(sorted(Counter(watch.ended.values()).items()))
    print(f"seed {seed}: {len(storm.jobs)} jobs in {raged:.0f} s, {found.counters}, {found.dead} dead")
    print(f"{storm.kills} kills, {storm.hits} hit running jobs, {storm.freezes} freezes")
    print(f"deliveries of the ended: {deliveries}")
    assert found.dead == 0
    assert watch.ended.keys() == set(storm.jobs)
    assert found.counters.get("refused", 0) > 0
