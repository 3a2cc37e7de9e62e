"""A proxy in front of a server that loses, cuts, delays and refuses just what it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections import Counter, deque
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Self, TypeVar

from tests.faults.resp import Frames

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tests.servers import TestServer

T = TypeVar("T")

CHUNK: Final = 64 * 1024
PATIENCE: Final = 10.0
# SO_LINGER on, with no time: close() sends RST, and what was not sent is thrown away.
RESET: Final = struct.pack("ii", 1, 0)


class Mode(StrEnum):
    """What happens to a matched request or its reply, and what the client then sees."""

    DROP = "drop"
    """The request runs, its reply is lost and the connection is closed in order."""
    RST = "rst"
    """The request runs, its reply is lost and the connection is reset."""
    CUT = "cut"
    """The request runs, half of its reply comes through and the connection is closed."""
    SWALLOW = "swallow"
    """The request runs, its reply is lost and the connection goes on with the next one."""
    DELAY = "delay"
    """The request runs at once, its reply comes late, and so do those behind it."""
    BLACKHOLE = "blackhole"
    """The request never arrives, nor does anything after it; the connection stays open and silent."""
    REFUSE = "refuse"
    """New connections are refused; counted when switched on, since only the kernel sees the attempts."""


@dataclass(slots=True)
class _Fault:
    mode: Mode
    match: bytes
    left: int
    delay_ms: int


class Proxy:
    """Listens on a TCP port of 127.0.0.1, in a thread of its own, and passes everything on to `server`.

    `bites` counts what was really done to somebody: a test asserts that it is not zero, or it may have
    tested nothing. Requests and replies are told apart one by one, also inside a pipeline.
    Not for clients that switch replies off (CLIENT REPLY).
    """

    def __init__(self, server: TestServer) -> None:
        self.bites: Counter[Mode] = Counter()
        self._server = server
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._connections: dict[_Connection, asyncio.Task[None]] = {}
        self._listener: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        # Bound and never listening: it keeps the port ours while connections are refused.
        self._reservation = _bound(0)
        self.port: int = self._reservation.getsockname()[1]

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"redis://127.0.0.1:{self.port}"

    # -- control, from any thread

    def start(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        self._run(self._listen())
        return self

    def arm(self, mode: Mode, match: bytes = b"", *, times: int = 1, delay_ms: int = 0) -> None:
        """Do `mode` to the next `times` requests that contain `match`, on whatever connection they come.

        Several faults may be armed; a request takes the oldest that it matches. `match` is compared with
        the bytes as sent: commands are in upper case as clients send them.
        """
        if mode is Mode.REFUSE:
            raise ValueError("REFUSE concerns connections, not requests: call refuse()")
        with self._lock:
            self._faults.append(_Fault(mode, match, times, delay_ms))

    def disarm(self) -> None:
        """Forget what is armed; what has been done stays done."""
        with self._lock:
            self._faults.clear()

    def refuse(self) -> None:
        """Refuse new connections and reset those that there are, until `accept`."""
        self._run(self._close_listener())
        self.disconnect()
        self.bites[Mode.REFUSE] += 1

    def accept(self) -> None:
        """Accept connections again, on the same port."""
        self._run(self._listen())

    def disconnect(self) -> None:
        """Reset every connection now, silent ones too."""
        self._run(self._reset_all())

    def close(self) -> None:
        """End all connections, the listener and the thread; may be called twice."""
        if self._thread.is_alive():
            self._run(self._close_listener())
            self.disconnect()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE)
            self._loop.close()
        self._reservation.close()

    # -- in the proxy's thread

    def take(self, request: bytes) -> _Fault | None:
        """The fault that `request` meets, if any, with one of its times used up."""
        with self._lock:
            for fault in self._faults:
                if fault.left and fault.match in request:
                    fault.left -= 1
                    return fault
        return None

    async def _listen(self) -> None:
        if self._listener is None:
            self._listener = await asyncio.start_server(self._serve, sock=_bound(self.port))

    async def _close_listener(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def _reset_all(self) -> None:
        serving = list(self._connections.items())
        for connection, _ in serving:
            connection.reset()
        await asyncio.gather(*(task for _, task in serving), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connection = _Connection(self, reader, writer)
        self._connections[connection] = task
        try:
            await connection.run(str(self._server.socket_path))
        finally:
            del self._connections[connection]

    def _run(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)


class _Connection:
    """One client's connection, and the one to the server that belongs to it."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        # One entry for each request that was passed on and is not answered yet.
        self._awaited: deque[_Fault | None] = deque()
        self._silent = False

    async def run(self, server_path: str) -> None:
        """Carry both directions until either side, or a fault, ends the connection."""
        try:
            from_server, to_server = await asyncio.open_unix_connection(server_path)
        except OSError:
            self.reset()
            return
        pumps = {
            asyncio.ensure_future(self._carry_requests(to_server)),
            asyncio.ensure_future(self._carry_replies(from_server)),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for writer in (to_server, self._writer):
                writer.close()

    def reset(self) -> None:
        """Close the client's side with an RST."""
        transport = self._writer.transport
        raw = transport.get_extra_info("socket")
        if raw is not None:
            # The socket may be closed already; then there is nothing left to reset.
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        transport.abort()

    async def _carry_requests(self, to_server: asyncio.StreamWriter) -> None:
        frames = Frames()
        while chunk := await self._reader.read(CHUNK):
            for request in [] if self._silent else frames.feed(chunk):
                fault = self._proxy.take(request)
                if fault is not None and fault.mode is Mode.BLACKHOLE:
                    self._proxy.bites[Mode.BLACKHOLE] += 1
                    self._silent = True
                    break
                self._awaited.append(fault)
                to_server.write(request)
            await to_server.drain()

    async def _carry_replies(self, from_server: asyncio.StreamReader) -> None:
        frames = Frames()
        while chunk := await from_server.read(CHUNK):
            for reply in [] if self._silent else frames.feed(chunk):
                # What nobody asked for (pub/sub, pushes) is passed on.
                solicited = bool(self._awaited) and not reply.startswith(b">")
                fault = self._awaited.popleft() if solicited else None
                if not await self._deliver(reply, fault):
                    return
            await self._writer.drain()

    async def _deliver(self, reply: bytes, fault: _Fault | None) -> bool:
        """Write `reply`, or do to it what `fault` says; false when the connection is over."""
        if fault is None:
            self._writer.write(reply)
            return True
        self._proxy.bites[fault.mode] += 1
        match fault.mode:
            case Mode.DELAY:
                await asyncio.sleep(fault.delay_ms / 1000)
                self._writer.write(reply)
            case Mode.CUT:
                self._writer.write(reply[: len(reply) // 2])
                await self._writer.drain()
            case Mode.RST:
                self.reset()
        return fault.mode in (Mode.DELAY, Mode.SWALLOW)


def _bound(port: int) -> socket.socket:
    """A socket bound to `port` of 127.0.0.1 (0: a free one), which others of ours may share."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    return bound
