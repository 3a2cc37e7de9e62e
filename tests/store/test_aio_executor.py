"""The asyncio executor under faults: as the blocking one, and under cancellation and with several loops."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine

import pytest

from redisched.core.errors import (
    OutcomeUnknownError,
    StoreMisconfiguredError,
    StoreRefusedError,
    StoreUnavailableError,
)
from redisched.core.failpoints import FailpointError, armed
from redisched.store.address import Address
from redisched.store.aio_executor import AsyncExecutor
from redisched.store.backoff import Patience
from redisched.store.executor import IDLE_CONNECTIONS, Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow, Operation
from redisched.store.operations.jobs import Look, Stored, enqueue, look
from redisched.store.operations.queues import ping, wait
from tests.conftest import ServerFactory
from tests.faults.proxy import Mode, Proxy
from tests.servers import TestServer
from tests.store.queue import new_job
from tests.waiting import wait_for, wait_for_async

KEYS = Keyspace("test", "executor")
LOST_REPLIES = [Mode.DROP, Mode.RST, Mode.CUT, Mode.SWALLOW]

Work = Callable[[AsyncExecutor], Coroutine[object, object, None]]


def executor_for(url: str, patience: float = 5.0, reply_seconds: float = 0.3) -> AsyncExecutor:
    return AsyncExecutor(lambda: Address.parse(url), patience=Patience(patience), reply_seconds=reply_seconds)


def run(url: str, work: Work, *, patience: float = 5.0, reply_seconds: float = 0.3) -> None:
    """Run `work` with an executor of its own, in a loop of its own."""

    async def main() -> None:
        executor = executor_for(url, patience, reply_seconds)
        try:
            await work(executor)
        finally:
            await executor.close()

    asyncio.run(main())


def store(short: str) -> Operation[list[Stored]]:
    return enqueue(KEYS, [new_job(short, short.encode())])


def enqueued(server: TestServer) -> int:
    """How many jobs were stored, as the script counts them."""
    return int(server.client().hget(KEYS.key("stats"), "enqueued") or 0)


def connections(server: TestServer) -> int:
    return sum(row["name"] == "redisched" for row in server.client().client_list())


# -- lost replies


@pytest.mark.parametrize("mode", LOST_REPLIES)
def test_a_call_whose_replies_are_lost_happens_once(proxy: Proxy, server: TestServer, mode: Mode) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await executor.send(ping())
        proxy.arm(mode, b"EVALSHA", times=3)
        await executor.send(store("a"))
        assert (await executor.send(look(KEYS, "a"))).body == b"a"

    run(proxy.url, work)
    assert (proxy.bites[mode], enqueued(server)) == (3, 1)


@pytest.mark.parametrize("mode", LOST_REPLIES)
def test_a_call_that_is_not_repeated_says_that_it_may_have_happened(
    proxy: Proxy, server: TestServer, mode: Mode
) -> None:
    """Nobody has the patience to."""

    async def work(executor: AsyncExecutor) -> None:
        await executor.send(store("warm"))
        proxy.arm(mode, b"EVALSHA")
        with pytest.raises(OutcomeUnknownError) as unknown:
            await executor.send(store("a"))
        assert unknown.value.job_ids == ("executor:a",)

    run(proxy.url, work, patience=0)
    assert (proxy.bites[mode], enqueued(server)) == (1, 2)


def test_f57_scripts_flushed_in_a_storm_cost_no_job_and_double_none(server: TestServer) -> None:
    async def work(executor: AsyncExecutor) -> None:
        client, over = server.client(), asyncio.Event()

        async def flush() -> None:
            while not over.is_set():
                await asyncio.to_thread(client.script_flush)

        storm = asyncio.create_task(flush())
        for start in range(0, 400, 50):
            stored = await asyncio.gather(*(executor.send(store(f"j{start + n}")) for n in range(50)))
            assert [each[0].created for each in stored] == [True] * 50
        over.set()
        await storm

    run(server.url, work, reply_seconds=5)
    assert enqueued(server) == 400


# -- servers that are not there, or say no


def test_a_server_that_is_down_is_unavailable_within_patience(proxy: Proxy) -> None:
    async def work(executor: AsyncExecutor) -> None:
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError, match="enqueue"):
            await executor.send(store("a"))
        assert time.monotonic() - began < 1.0

    proxy.refuse()
    run(proxy.url, work, patience=0.3)


def test_a_server_that_comes_back_is_used_again(fresh_server: ServerFactory) -> None:
    server = fresh_server(appendfsync="always")

    async def work(executor: AsyncExecutor) -> None:
        await executor.send(store("a"))
        await asyncio.to_thread(server.restart)
        assert await executor.send(store("b")) == [Stored(True)]
        assert (await executor.send(look(KEYS, "a"))).body == b"a"

    run(server.url, work)


def test_a_wrong_password_fails_fast(fresh_server: ServerFactory) -> None:
    server = fresh_server(tcp=True)
    server.client().config_set("requirepass", "right")

    async def work(executor: AsyncExecutor) -> None:
        began = time.monotonic()
        with pytest.raises(StoreMisconfiguredError):
            await executor.send(store("a"))
        assert time.monotonic() - began < 1.0

    for url in (f"redis://:wrong@127.0.0.1:{server.port}", server.tcp_url):
        run(url, work, patience=10)


def test_a_full_server_refuses(fresh_server: ServerFactory) -> None:
    server = fresh_server(config=["maxmemory 1", "maxmemory-policy noeviction"])

    async def work(executor: AsyncExecutor) -> None:
        with pytest.raises(StoreRefusedError, match=r"OOM.*nothing was stored"):
            await executor.send(store("a"))

    run(server.url, work)


def test_a_server_that_loads_its_data_is_waited_for(fresh_server: ServerFactory) -> None:
    server = fresh_server()
    client = server.client()
    with client.pipeline(transaction=False) as pipeline:
        for n in range(2_000):
            pipeline.set(f"key:{n}", "x" * 100, px=600_000)
        pipeline.execute()
    client.save()
    server.config = ("key-load-delay 500", "loading-process-events-interval-bytes 1024")
    server.kill()

    async def work(executor: AsyncExecutor) -> None:
        restarted = asyncio.create_task(asyncio.to_thread(server.start))
        probe = executor_for(server.url, patience=0, reply_seconds=5)

        async def loading() -> bool:
            try:
                await probe.send(look(KEYS, "a"))
            except StoreUnavailableError as error:
                return "LOADING" in str(error)
            return False

        await wait_for_async(loading, what="the server to load")
        assert await executor.send(store("a")) == [Stored(True)]
        await restarted
        await probe.close()

    run(server.url, work, patience=20, reply_seconds=10)


# -- cancellation


async def _both_stored(executor: AsyncExecutor) -> None:
    for short in ("a", "b"):
        await executor.send(store(short))


async def _own_replies(executor: AsyncExecutor) -> bool:
    found = [await executor.send(look(KEYS, short)) for short in ("b", "a", "b")]
    return [each.body for each in found] == [b"b", b"a", b"b"]


@pytest.mark.parametrize("cancels", [1, 2, 3])
def test_a_cancelled_call_never_answers_the_next_and_leaks_nothing(
    proxy: Proxy, server: TestServer, cancels: int
) -> None:
    """A task may be cancelled again while it still cleans up after the first time."""

    async def work(executor: AsyncExecutor) -> None:
        await _both_stored(executor)
        for round_ in range(1, 6):
            proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=40)
            task = asyncio.create_task(executor.send(look(KEYS, "a")))
            await _bitten(proxy, round_)
            for _ in range(cancels):
                task.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await _own_replies(executor)
        await asyncio.to_thread(
            wait_for, lambda: connections(server) == 1, what="the cancelled connections to be closed"
        )

    run(proxy.url, work)
    assert proxy.bites[Mode.DELAY] == 5


@pytest.mark.parametrize("steps", range(12))
def test_a_call_may_be_cancelled_at_any_step(server: TestServer, steps: int) -> None:
    """On the way to a connection too: after so many turns of the loop, wherever that is."""

    async def work(executor: AsyncExecutor) -> None:
        await _both_stored(executor)
        for _ in range(3):
            tasks = [asyncio.create_task(executor.send(look(KEYS, "a"))) for _ in range(4)]
            for _ in range(steps):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(each, Look | asyncio.CancelledError) for each in ended)
            assert await _own_replies(executor)
        gc.collect()
        await asyncio.to_thread(
            wait_for, lambda: connections(server) <= 4, what="the cancelled connections to be closed"
        )

    run(server.url, work)


def test_a_call_over_its_time_never_answers_the_next(proxy: Proxy) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await _both_stored(executor)
        for _ in range(5):
            proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=40)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await executor.send(look(KEYS, "a"))
            assert await _own_replies(executor)

    run(proxy.url, work)


def test_a_cancelled_enqueue_that_ran_is_one_job(proxy: Proxy, server: TestServer) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await executor.send(store("warm"))
        proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=40)
        task = asyncio.create_task(executor.send(store("a")))
        await _bitten(proxy, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await executor.send(store("a")) == [Stored(False)]

    run(proxy.url, work)
    assert enqueued(server) == 2


@pytest.mark.parametrize("place", ["client.before_send", "client.after_send"])
def test_a_call_that_fails_half_way_never_answers_the_next(server: TestServer, place: str) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await _both_stored(executor)
        for _ in range(5):
            with armed(f"{place}=raise*1"), pytest.raises(FailpointError):
                await executor.send(look(KEYS, "a"))
            assert await _own_replies(executor)

    run(server.url, work)


# -- tasks and loops


def test_tasks_under_faults_get_their_own_replies(proxy: Proxy, server: TestServer) -> None:
    async def work(executor: AsyncExecutor) -> None:
        for mode in (Mode.DROP, Mode.CUT, Mode.RST):
            proxy.arm(mode, b"EVALSHA", times=10)

        async def one(n: int) -> Look:
            await executor.send(store(f"j{n}"))
            return await executor.send(look(KEYS, f"j{n}"))

        found = await asyncio.gather(*(one(n) for n in range(100)))
        assert [each.body for each in found] == [b"j%d" % n for n in range(100)]

    run(proxy.url, work)
    assert (sum(proxy.bites.values()), enqueued(server)) == (30, 100)


def test_idle_connections_are_few(server: TestServer) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await asyncio.gather(*(executor.send(wait([KEYS], 0.1)) for _ in range(IDLE_CONNECTIONS + 8)))
        await asyncio.to_thread(
            wait_for, lambda: connections(server) <= IDLE_CONNECTIONS, what="those too many to be closed"
        )

    run(server.url, work, reply_seconds=5)
    wait_for(lambda: connections(server) == 0, what="the idle connections to be closed")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_executor_serves_loop_after_loop(server: TestServer) -> None:
    """A program that calls asyncio.run again and again must not pile up connections."""
    executor = executor_for(server.url)
    for n in range(8):
        asyncio.run(executor.send(store(f"j{n}")))
        gc.collect()
    assert enqueued(server) == 8
    wait_for(lambda: connections(server) <= 2, what="the connections of loops that are over to be closed")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_executor_serves_loops_in_several_threads(server: TestServer) -> None:
    async def work(executor: AsyncExecutor) -> None:
        names = [f"{time.perf_counter_ns()}-{n}" for n in range(20)]
        await asyncio.gather(*(executor.send(store(name)) for name in names))
        for name in names:
            assert (await executor.send(look(KEYS, name))).body == name.encode()
        await executor.close()

    async def main() -> None:
        shared = executor_for(server.url)
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, work(shared)) for _ in range(4)))

    asyncio.run(main())
    assert enqueued(server) == 80


def test_the_loop_runs_while_the_executor_waits(proxy: Proxy) -> None:
    async def work(executor: AsyncExecutor) -> None:
        await executor.send(store("a"))
        proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=100)
        call, turns = asyncio.create_task(executor.send(look(KEYS, "a"))), 0
        while not call.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert turns > 5
        assert (await call).body == b"a"

    run(proxy.url, work)


# -- flows


def _store_and_look(short: str) -> Flow[Look]:
    stored = yield from store(short)
    assert stored == [Stored(True)]
    return (yield from look(KEYS, short))


def test_a_flow_is_the_same_for_both_executors(server: TestServer) -> None:
    blocking = Executor(lambda: Address.parse(server.url), patience=Patience(1))
    assert blocking.run(_store_and_look("a")).body == b"a"
    blocking.close()

    async def work(executor: AsyncExecutor) -> None:
        assert (await executor.run(_store_and_look("b"))).body == b"b"

    run(server.url, work)


def test_an_error_ends_a_flow(proxy: Proxy) -> None:
    blocking = Executor(lambda: Address.parse(proxy.url), patience=Patience(0))
    proxy.refuse()
    with pytest.raises(StoreUnavailableError):
        blocking.run(_store_and_look("a"))

    async def work(executor: AsyncExecutor) -> None:
        with pytest.raises(StoreUnavailableError):
            await executor.run(_store_and_look("a"))

    run(proxy.url, work, patience=0)


async def _bitten(proxy: Proxy, times: int) -> None:
    """Until a delayed request has run: its reply is on its way."""

    async def bitten() -> bool:
        return proxy.bites[Mode.DELAY] >= times

    await wait_for_async(bitten, what="the request to run")
