"""Enqueuing by the public face: many at once, by many at once, and when the server's answer is missing."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import pytest

from redisched import Job, JobState, OutcomeUnknownError, Scheduler, StoreUnavailableError
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from tests.apps.probe import noop, probe
from tests.faults.proxy import Mode, Proxy
from tests.field.census import counter, places, queue_status
from tests.fleet import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import ServerFactory

QUEUES: Final = ("mail", "bulk", "default")
ALWAYS: Final = 10_000
PADDING: Final = "x" * 2_000


@pytest.fixture
def hasty() -> Iterator[Callable[[str], Scheduler]]:
    """Clients that give up after a second instead of ten."""
    apps: list[Scheduler] = []

    def make(url: str) -> Scheduler:
        app = Scheduler(url, namespace="test")
        backend = app.backend
        backend._sync = Executor(backend.locate, patience=Patience(0.5), reply_seconds=0.3)
        backend._aio = AsyncExecutor(backend.locate, patience=Patience(0.5), reply_seconds=0.3)
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


# -- many at once


def test_enqueue_many_keeps_the_order_over_batches_and_queues(fleet: Fleet) -> None:
    """Three queues, more jobs in each than one batch takes: handles in the order given, and runs, too."""
    count = 900
    calls = [replace(probe.call(label=n), queue=QUEUES[n % 3]) for n in range(count)]
    jobs = fleet.app.enqueue_many(calls)
    assert [job.id.partition(":")[0] for job in jobs] == [QUEUES[n % 3] for n in range(count)]
    assert all(job.created for job in jobs)
    fleet.start(queues=list(QUEUES), concurrency=1)
    assert [job.result(timeout=60) for job in jobs] == list(range(count))
    for queue in QUEUES:
        ran = [int(str(x.facts["label"])) for x in fleet.starts() if x.id.startswith(f"{queue}:")]
        assert ran == list(range(QUEUES.index(queue), count, 3))


def test_enqueue_many_says_which_jobs_were_there(fleet: Fleet) -> None:
    """Ids that are known, ids that are new, and one that comes twice in the same call."""
    first = fleet.app.enqueue_many([noop.call().with_id(f"n{n}") for n in range(300)])
    assert all(job.created for job in first)
    second = fleet.app.enqueue_many([noop.call().with_id(f"n{n}") for n in [*range(0, 600, 2), 598]])
    assert [job.created for job in second] == [*(n >= 300 for n in range(0, 600, 2)), False]
    assert [job.id for job in second] == [f"default:n{n}" for n in [*range(0, 600, 2), 598]]


def test_enqueue_many_that_fails_on_its_way_names_what_is_missing(
    fresh_server: ServerFactory, hasty: Callable[[str], Scheduler]
) -> None:
    """A server that is full after some batches: not "nothing was stored", but which jobs are not."""
    server = fresh_server()
    app, count = hasty(server.url), 3_000
    calls = [probe.call(label=PADDING).with_id(f"n{n}") for n in range(count)]
    with server.client() as client:
        used = cast("dict[str, int]", client.info("memory"))["used_memory"]
        client.config_set("maxmemory", used + 3_000_000)
        with pytest.raises(OutcomeUnknownError) as caught:
            app.enqueue_many(calls, delay=60)
        missing = set(caught.value.job_ids)
        assert 0 < len(missing) < count
        for n in range(count):
            there = app.job(f"default:n{n}").status() is not JobState.NOT_FOUND
            assert there == (f"default:n{n}" not in missing)
        client.config_set("maxmemory", 0)
    assert {job.id for job in app.enqueue_many(calls, delay=60) if job.created} == missing


# -- the answer is missing


@pytest.mark.parametrize("mode", [Mode.SWALLOW, Mode.DROP])
def test_a_job_whose_answer_was_lost_is_named_and_repeating_it_makes_no_second(
    fleet: Fleet, proxy: Proxy, hasty: Callable[[str], Scheduler], mode: Mode
) -> None:
    """The error's own `job_id` is what to repeat with; one job, which runs once."""
    app = hasty(proxy.url)
    # The server has the script: what is lost below are the answers of requests that did something.
    fleet.app.enqueue(noop)
    proxy.arm(mode, b"EVAL", times=ALWAYS)
    with pytest.raises(OutcomeUnknownError) as caught:
        app.enqueue(probe, label="lost")
    assert proxy.bites[mode] > 0
    proxy.disarm()
    job_id = caught.value.job_id
    assert job_id is not None
    again = app.options(job_id=job_id).enqueue(probe, label="lost")
    assert (again.id, again.created) == (job_id, False)
    fleet.start()
    assert again.result(timeout=10) == "lost"
    assert fleet.start_counts() == {job_id: 1}
    assert counter(fleet, "enqueued") == places(queue_status(fleet)) == 2


