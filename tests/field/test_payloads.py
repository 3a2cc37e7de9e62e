"""F66-F68: text of any script, data that cannot be read, arguments that come back as they were."""

from __future__ import annotations

import dataclasses
import os
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from redisched import Every
from redisched.core.errors import JobDeadError, PayloadError
from redisched.core.states import JobState
from tests.apps.caravan import back, back_process, back_thread, fails_saying, named_in_its_own_script
from tests.apps.probe import probe
from tests.field.plain_worker import plain_worker
from tests.fleet import Fleet, WorkerProcess
from tests.processes import Processes
from tests.waiting import wait_for

CARAVAN: Final = "tests.apps.caravan:app"
JOBS: Final = "rs:{test:default}:jobs"
FORGED: Final = "2026-01-01T00:00:00.000Z INFO redisched.worker: forged"
TEXTS: Final = [
    "日本語のテキスト",
    "🚀👩‍👩‍👧‍👦",
    "\u202eשלום مرحبا\u202c",  # noqa: RUF001 - letters of other scripts are the point
    "a\x00b",
    f"line\n{FORGED}",
    f"return\r{FORGED}",
    f"\u2028{FORGED}\x85{FORGED}",
    "\x1b[31mred\x1b[0m",
    "%s %(name)s {0}",
]
ASCII_ONLY: Final = {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}


@pytest.fixture
def ascii_worker(fleet: Fleet, processes: Processes, tmp_path: Path) -> WorkerProcess:
    """The plain command under a locale that knows no letters but ASCII; its log goes to a file."""
    env = fleet.env(**ASCII_ONLY)
    return plain_worker(processes, CARAVAN, tmp_path / "ascii.log", env, "-v").wait_until_ready()


def lines(worker: WorkerProcess) -> list[str]:
    """As any reader of the log may split it."""
    return worker.log.splitlines()


def test_f66_text_of_any_script_runs_and_comes_back(fleet: Fleet, ascii_worker: WorkerProcess) -> None:
    """As an argument and as the job's own id."""
    jobs = [fleet.app.options(job_id=text).enqueue(back, text, word=text) for text in TEXTS]
    jobs.append(fleet.app.enqueue(named_in_its_own_script, "x"))
    assert [job.result(timeout=10) for job in jobs] == [*([[t], {"word": t}] for t in TEXTS), "x"]
    assert ascii_worker.alive


def test_f66_no_text_of_an_exception_forges_a_line_of_the_log(
    fleet: Fleet, ascii_worker: WorkerProcess
) -> None:
    """The dead letter keeps it as it was; the log is ASCII, each event one line."""
    jobs = [fleet.app.options(job_id=text).enqueue(fails_saying, text) for text in TEXTS]
    for job, text in zip(jobs, TEXTS, strict=True):
        with pytest.raises(JobDeadError):
            job.result(timeout=10)
        assert job.info().reason == f"ValueError: {text}"
    wait_for(lambda: ascii_worker.log.count(" is dead") == len(TEXTS), what="each death in the log")
    assert not any(line.startswith(FORGED) for line in lines(ascii_worker))
    assert ascii_worker.log.isascii()


def test_f66_schedules_of_any_name_fire(fleet: Fleet, ascii_worker: WorkerProcess) -> None:
    for text in TEXTS:
        fleet.app.schedules.upsert(text, back.call(text), Every(seconds=1))
    wait_for(lambda: all(one.fired for one in fleet.app.schedules.list()), what="each fires", timeout=10)
    for text in TEXTS:
        assert fleet.app.schedules.remove(text)
    assert ascii_worker.alive
    assert not any(line.startswith(FORGED) for line in lines(ascii_worker))


