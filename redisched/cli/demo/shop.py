"""The other side, over real HTTP on the loopback: a customer's endpoint, and the redirects themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

TROUBLED_REQUESTS: Final = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server saw it; `at` in monotonic seconds."""

    at: float
    what: str
    status: HTTPStatus


@dataclass(eq=False)
class Shop:
    """Links by their path, and the log of all requests. Threads of the server use it."""

    links: dict[str, datetime] = field(default_factory=dict)
    log: list[Asked] = field(default_factory=list)
    origin: str = ""

    def answer(self, method: str, path: str) -> HTTPStatus:
        status = {"POST": self._hook, "GET": self._redirect, "DELETE": self._remove}[method](path)
        self.log.append(Asked(time.monotonic(), f"{method} {path}", status))
        return status

    def asked(self, what: str) -> list[Asked]:
        return [one for one in self.log.copy() if one.what == what]

    def _hook(self, path: str) -> HTTPStatus:
        """An endpoint with a bad start."""
        troubled = len(self.asked(f"POST {path}")) < TROUBLED_REQUESTS
        return HTTPStatus.SERVICE_UNAVAILABLE if troubled else HTTPStatus.OK

    def _redirect(self, path: str) -> HTTPStatus:
        """A link is over at its time, not when a job gets round to it."""
        expires_at = self.links.get(path)
        if expires_at is None:
            return HTTPStatus.NOT_FOUND
        return HTTPStatus.GONE if datetime.now(UTC) >= expires_at else HTTPStatus.FOUND

    def _remove(self, path: str) -> HTTPStatus:
        return HTTPStatus.NOT_FOUND if self.links.pop(path, None) is None else HTTPStatus.NO_CONTENT


@contextmanager
def open_shop() -> Iterator[Shop]:
    """A shop that answers at its `origin` until the end of the block."""
    shop = Shop()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(shop)) as server:
        shop.origin = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), name="redisched-shop", daemon=True
        )
        thread.start()
        try:
            yield shop
        finally:
            server.shutdown()
            thread.join()


def _handler(shop: Shop) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = shop.answer(self.command, self.path)
            self.send_response(status)
            if status is HTTPStatus.FOUND:
                self.send_header("Location", "https://example.com/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """The shop keeps its own log."""

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the names that http.server looks for

    return Handler
