"""The executor under faults: one job for one enqueue, true errors, and never a mixed-up reply."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from redisched.core.errors import (
    OutcomeUnknownError,
    ScriptError,
    StoreError,
    StoreMisconfiguredError,
    StoreRefusedError,
    StoreUnavailableError,
)
from redisched.core.failpoints import FailpointError, armed
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import IDLE_CONNECTIONS, Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, command
from redisched.store.operations.jobs import Look, Stored, enqueue, look
from redisched.store.operations.queues import info, ping, server_time_ms, status, wait
from redisched.store.replies import Cure, as_error, cure
from tests.conftest import ServerFactory
from tests.faults.proxy import Mode, Proxy
from tests.processes import Processes
from tests.servers import TestServer
from tests.store.queue import new_job
from tests.waiting import wait_for

KEYS = Keyspace("test", "executor")
LOST_REPLIES = [Mode.DROP, Mode.RST, Mode.CUT, Mode.SWALLOW]

MakeExecutor = Callable[..., Executor]


@pytest.fixture
def make_executor() -> Iterator[MakeExecutor]:
    """Makes executors that end with the test."""
    made: list[Executor] = []

    def make(url: str, patience: float = 5.0, reply_seconds: float = 0.3) -> Executor:
        executor = Executor(
            lambda: Address.parse(url), patience=Patience(patience), reply_seconds=reply_seconds
        )
        made.append(executor)
        return executor

    yield make
    for executor in made:
        executor.close()


@pytest.fixture
def executor(proxy: Proxy, make_executor: MakeExecutor) -> Executor:
    """An executor behind the proxy."""
    return make_executor(proxy.url)


def store(short: str) -> Operation[list[Stored]]:
    return enqueue(KEYS, [new_job(short, short.encode())])


def enqueued(server: TestServer) -> int:
    """How many jobs were stored, as the script counts them."""
    return int(server.client().hget(KEYS.key("stats"), "enqueued") or 0)


def connections(server: TestServer, name: bytes = b"redisched") -> int:
    return sum(row["name"] == name.decode() for row in server.client().client_list())


# -- lost replies


@pytest.mark.parametrize("mode", LOST_REPLIES)
@pytest.mark.parametrize("times", [1, 4])
def test_a_call_whose_replies_are_lost_happens_once(
    proxy: Proxy, executor: Executor, server: TestServer, mode: Mode, times: int
) -> None:
    executor.send(ping())
    proxy.arm(mode, b"EVALSHA", times=times)
    reply = executor.send(store("a"))
    assert proxy.bites[mode] == times
    assert len(reply) == 1
    assert (enqueued(server), executor.send(look(KEYS, "a")).body) == (1, b"a")


@pytest.mark.parametrize("mode", LOST_REPLIES)
def test_a_call_that_is_not_repeated_says_that_it_may_have_happened(
    proxy: Proxy, make_executor: MakeExecutor, server: TestServer, mode: Mode
) -> None:
    """Nobody has the patience to."""
    executor = make_executor(proxy.url, patience=0)
    executor.send(store("warm"))
    proxy.arm(mode, b"EVALSHA")
    with pytest.raises(OutcomeUnknownError) as unknown:
        executor.send(enqueue(KEYS, [new_job("a"), new_job("b")]))
    assert unknown.value.job_ids == ("executor:a", "executor:b")
    assert unknown.value.job_id == "executor:a"
    assert (proxy.bites[mode], enqueued(server)) == (1, 3)


def test_replies_lost_until_patience_ends_leave_the_outcome_unknown(
    proxy: Proxy, make_executor: MakeExecutor, server: TestServer
) -> None:
    executor = make_executor(proxy.url, patience=0.2)
    proxy.arm(Mode.DROP, b"EVAL", times=10_000)
    with pytest.raises(OutcomeUnknownError) as unknown:
        executor.send(store("a"))
    assert unknown.value.job_ids == ("executor:a",)
    assert proxy.bites[Mode.DROP] > 1
    proxy.disarm()
    executor.send(store("a"))
    assert enqueued(server) == 1


def test_a_request_that_never_arrives_is_sent_again(
    proxy: Proxy, executor: Executor, server: TestServer
) -> None:
    proxy.arm(Mode.BLACKHOLE, b"EVALSHA")
    executor.send(store("a"))
    assert (proxy.bites[Mode.BLACKHOLE], enqueued(server)) == (1, 1)


def test_a_late_reply_is_nobodys(proxy: Proxy, executor: Executor) -> None:
    """A reply that comes after its caller gave up must not answer the next call."""
    for short in ("a", "b"):
        executor.send(store(short))
    proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=500)
    assert executor.send(look(KEYS, "a")).body == b"a"
    for short in ("b", "a", "b"):
        assert executor.send(look(KEYS, short)).body == short.encode()


def test_a_read_without_a_reply_leaves_no_doubt(proxy: Proxy, make_executor: MakeExecutor) -> None:
    executor = make_executor(proxy.url, patience=0.2)
    executor.send(store("a"))
    proxy.arm(Mode.DROP, b"", times=10_000)
    with pytest.raises(StoreUnavailableError):
        executor.send(look(KEYS, "a"))
    with pytest.raises(StoreUnavailableError):
        executor.send(ping())


def test_f57_scripts_flushed_in_a_storm_cost_no_job_and_double_none(
    server: TestServer, make_executor: MakeExecutor
) -> None:
    """Failovers and maintenance empty the script cache at any moment."""
    executor, over = make_executor(server.url), threading.Event()
    client = server.client()

    def flush() -> None:
        while not over.is_set():
            client.script_flush()

    with ThreadPoolExecutor(5) as pool:
        storm = pool.submit(flush)
        jobs = list(pool.map(lambda n: executor.send(store(f"j{n}"))[0].created, range(400)))
        over.set()
        storm.result()
    assert jobs == [True] * 400
    assert enqueued(server) == 400
    assert server.client().info("commandstats")["cmdstat_script|flush"]["calls"] > 5


def test_f57_a_lost_reply_during_a_flush_is_still_one_job(
    proxy: Proxy, executor: Executor, server: TestServer
) -> None:
    for n in range(20):
        server.client().script_flush()
        proxy.arm(Mode.DROP, b"EVAL\r\n")
        executor.send(store(f"j{n}"))
    assert (proxy.bites[Mode.DROP], enqueued(server)) == (20, 20)


# -- servers that are not there


def test_a_server_that_is_down_is_unavailable_within_patience(
    proxy: Proxy, make_executor: MakeExecutor
) -> None:
    executor = make_executor(proxy.url, patience=0.3)
    proxy.refuse()
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="enqueue"):
        executor.send(store("a"))
    assert time.monotonic() - began < 1.0


def test_a_server_that_goes_while_connections_are_idle_leaves_no_doubt(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    """The connection was over before the request was sent: nothing can have happened."""
    server = fresh_server()
    executor = make_executor(server.url, patience=0.2)
    executor.send(store("a"))
    server.kill()
    with pytest.raises(StoreUnavailableError):
        executor.send(store("b"))


def test_a_server_that_comes_back_is_used_again(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server(appendfsync="always")
    executor = make_executor(server.url)
    executor.send(store("a"))
    server.restart()
    assert executor.send(store("b")) == [Stored(True)]
    assert executor.send(look(KEYS, "a")).body == b"a"


def test_the_way_is_asked_for_again_with_each_connection(
    fresh_server: ServerFactory, server: TestServer
) -> None:
    """A server may move: the embedded one starts anew elsewhere."""
    first = fresh_server()
    urls = iter([first.url, server.url])
    executor = Executor(lambda: Address.parse(next(urls)), patience=Patience(1))
    executor.send(store("a"))
    first.kill()
    executor.send(store("a"))
    assert enqueued(server) == 1
    executor.close()


def test_connections_cut_by_the_server_are_replaced(executor: Executor, server: TestServer) -> None:
    for n in range(5):
        executor.send(store(f"j{n}"))
        server.client().client_kill_filter(_type="normal", skipme=True)
    assert enqueued(server) == 5


# -- what the server says


def test_a_wrong_password_fails_fast(fresh_server: ServerFactory, make_executor: MakeExecutor) -> None:
    server = fresh_server(tcp=True)
    server.client().config_set("requirepass", "right")
    for url in (f"redis://:wrong@127.0.0.1:{server.port}", server.tcp_url):
        began = time.monotonic()
        with pytest.raises(StoreMisconfiguredError) as refused:
            make_executor(url, patience=10).send(store("a"))
        assert time.monotonic() - began < 1.0
        assert "wrong@" not in str(refused.value)
    assert make_executor(f"redis://:right@127.0.0.1:{server.port}").send(store("a")) == [Stored(True)]


def test_a_user_without_rights_fails_fast(fresh_server: ServerFactory, make_executor: MakeExecutor) -> None:
    server = fresh_server(tcp=True)
    server.client().acl_setuser(
        "worker", enabled=True, passwords=["+pw"], keys=["*"], categories=["+@all"], commands=["-evalsha"]
    )
    executor = make_executor(f"redis://worker:pw@127.0.0.1:{server.port}", patience=10)
    began = time.monotonic()
    with pytest.raises(StoreMisconfiguredError, match="NOPERM"):
        executor.send(store("a"))
    assert time.monotonic() - began < 1.0


def test_a_right_taken_away_meanwhile_fails_fast(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server()
    executor = make_executor(server.url)
    executor.send(store("a"))
    server.client().acl_setuser("default", enabled=True, commands=["-hset"])
    with pytest.raises(StoreMisconfiguredError):
        executor.send(store("b"))


def test_a_full_server_refuses_and_takes_again_when_there_is_room(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server(config=["maxmemory 1", "maxmemory-policy noeviction"])
    executor = make_executor(server.url)
    with pytest.raises(StoreRefusedError, match=r"OOM.*nothing was stored"):
        executor.send(store("a"))
    server.client().config_set("maxmemory", 0)
    assert executor.send(store("a")) == [Stored(True)]


def test_an_unknown_outcome_stays_unknown_when_the_server_then_refuses(
    fresh_server: ServerFactory, new_proxy: Callable[[TestServer], Proxy], make_executor: MakeExecutor
) -> None:
    server = fresh_server()
    proxy = new_proxy(server)
    executor = make_executor(proxy.url)
    executor.send(store("warm"))
    client = server.client()
    proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=1_000)  # longer than the executor waits
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(executor.send, store("a"))
        wait_for(lambda: proxy.bites[Mode.DELAY], what="the request to run")
        client.config_set("maxmemory", 1)
        with pytest.raises(OutcomeUnknownError) as unknown:
            sent.result()
    assert unknown.value.job_ids == ("executor:a",)
    client.config_set("maxmemory", 0)
    assert executor.send(look(KEYS, "a")).body == b"a"


def test_too_few_replicas_refuse(fresh_server: ServerFactory, make_executor: MakeExecutor) -> None:
    server = fresh_server(config=["min-replicas-to-write 1"])
    with pytest.raises(StoreRefusedError, match="NOREPLICAS"):
        make_executor(server.url).send(store("a"))


def test_a_disk_that_cannot_be_written_refuses(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server(config=["save 3600 1", "dbfilename taken"])
    Path(server.directory, "taken").mkdir()
    client = server.client()
    client.bgsave()
    wait_for(
        lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", what="the save to have failed"
    )
    with pytest.raises(StoreRefusedError, match="MISCONF"):
        make_executor(server.url).send(store("a"))


def test_a_replica_is_left_and_the_way_asked_for_again(
    fresh_server: ServerFactory, server: TestServer
) -> None:
    demoted = fresh_server()
    urls = iter([demoted.url, demoted.url, server.url])
    executor = Executor(lambda: Address.parse(next(urls)), patience=Patience(5))
    executor.send(store("before"))
    demoted.client().replicaof("127.0.0.1", 1)
    executor.send(store("a"))
    assert enqueued(server) == 1
    executor.close()


def test_a_replica_that_stays_one_is_unavailable(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server(config=["replicaof 127.0.0.1 1"])
    with pytest.raises(StoreUnavailableError, match="READONLY"):
        make_executor(server.url, patience=0.2).send(store("a"))
    server.client().config_set("replica-serve-stale-data", "no")
    with pytest.raises(StoreUnavailableError, match="MASTERDOWN"):
        make_executor(server.url, patience=0.2).send(look(KEYS, "a"))


def test_a_server_busy_with_a_script_is_waited_for(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    server = fresh_server(config=["busy-reply-threshold 10"])
    executor = make_executor(server.url)
    executor.send(ping())
    slow, client = server.client(timeout=30), server.client()
    with ThreadPoolExecutor(2) as pool:
        script = pool.submit(lambda: slow.eval("while true do end", 0))
        wait_for(lambda: _is_busy(server), what="the server to be busy")
        with pytest.raises(StoreUnavailableError, match="BUSY"):
            make_executor(server.url, patience=0.1).send(store("a"))
        sent = pool.submit(executor.send, store("a"))
        client.script_kill()
        assert sent.result() == [Stored(True)]
        assert script.exception() is not None


def test_a_server_that_loads_its_data_is_waited_for(
    fresh_server: ServerFactory, make_executor: MakeExecutor
) -> None:
    """LOADING comes as a connection error from redis-py, and leaves no doubt all the same."""
    server = fresh_server()
    client = server.client()
    pipeline = client.pipeline(transaction=False)
    for n in range(2_000):
        pipeline.set(f"key:{n}", "x" * 100, px=600_000)
    pipeline.execute()
    client.save()
    executor = make_executor(server.url, patience=20, reply_seconds=10)
    server.config = ("key-load-delay 500", "loading-process-events-interval-bytes 1024")
    server.kill()
    with ThreadPoolExecutor(1) as pool:
        restarted = pool.submit(server.start)
        wait_for(lambda: _is_loading(make_executor(server.url, patience=0)), what="the server to load")
        assert executor.send(store("a")) == [Stored(True)]
        restarted.result()


def test_too_many_clients_are_waited_for(fresh_server: ServerFactory, make_executor: MakeExecutor) -> None:
    server = fresh_server()
    client = server.client()
    client.config_set("maxclients", 2)
    others = make_executor(server.url)
    others.send(ping())
    with pytest.raises(StoreUnavailableError):
        make_executor(server.url, patience=0.1).send(store("a"))
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(make_executor(server.url).send, store("a"))
        others.close()
        assert sent.result() == [Stored(True)]


def test_a_clean_error_leaves_the_connection_in_use(executor: Executor, server: TestServer) -> None:
    executor.send(ping())
    before = connections(server)
    for _ in range(5):
        with pytest.raises(ScriptError):
            executor.send(command("NOSUCHCOMMAND", lambda reply: reply))
    assert connections(server) == before


@pytest.mark.parametrize(
    ("said", "expected", "error"),
    [
        ("NOSCRIPT No matching script.", Cure.LOAD, None),
        ("LOADING Redis is loading the dataset in memory", Cure.WAIT, StoreUnavailableError),
        ("BUSY Redis is busy running a script.", Cure.WAIT, StoreUnavailableError),
        ("MASTERDOWN Link with MASTER is down", Cure.WAIT, StoreUnavailableError),
        ("CLUSTERDOWN The cluster is down", Cure.WAIT, StoreUnavailableError),
        ("TRYAGAIN Multiple keys request during rehashing of slot", Cure.WAIT, StoreUnavailableError),
        ("max number of clients reached", Cure.WAIT, StoreUnavailableError),
        ("ERR max number of clients reached", Cure.WAIT, StoreUnavailableError),
        ("READONLY You can't write against a read only replica.", Cure.REDISCOVER, StoreUnavailableError),
        ("UNBLOCKED force unblock from blocking operation", Cure.REDISCOVER, StoreUnavailableError),
        ("OOM command not allowed when used memory > 'maxmemory'.", Cure.REFUSED, StoreRefusedError),
        ("MISCONF Errors writing to the AOF file", Cure.REFUSED, StoreRefusedError),
        ("NOREPLICAS Not enough good replicas to write.", Cure.REFUSED, StoreRefusedError),
        ("NOPERM this user has no permissions", Cure.PERMANENT, StoreMisconfiguredError),
        ("NOAUTH Authentication required.", Cure.PERMANENT, StoreMisconfiguredError),
        ("WRONGPASS invalid username-password pair", Cure.PERMANENT, StoreMisconfiguredError),
        ("CROSSSLOT Keys in request don't hash to the same slot", Cure.PERMANENT, StoreMisconfiguredError),
        ("ERR something else", Cure.PERMANENT, ScriptError),
        ("WRONGTYPE Operation against a key", Cure.PERMANENT, ScriptError),
        ("", Cure.PERMANENT, ScriptError),
    ],
)
def test_each_error_word_has_its_meaning(said: str, expected: Cure, error: type[StoreError] | None) -> None:
    assert cure(said) is expected
    if error is not None:
        assert type(as_error(said, ping())) is error  # type: ignore[arg-type]


# -- interruptions


def test_an_interrupted_call_never_answers_the_next(proxy: Proxy, executor: Executor) -> None:
    """Ctrl-C while a reply is under way, as at any shutdown."""
    for short in ("a", "b"):
        executor.send(store(short))

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(5):
            proxy.arm(Mode.DELAY, b"EVALSHA", delay_ms=60)
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with pytest.raises(KeyboardInterrupt):
                executor.send(look(KEYS, "a"))
            for short in ("b", "a", "b"):
                assert executor.send(look(KEYS, short)).body == short.encode()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert proxy.bites[Mode.DELAY] == 5


@pytest.mark.parametrize("place", ["client.before_send", "client.after_send"])
def test_a_call_that_fails_half_way_never_answers_the_next(
    executor: Executor, server: TestServer, place: str
) -> None:
    for short in ("a", "b"):
        executor.send(store(short))
    for _ in range(5):
        with armed(f"{place}=raise*1"), pytest.raises(FailpointError):
            executor.send(look(KEYS, "a"))
        assert executor.send(look(KEYS, "b")).body == b"b"
    wait_for(lambda: connections(server) == 1, what="the connections left half-way to be closed")


def test_a_reply_that_cannot_be_read_does_no_harm(executor: Executor) -> None:
    def fails(reply: object) -> bool:
        raise IndexError

    broken = replace(ping(), read=fails)
    for _ in range(3):
        with pytest.raises(IndexError):
            executor.send(broken)
        assert executor.send(ping())


# -- threads and processes


def test_threads_share_an_executor(executor: Executor, server: TestServer) -> None:
    def one(n: int) -> bool:
        executor.send(store(f"j{n}"))
        return executor.send(look(KEYS, f"j{n}")).body == b"j%d" % n

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(300)))
    assert enqueued(server) == 300
    assert connections(server) <= 8


def test_threads_under_faults_get_their_own_replies(
    proxy: Proxy, executor: Executor, server: TestServer
) -> None:
    for mode in (Mode.DROP, Mode.CUT, Mode.RST):
        proxy.arm(mode, b"EVALSHA", times=10)

    def one(n: int) -> Look:
        executor.send(store(f"j{n}"))
        return executor.send(look(KEYS, f"j{n}"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(200)))
    assert [each.body for each in found] == [b"j%d" % n for n in range(200)]
    assert enqueued(server) == 200
    assert sum(proxy.bites.values()) == 30


def test_idle_connections_are_few(server: TestServer, make_executor: MakeExecutor) -> None:
    executor = make_executor(server.url)
    with ThreadPoolExecutor(IDLE_CONNECTIONS + 8) as pool:
        list(pool.map(lambda _: executor.send(wait([KEYS], 0.1)), range(IDLE_CONNECTIONS + 8)))
    wait_for(lambda: connections(server) <= IDLE_CONNECTIONS, what="the connections too many to be closed")
    executor.close()
    wait_for(lambda: connections(server) == 0, what="the idle connections to be closed")
    assert executor.send(ping())


FORKING = """
import os, sys
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.jobs import NewJob, enqueue, look

