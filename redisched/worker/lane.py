"""One queue as a worker sees it: words to send, a guess whether work is ready, when to look next."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from redisched.core.config import BATCH
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Finished, Turn

OUTBOX_BYTES: Final = 4 * 1024 * 1024


@dataclass(slots=True, eq=False)
class Lane:
    """`weight`: its share of the claims; None where queues are served in order. `likely`: something may be
    ready. `token`: a wake-up came that must be used or passed on.
    """

    keyspace: Keyspace
    weight: int | None = None
    outbox: deque[Finished] = field(default_factory=deque)
    likely: bool = True
    token: bool = False
    look_at: float = 0.0
    turns: int = 0

    @property
    def queue(self) -> str:
        return self.keyspace.queue

    def next_turn_id(self) -> str:
        """For the turn that is sent now. It uses up a hint from before it; one that comes while it is under
        way may be of work that it did not see.
        """
        self.token = False
        self.turns += 1
        return str(self.turns)

    def take_words(self) -> list[Finished]:
        """What the next turn carries: bounded in number and bytes."""
        words: list[Finished] = []
        size = 0
        while self.outbox and len(words) < 2 * BATCH and size < OUTBOX_BYTES:
            words.append(self.outbox.popleft())
            size += len(words[-1].outcome)
        return words

    def learn(self, turn: Turn, wanted: int) -> None:
        """What the turn says of the time to come."""
        self.likely = turn.more or (wanted > 0 and len(turn.claimed) >= wanted)
        self.look_at = time.monotonic() + turn.wait_ms / 1000

    def is_due(self) -> bool:
        return self.likely or self.token or time.monotonic() >= self.look_at