def test_a_request_that_never_arrived_is_repeated_as_the_same_job(
    fleet: Fleet, proxy: Proxy, hasty: Callable[[str], Scheduler]
) -> None:
    """Whether it arrived cannot be known: the same error, and repeating it makes the first one."""
    app = hasty(proxy.url)
    proxy.arm(Mode.BLACKHOLE, b"EVAL", times=ALWAYS)
    with pytest.raises(OutcomeUnknownError) as caught:
        app.options(job_id="mine").enqueue(probe)
    assert caught.value.job_id == "default:mine"
    proxy.disarm()
    again = app.options(job_id=caught.value.job_id).enqueue(probe)
    assert (again.id, again.created) == ("default:mine", True)


def test_one_lost_answer_is_not_noticed(
    fleet: Fleet, proxy: Proxy, hasty: Callable[[str], Scheduler]
) -> None:
    """The client repeats its request, which makes no second job."""
    app = hasty(proxy.url)
    fleet.start()
    for mode in (Mode.DROP, Mode.RST, Mode.CUT, Mode.SWALLOW):
        proxy.arm(mode, b"EVAL")
        app.enqueue(probe).result(timeout=10)
    assert proxy.bites.total() == 4
    assert counter(fleet, "enqueued") == 4
    assert set(fleet.start_counts().values()) == {1}


def test_a_server_that_is_down_means_that_nothing_was_stored(
    fresh_server: ServerFactory, hasty: Callable[[str], Scheduler]
) -> None:
    """StoreUnavailableError from both faces; the same scheduler works once the server is back."""
    server = fresh_server()
    app = hasty(server.url)
    app.enqueue(noop)
    server.shutdown()
    with pytest.raises(StoreUnavailableError):
        app.enqueue(noop)

    async def enqueue() -> None:
        await app.aio.enqueue(noop)

    with pytest.raises(StoreUnavailableError):
        asyncio.run(enqueue())
    server.start()
    assert app.enqueue(noop).status() is JobState.READY
    with server.client() as client:
        assert client.hlen("rs:{test:default}:jobs") == 1


# -- by many at once


def test_threads_share_a_scheduler(fleet: Fleet) -> None:
    """Eight threads: every handle is that of the job which its own call made."""
    found: list[tuple[int, Job[object]]] = []

    def enqueue(first: int) -> None:
        found.extend((label, fleet.app.enqueue(probe, label=label)) for label in range(first, first + 50))

    threads = [threading.Thread(target=enqueue, args=(1000 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({job.id for _, job in found}) == 8 * 50
    fleet.start()
    for label, job in found:
        assert job.result(timeout=20) == label
    assert set(fleet.start_counts().values()) == {1}


def test_cancelled_asyncio_tasks_leave_the_others_their_own_answers(fleet: Fleet) -> None:
    """A third of the callers is cancelled in the midst of their calls; the rest gets the jobs it made."""
    count = 300

    async def call(label: int) -> tuple[str, int]:
        job = await fleet.app.aio.enqueue(probe, label=label)
        return job.id, label

    async def main() -> tuple[dict[str, int], int]:
        tasks = [asyncio.create_task(call(n)) for n in range(count)]
        for n, task in enumerate(tasks):
            if n % 3 == 0:
                # One more step of the loop each time: they are cancelled at different places.
                await asyncio.sleep(0)
                task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        kept = [one for one in answers if not isinstance(one, BaseException)]
        assert all(isinstance(one, asyncio.CancelledError) for one in answers if one not in kept)
        later = await fleet.app.aio.enqueue(probe, label=-1)
        assert await later.status() is JobState.READY
        await fleet.app.aio.close()
        return dict(kept), sum(isinstance(one, BaseException) for one in answers)

    made, cancelled = asyncio.run(main())
    assert cancelled > 0
    assert len(made) + cancelled == count
    stored = counter(fleet, "enqueued")
    assert len(made) + 1 <= stored <= count + 1
    fleet.start()
    for job_id, label in made.items():
        assert fleet.app.job(job_id).result(timeout=20) == label
    assert set(fleet.start_counts().values()) == {1}


def test_a_scheduler_serves_one_event_loop_after_another(fleet: Fleet) -> None:
    """Each asyncio.run has a loop of its own; the connections of the one before are no harm."""
    fleet.start()

    async def run(label: int) -> object:
        job = await fleet.app.aio.enqueue(probe, label=label)
        return await job.result(timeout=10)

    assert [asyncio.run(run(n)) for n in range(3)] == [0, 1, 2]