@pytest.mark.parametrize("kind", ["random", "empty-body", "truncated", "newer-format", "newer-call"])
def test_f67_a_job_that_cannot_be_read_harms_no_other(fleet: Fleet, kind: str) -> None:
    """It is dead with the reason and its payload, and one line of the log says so; three behind it run."""
    bad = fleet.app.enqueue(probe, label="bad")
    short = bad.id.partition(":")[2]
    with fleet.server.client() as client:
        whole = client.hget(JOBS, short)
        assert isinstance(whole, bytes)
        damaged = {
            "random": os.urandom(80),
            "empty-body": whole[:21],
            "truncated": whole[:-5],
            "newer-format": b"j2" + whole[2:],
            "newer-call": whole[:21] + b"\x95" + whole[22:] + b"\x01",
        }[kind]
        client.hset(JOBS, short, damaged)
        good = [fleet.app.enqueue(probe, label=n) for n in range(3)]
        worker = fleet.start()
        assert [job.result(timeout=10) for job in good] == [0, 1, 2]
        wait_for(lambda: bad.status() is JobState.DEAD, what="it is dead")
        assert bad.info().reason
        assert client.hget(JOBS, short) == damaged
    with pytest.raises(JobDeadError):
        bad.result(timeout=1)
    assert worker.alive
    assert len([line for line in lines(worker) if bad.id in line]) == 1


def test_f67_a_record_that_cannot_be_read_is_dead_with_what_is_left_of_it(fleet: Fleet) -> None:
    """The same for the part of a job that changes."""
    bad = fleet.app.options(unique="x").enqueue(probe, label="bad")
    with fleet.server.client() as client:
        client.hset("rs:{test:default}:state", bad.id.partition(":")[2], b"\xff" * 40)
    good = fleet.app.enqueue(probe, label="good")
    worker = fleet.start()
    assert good.result(timeout=10) == "good"
    wait_for(lambda: bad.status() is JobState.DEAD, what="it is dead")
    assert "corrupt" in bad.info().reason
    assert bad.info().kwargs == {"label": "bad"}
    assert worker.alive
    assert len([line for line in lines(worker) if bad.id in line]) == 1


@dataclasses.dataclass
class Click:
    code: str


CARRIED: Final[list[Any]] = [
    (1, 2),
    ((1, (2, ())), [3]),
    {(1, 2): "tuple key", 3: "int key", None: 0, True: [()]},
    datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/London")),
    datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    datetime(2026, 7, 1, 12, 0, 0, 123456, tzinfo=UTC),
    datetime(2026, 7, 1, 12),  # noqa: DTZ001 - a naive one is carried as such
    date(2026, 7, 1),
    timedelta(days=-1, microseconds=1),
    Decimal("1.10"),
    UUID(int=7),
    {1, 2, 3},
    frozenset({"a"}),
    b"\x00\xff",
    2**63,
    2**64,
    -(2**63) - 1,
    10**40,
    float("inf"),
    -0.0,
]
DEEP: Final = "deep"
REFUSED: Final[dict[str, Any]] = {
    "object": object(),
    "dataclass": Click("x7Kp"),
    "function": print,
    "generator": (n for n in range(3)),
    "deep": DEEP,
}


@pytest.mark.parametrize("task", [back, back_thread, back_process], ids=["async", "thread", "process"])
def test_f68_arguments_arrive_equal_in_value_and_type(fleet: Fleet, task: Any) -> None:
    """All at once as positional and as keyword arguments; so does the result."""
    fleet.start(app=CARAVAN)
    named = {f"v{n}": value for n, value in enumerate(CARRIED)}
    positional, keywords = fleet.app.enqueue(task, *CARRIED, **named).result(timeout=15)
    assert [(type(value), repr(value)) for value in positional] == [(type(v), repr(v)) for v in CARRIED]
    assert {name: (type(v), repr(v)) for name, v in keywords.items()} == {
        name: (type(v), repr(v)) for name, v in named.items()
    }


@pytest.mark.parametrize("what", REFUSED)
def test_f68_what_cannot_be_carried_is_refused_at_the_call_and_nothing_is_stored(
    fleet: Fleet, what: str
) -> None:
    """The error is a TypeError or ValueError that names the argument."""
    value = nested(1000) if what == DEEP else REFUSED[what]
    with fleet.server.client() as client:
        before = client.dbsize()
        with pytest.raises((TypeError, ValueError), match="visitor") as caught:
            fleet.app.enqueue(back, 1, visitor=value)
        assert isinstance(caught.value, PayloadError)
        assert client.dbsize() == before


def nested(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found
