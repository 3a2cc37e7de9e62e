"""What a worker is told at its start."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from redisched.core.config import QUEUE, WorkerConfig
from redisched.core.errors import ConfigurationError
from redisched.store.keys import checked_name

_WEIGHTED: Final = re.compile(r"(?P<queue>[^=]+)(?:=(?P<weight>[1-9]\d{0,3}))?")


@dataclass(frozen=True, slots=True)
class QueueWeights:
    """The queues of a worker. With weights each gets its share of the claims; without, strictly in order:
    a later queue is served when the earlier ones have nothing ready.
    """

    names: tuple[str, ...] = (QUEUE,)
    weights: tuple[int, ...] = ()

    @classmethod
    def parse(cls, texts: list[str]) -> QueueWeights:
        """`["mail", "bulk"]` is strict; `["mail=3", "bulk=1"]` weighted. ConfigurationError for a mixture."""
        found = [_WEIGHTED.fullmatch(text) for text in texts]
        for text, match in zip(texts, found, strict=True):
            if match is None:
                raise ConfigurationError(
                    "queue", text, "write NAME, or NAME=WEIGHT with a weight of 1 to 9999"
                )
        pairs = [(checked_name("queue", match["queue"]), match["weight"]) for match in found if match]
        names, weights = tuple(name for name, _ in pairs), tuple(int(w) for _, w in pairs if w)
        if len(set(names)) != len(names):
            raise ConfigurationError("queues", " ".join(texts), "a queue is named twice")
        if weights and len(weights) != len(names):
            raise ConfigurationError("queues", " ".join(texts), "give every queue a weight, or none")
        return cls(names, weights) if names else cls()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """One `redisched worker`. `app`: where the Scheduler is, as `package.module:attribute`.

    `burst`: end when nothing is left to do now. `max_jobs`: end after about so many. `processes`: how many
    workers under one supervisor. `evicting_server_allowed`: start on a server that may drop keys.
    """

    app: str
    queues: QueueWeights = field(default_factory=QueueWeights)
    processes: int = 1
    burst: bool = False
    name: str | None = None
    max_jobs: int | None = None
    evicting_server_allowed: bool = False
    config: WorkerConfig = field(default_factory=WorkerConfig)