keys = Keyspace("test", "executor")
executor = Executor(lambda: Address.parse(sys.argv[1]), patience=Patience(5))

def work(name):
    for n in range(100):
        short = f"{name}{n}"
        executor.send(enqueue(keys, [NewJob(id=short, body=short.encode(), priority=1)]))
        assert executor.send(look(keys, short)).body == short.encode(), short

work("before")
children = []
for name in ("child", "other"):
    pid = os.fork()
    if pid == 0:
        work(name)
        os._exit(0)
    children.append(pid)
work("parent")
assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0]
work("after")
"""


def test_f73_parent_and_forked_children_both_enqueue(server: TestServer, processes: Processes) -> None:
    """A web server forks after the application has used its client: each process needs its own connection."""
    process = processes.python("-c", FORKING, server.url, stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert enqueued(server) == 500


# -- plain commands


def test_waiting_for_a_hint(executor: Executor, server: TestServer) -> None:
    assert executor.send(wait([KEYS], 0.01)) is None
    other = Keyspace("test", "other")
    server.client().rpush(other.key("wake"), 1)
    assert executor.send(wait([KEYS, other], 0.1)) == other.key("wake")


def test_the_servers_clock_and_facts(executor: Executor) -> None:
    assert abs(executor.send(server_time_ms()) - time.time() * 1_000) < 5_000
    assert executor.send(info("server"))["process_id"].isdigit()


def _is_busy(server: TestServer) -> bool:
    executor = Executor(lambda: Address.parse(server.url), patience=Patience(0))
    try:
        executor.send(ping())
    except StoreUnavailableError as error:
        return "BUSY" in str(error)
    finally:
        executor.close()
    return False


def _is_loading(executor: Executor) -> bool:
    try:
        executor.send(status(KEYS))
    except StoreUnavailableError as error:
        return "LOADING" in str(error)
    return False
