"""One queue as a worker sees it: words to send, a turn on its way, a guess whether work is ready."""

from __future__ import annotations

import random
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from redisched.core.config import BATCH
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations.turns import Finished, Turn

OUTBOX_BYTES: Final = 4 * 1024 * 1024
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
URGENT_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A turn that was sent, or is about to be, and has no answer yet. It is repeated as it is."""

    operation: Operation[Turn]
    words: list[Finished]
    wanted: int


@dataclass(slots=True, eq=False)
class Lane:
    """`weight`: its share of the claims; None where queues are served in order. `likely`: something may be
    ready. `token`: a wake-up came that must be used or passed on.
    """

    keyspace: Keyspace
    weight: int | None = None
    outbox: deque[Finished] = field(default_factory=deque)
    outbox_since: float = 0.0
    under_way: UnderWay | None = None
    likely: bool = True
    token: bool = False
    look_at: float = 0.0
    retry_at: float = 0.0
    turns: int = 0
    _pause: float = FIRST_PAUSE

    @property
    def queue(self) -> str:
        return self.keyspace.queue

    def say(self, finished: Finished) -> None:
        """A word for the next turn."""
        if not self.outbox:
            self.outbox_since = time.monotonic()
        self.outbox.append(finished)

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
        """What the answer says of the time to come."""
        self.under_way, self._pause = None, FIRST_PAUSE
        self.likely = turn.more or (wanted > 0 and len(turn.claimed) >= wanted)
        self.look_at = time.monotonic() + turn.wait_ms / 1000

    def put_off(self) -> None:
        """The turn did not get through: the same again a little later, and the other lanes meanwhile."""
        self.retry_at = time.monotonic() + random.uniform(self._pause / 2, self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def is_due(self) -> bool:
        return self.likely or self.token or time.monotonic() >= self.look_at

    def is_urgent(self) -> bool:
        """Its words have waited for so long that they go before any claim for an earlier lane."""
        return bool(self.outbox) and time.monotonic() - self.outbox_since > URGENT_SECONDS

    @property
    def quiet(self) -> bool:
        """Nothing to say, nothing unanswered, and the last look found nothing ready."""
        return not (self.outbox or self.under_way or self.likely or self.token)
