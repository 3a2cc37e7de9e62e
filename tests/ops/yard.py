"""A queue with jobs in every place, made through the client and the store as workers use it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from redisched import Job, Scheduler
from redisched.app.job import Send
from redisched.core.record import Finish
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations.turns import Claimed, Finished, Limits, Turn, turn
from tests.servers import TestServer

T = TypeVar("T")
NAMESPACE = "yard"


@dataclass
class Yard:
    """The default queue of a namespace of its own."""

    server: TestServer
    keyspace: Keyspace = field(default_factory=lambda: Keyspace(NAMESPACE, "default"))
    _turns: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.app = Scheduler(self.server.url, namespace=NAMESPACE)
        self.redis = self.server.client()

    @property
    def send(self) -> Send:
        return self.app.backend.executor().send

    def run(self, flow: Flow[T]) -> T:
        return self.app.backend.executor().run(flow)

    def ready(self, *ids: str) -> list[Job[object]]:
        return [self.app.options(job_id=job).enqueue("yard.task", job) for job in ids]

    def scheduled(self, *ids: str) -> list[Job[object]]:
        return [self.app.options(job_id=job).enqueue_in("1h", "yard.task", job) for job in ids]

    def processing(self, *ids: str) -> list[Claimed]:
        self.ready(*ids)
        return self.claim(len(ids))

    def dead(self, *ids: str, reason: str = "gave up") -> None:
        self._ended(ids, Finish.DEAD, reason)

    def succeeded(self, *ids: str) -> None:
        self._ended(ids, Finish.SUCCEEDED, "")

    def finish(self, kind: Finish, *claimed: Claimed, reason: str = "") -> None:
        self._turn(0, *(Finished(job.id, job.version, kind, reason=reason) for job in claimed))

    def claim(self, count: int) -> list[Claimed]:
        return list(self._turn(count).claimed)

    def key(self, part: str) -> str:
        return self.keyspace.key(part)

    def delete_record(self, *ids: str) -> None:
        """As somebody who cleans up by hand: the job is gone, and its entries in places stay."""
        self.redis.hdel(self.key("jobs"), *ids)
        self.redis.hdel(self.key("state"), *ids)

    def close(self) -> None:
        self.app.close()

    def _ended(self, ids: tuple[str, ...], kind: Finish, reason: str) -> None:
        claimed = self.processing(*ids)
        assert {job.id for job in claimed} == set(ids)
        self.finish(kind, *claimed, reason=reason)

    def _turn(self, wanted: int, *finishes: Finished) -> Turn:
        return self.send(
            turn(
                self.keyspace,
                worker="yard",
                turn_id=f"t{next(self._turns)}",
                wanted=wanted,
                finishes=finishes,
                lease=timedelta(minutes=1),
                longest_wait=timedelta(),
                limits=Limits().packed(),
            )
        )
