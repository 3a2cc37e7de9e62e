"""No script keeps the server for long: bounded elements at the largest batches, and the time each call takes.

Times are printed (run with -s); the bound on them is loose, since machines are shared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TypeVar, cast

import pytest

from redisched.core.config import BATCH
from redisched.core.record import Finish
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations import jobs, queues, schedules, turns
from redisched.store.operations.turns import Claimed, Finished, Limits, Turn
from tests.servers import TestServer
from tests.store.queue import new_job

T = TypeVar("T")

KEYS = Keyspace("test", "cost")
SLOWEST_MS = 50
ELEMENTS = 1_000
BODY, OUTCOME = b"x" * 150, b"y" * 60


class Bench:
    """Sends operations and notes how long the server was kept by each, by its own account."""

    def __init__(self, server: TestServer) -> None:
        self.redis = server.client()
        self.executor = Executor(lambda: Address.parse(server.url), patience=Patience(1))
        self.slowest: dict[str, float] = {}
        self._turns = 0

    def do(self, operation: Operation[T], name: str = "") -> T:
        before = self._busy_ms()
        reply = self.executor.send(operation)
        took = self._busy_ms() - before
        name = name or operation.name
        self.slowest[name] = max(took, self.slowest.get(name, 0))
        return reply

    def turn(
        self, wanted: int, finishes: list[Finished] | None = None, name: str = "turn", **limits: object
    ) -> Turn:
        self._turns += 1
        return self.do(
            turns.turn(
                KEYS,
                worker="w1",
                turn_id=str(self._turns),
                wanted=wanted,
                finishes=finishes or [],
                lease=timedelta(seconds=limits.pop("lease", 10)),  # type: ignore[arg-type]
                longest_wait=timedelta(seconds=5),
                limits=Limits(**limits).packed(),  # type: ignore[arg-type]
            ),
            name,
        )

    def fill(self, count: int, tag: str = "j", *, at_ms: int | None = None, unique: bool = False) -> None:
        for start in range(0, count, 1_000):
            self.do(
                jobs.enqueue(
                    KEYS,
                    [
                        new_job(
                            f"{tag}{n:020}",
                            BODY,
                            at_ms=at_ms,
                            unique=f"{tag}{n}" if unique else None,
                            unclaimed_ms=1 if unique else None,
                        )
                        for n in range(start, min(start + 1_000, count))
                    ],
                ),
                f"enqueue {min(1_000, count)}{' with options' if unique else ''}",
            )

    def _busy_ms(self) -> float:
        """Processor time of the server's thread: unlike the time on a clock, others do not add to it."""
        used = cast("dict[str, float]", self.redis.info("cpu"))
        return (used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"]) * 1_000


@pytest.fixture
def bench(server: TestServer) -> Iterator[Bench]:
    made = Bench(server)
    yield made
    made.executor.close()
    for name, took in sorted(made.slowest.items()):
        print(f"{name:32} {took:7.2f} ms")
    assert max(made.slowest.values()) <= SLOWEST_MS


def ended(claims: tuple[Claimed, ...], kind: Finish = Finish.SUCCEEDED) -> list[Finished]:
    return [Finished(c.id, c.version, kind, 0, "", OUTCOME) for c in claims]


def test_enqueueing_a_thousand_jobs(bench: Bench) -> None:
    bench.fill(1_000, "a")
    bench.fill(1_000, "b", unique=True)
    bench.fill(1_000, "c", at_ms=4_000_000_000_000)


def test_turns_of_a_busy_worker_with_a_full_history(bench: Bench) -> None:
    bench.fill(BATCH * 180)
    finishes: list[Finished] = []
    for _ in range(180):
        finishes = ended(bench.turn(BATCH, finishes, f"turn {BATCH} + {BATCH}").claimed)
        assert len(finishes) == BATCH
    assert bench.redis.zcard(KEYS.key("ended")) <= 10_000 + BATCH


def test_a_turn_with_everything_to_do_at_once_is_bounded(bench: Bench) -> None:
    """Ended, lapsed, due, stale, ready and kept too long, thousands of each."""
    bench.fill(2_000, "old")
    for _ in range(4):
        claims = bench.turn(500, name="turn, 500 wanted").claimed
        bench.turn(0, ended(claims), name="turn, 500 finishes")
    bench.fill(400, "lapsed")
    bench.turn(400, name="turn, 400 wanted", lease=0)
    bench.fill(128, "mine")
    mine = ended(bench.turn(128).claimed)
    bench.redis.zadd(KEYS.key("scheduled"), {f"1{n}:gone": n for n in range(3_000)})
    bench.redis.rpush(KEYS.key("ready:1"), *(f"1{n}:gone" for n in range(3_000)))
    bench.redis.hset(KEYS.key("stats"), "stale", 6_000)
    bench.fill(1_000, "ready")
    before = _members(bench)
    bench.turn(128, mine, "turn, everything", retention=timedelta(), retained_jobs=0)
    after = _members(bench)
    assert (
        sum(abs(after[place] - before[place]) for place in ("scheduled", "processing", "ended")) <= ELEMENTS
    )
    assert before["scheduled"] - after["scheduled"] <= 500


def test_one_job_behind_hundreds_of_stale_entries(bench: Bench) -> None:
    """A worker with one slot must not pay a round of commands for every entry that it skips."""
    bench.redis.rpush(KEYS.key("ready:1"), *(f"1{n}:gone" for n in range(200)))
    bench.redis.hset(KEYS.key("stats"), "stale", 200)
    bench.fill(2)
    assert len(bench.turn(1, name="turn, 1 wanted, 200 stale").claimed) == 1


def test_keeping_a_thousand_jobs(bench: Bench) -> None:
    bench.fill(1_000)
    claims = bench.turn(1_000, name="turn, 1,000 wanted").claimed
    lease = timedelta(seconds=10)
    bench.do(turns.extend(KEYS, worker="w1", lease=lease, runs=[(c.id, c.version) for c in claims]))


def test_pruning_discarding_and_auditing_by_five_hundred(bench: Bench) -> None:
    bench.fill(2_000)
    for _ in range(4):
        claims = bench.turn(500, name="turn, 500 wanted").claimed
        bench.turn(0, ended(claims), name="turn, 500 finishes")
    none = Limits(retained_jobs=0).packed()
    assert bench.do(turns.prune(KEYS, limits=none, limit=500)) == 500
    shorts = [f"j{n:020}" for n in range(1_000, 1_500)]
    assert bench.do(jobs.discard(KEYS, shorts, timedelta(minutes=10))) == 500
    assert bench.do(turns.audit(KEYS, every=timedelta(), limit=500)).looked_at <= ELEMENTS


def test_firing_fifty_slots(bench: Bench) -> None:
    names = [f"schedule {n}" for n in range(50)]
    for name in names:
        bench.do(schedules.put_schedule(KEYS, name, spec=BODY, after_ms=0, next_ms=1, wall=""))
    due = bench.turn(1, name="turn, 50 schedules due").due
    assert len(due) == 50
    slots = []
    for one in due:
        kept = schedules.Definition.unpacked(one.definition)
        slots.append(
            schedules.SlotToFire(
                name=one.name,
                incarnation=kept.incarnation,
                revision=kept.revision,
                slot_id="1",
                at_ms=1,
                wall="2027-01-01T09:00:00",
                next_ms=4_000_000_000_000,
                job=new_job(one.name, BODY, at_ms=1),
            )
        )
    assert bench.do(schedules.fire(KEYS, slots), "fire 50").count(schedules.Fired.FIRED) == 50


def test_looking_and_listing(bench: Bench) -> None:
    bench.fill(1_000)
    short = f"j{7:020}"
    reads: list[Callable[[], object]] = [
        lambda: bench.do(jobs.look(KEYS, short)),
        lambda: bench.do(jobs.list_jobs(KEYS, "ready:1", offset=500, limit=100)),
        lambda: bench.do(queues.status(KEYS)),
        lambda: bench.do(schedules.list_schedules(KEYS)),
        lambda: bench.do(jobs.reschedule(KEYS, short, at_ms=int(time.time() * 1_000) + 60_000)),
        lambda: bench.do(jobs.cancel(KEYS, short)),
        lambda: bench.do(jobs.revive(KEYS, short)),
    ]
    for read in reads:
        read()


def _members(bench: Bench) -> dict[str, int]:
    places = ("scheduled", "processing", "ended", "tombstones")
    return {place: bench.redis.zcard(KEYS.key(place)) for place in places}
