"""Each fault of the proxy has the effect that it promises on a plain client, and is counted."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest
import redis

from tests.faults.proxy import Mode, Proxy
from tests.servers import TestServer, connect
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import ServerFactory

TIMEOUT = 0.3
COUNTER = "rs:{test:proxy}:versions"


@pytest.fixture
def client(proxy: Proxy) -> Iterator[redis.Redis]:
    """A client that reaches the server through the proxy."""
    with connect(proxy.url, timeout=TIMEOUT) as client:
        yield client


def count(server: TestServer) -> int:
    """How often INCR has run, as the server itself says."""
    return int(server.client().get(COUNTER) or 0)


def test_without_a_fault_everything_passes(proxy: Proxy, client: redis.Redis) -> None:
    big = b"x" * 1_000_000
    assert client.set(COUNTER, big)
    assert client.get(COUNTER) == big
    with client.pipeline(transaction=True) as pipeline:
        pipeline.delete(COUNTER)
        pipeline.incr(COUNTER)
        pipeline.incr(COUNTER)
        assert pipeline.execute() == [1, 1, 2]
    assert not proxy.bites


def test_pushed_messages_pass(client: redis.Redis) -> None:
    with client.pubsub() as listener:  # type: ignore[no-untyped-call]
        listener.subscribe("channel")
        assert client.publish("channel", "hello") == 1
        data = [(listener.get_message(timeout=TIMEOUT) or {}).get("data") for _ in range(2)]
    assert data == [1, b"hello"]


def test_drop_runs_the_request_and_closes(proxy: Proxy, client: redis.Redis, server: TestServer) -> None:
    proxy.arm(Mode.DROP, b"INCR")
    with pytest.raises(redis.ConnectionError, match="closed by server"):
        client.incr(COUNTER)
    assert proxy.bites[Mode.DROP] == 1
    assert count(server) == 1
    assert client.incr(COUNTER) == 2


def test_rst_runs_the_request_and_resets(proxy: Proxy, client: redis.Redis, server: TestServer) -> None:
    proxy.arm(Mode.RST, b"INCR")
    with pytest.raises(redis.ConnectionError, match="reset by peer"):
        client.incr(COUNTER)
    assert proxy.bites[Mode.RST] == 1
    assert count(server) == 1
    assert client.incr(COUNTER) == 2


def test_cut_sends_half_of_the_reply(proxy: Proxy, client: redis.Redis, server: TestServer) -> None:
    proxy.arm(Mode.CUT, b"INCR")
    with pytest.raises(redis.ConnectionError, match="closed by server"):
        client.incr(COUNTER)
    assert count(server) == 1
    proxy.arm(Mode.CUT, b"INCR")
    with socket.create_connection(("127.0.0.1", proxy.port)) as plain:
        plain.sendall(f"INCR {COUNTER}\r\n".encode())
        assert _until_closed(plain) == b":2"
    assert proxy.bites[Mode.CUT] == 2


def test_swallow_runs_the_request_and_says_nothing(
    proxy: Proxy, client: redis.Redis, server: TestServer
) -> None:
    proxy.arm(Mode.SWALLOW, b"INCR")
    with pytest.raises(redis.TimeoutError):
        client.incr(COUNTER)
    assert proxy.bites[Mode.SWALLOW] == 1
    assert count(server) == 1


def test_swallow_takes_one_reply_out_of_a_pipeline(proxy: Proxy) -> None:
    """A client that went on reading would take the third reply for the second."""
    proxy.arm(Mode.SWALLOW, b"two")
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=5) as plain:
        plain.sendall(b"ECHO one\r\nECHO two\r\nECHO three\r\nQUIT\r\n")
        assert _until_closed(plain) == b"$3\r\none\r\n$5\r\nthree\r\n+OK\r\n"
    assert proxy.bites[Mode.SWALLOW] == 1


def test_delay_makes_a_reply_late(proxy: Proxy, client: redis.Redis, server: TestServer) -> None:
    proxy.arm(Mode.DELAY, b"INCR", delay_ms=100)
    began = time.monotonic()
    assert client.incr(COUNTER) == 1
    assert time.monotonic() - began >= 0.1
    proxy.arm(Mode.DELAY, b"INCR", delay_ms=60_000)
    with pytest.raises(redis.TimeoutError):
        client.incr(COUNTER)
    assert count(server) == 2
    assert proxy.bites[Mode.DELAY] == 2


def test_blackhole_keeps_the_request_and_all_after_it(
    proxy: Proxy, client: redis.Redis, server: TestServer
) -> None:
    proxy.arm(Mode.BLACKHOLE, b"INCR")
    with pytest.raises(redis.TimeoutError):
        client.incr(COUNTER)
    assert proxy.bites[Mode.BLACKHOLE] == 1
    assert client.incr(COUNTER) == 1  # on a new connection
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=TIMEOUT) as plain:
        proxy.arm(Mode.BLACKHOLE, b"INCR")
        plain.sendall(f"INCR {COUNTER}\r\nINCR {COUNTER}\r\n".encode())
        with pytest.raises(TimeoutError):
            plain.recv(1)
    assert count(server) == 1


def test_refuse_refuses_connections_until_accept(
    proxy: Proxy, client: redis.Redis, server: TestServer
) -> None:
    client.incr(COUNTER)
    proxy.refuse()
    for _ in range(2):  # the client finds its old connection reset, and the new one refused
        with pytest.raises(redis.ConnectionError, match="refused"):
            client.incr(COUNTER)
    assert count(server) == 1
    assert proxy.bites[Mode.REFUSE] == 1
    proxy.accept()
    assert client.incr(COUNTER) == 2


def test_a_fault_bites_the_next_n_matching_requests_only(
    proxy: Proxy, client: redis.Redis, server: TestServer
) -> None:
    increment = client.register_script("#!lua\nreturn redis.call('INCR', KEYS[1])")
    assert increment(keys=[COUNTER]) == 1
    proxy.arm(Mode.DROP, b"EVALSHA", times=2)
    for _ in range(2):
        assert client.ping()
        with pytest.raises(redis.ConnectionError):
            increment(keys=[COUNTER])
    assert increment(keys=[COUNTER]) == 4
    assert proxy.bites == {Mode.DROP: 2}


def test_faults_follow_one_another(proxy: Proxy, client: redis.Redis) -> None:
    proxy.arm(Mode.DROP)
    proxy.arm(Mode.SWALLOW)
    with pytest.raises(redis.ConnectionError):
        client.ping()
    with pytest.raises(redis.TimeoutError):
        client.ping()
    assert client.ping()


def test_a_disarmed_fault_does_not_bite(proxy: Proxy, client: redis.Redis) -> None:
    proxy.arm(Mode.DROP)
    proxy.disarm()
    assert client.ping()
    assert not proxy.bites


def test_a_restarted_server_is_reached_again(
    fresh_server: ServerFactory, new_proxy: Callable[[TestServer], Proxy]
) -> None:
    server = fresh_server()
    with connect(new_proxy(server).url, timeout=TIMEOUT) as client:
        assert client.ping()
        server.kill()
        with pytest.raises(redis.ConnectionError):
            client.ping()
        server.start()
        assert client.ping()


def test_a_closed_proxy_leaves_no_connection_at_the_server(proxy: Proxy, server: TestServer) -> None:
    watcher = server.client()
    before = len(watcher.client_list())
    client = connect(proxy.url, timeout=TIMEOUT)
    client.ping()
    assert len(watcher.client_list()) == before + 1
    proxy.close()
    wait_for(lambda: len(watcher.client_list()) == before, what="the server to lose the connection")
    client.close()


def _until_closed(plain: socket.socket) -> bytes:
    """All bytes that come until the other side closes."""
    received = b""
    while chunk := plain.recv(4096):
        received += chunk
    return received
