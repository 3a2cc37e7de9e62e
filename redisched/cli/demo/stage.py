"""All that the evening needs, in a temporary folder, and all of it gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redisched.app.scheduler import Scheduler
from redisched.cli.demo.interruption import ignore_interruptions
from redisched.cli.demo.notes import NOTES, Note, read
from redisched.cli.demo.shop import Shop, open_shop
from redisched.cli.demo.workers import Workers
from redisched.embedded import join, status, stop
from redisched.store.operations.queues import QueueStatus
from redisched.store.operations.queues import status as status_of

NAMESPACE: Final = "demo"
KEPT_SETTINGS: Final = ("REDISCHED_SERVER_BIN",)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the acts play. `environment` is that of workers and other processes of the application."""

    folder: Path
    environment: Mapping[str, str]
    url: str
    shop: Shop
    workers: Workers
    app: Scheduler

    def notes(self, event: str, subject: str | None = None) -> list[Note]:
        """What tasks noted of one kind so far, oldest first."""
        return read(Path(self.environment[NOTES]), event, subject)

    def queue(self, name: str) -> QueueStatus:
        return self.app.backend.executor().send(status_of(self.app.backend.keyspace(name)))

    def leftovers(self) -> list[str]:
        """What is still there; to be asked after the end."""
        left = [f"worker {pid}" for pid in self.workers.pids if _exists(pid)]
        left += ["the server"] if status(_data(self.folder), environ=self.environment).running else []
        return left + ([str(self.folder)] if self.folder.exists() else [])


@contextmanager
def set_stage() -> Iterator[Stage]:
    """A server and a shop that run, and no workers yet."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redisched-demo-")))
        environment = _environment(folder)
        shop = stack.enter_context(open_shop())
        url = stack.enter_context(_server(_data(folder), environment))
        workers = Workers(folder, environment)
        stack.callback(workers.close)
        app = stack.enter_context(Scheduler(url, namespace=NAMESPACE))
        stack.callback(ignore_interruptions)
        yield Stage(folder, environment, url, shop, workers, app)


@contextmanager
def _server(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    try:
        membership = join(folder, environ=environment)
        yield membership.url
        membership.leave()
    finally:
        stop(folder, environ=environment)


def _environment(folder: Path) -> dict[str, str]:
    """The user's, without settings of ours: neither their server nor their data is touched."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("REDISCHED_") or name in KEPT_SETTINGS
    }
    ours = {"REDISCHED_DATA_DIR": str(_data(folder)), "REDISCHED_NAMESPACE": NAMESPACE}
    return {**own, **ours, NOTES: str(folder / "notes.jsonl")}


def _data(folder: Path) -> Path:
    return folder / "data"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
