"""The history and the result of a job's attempts, as the opaque outcome in its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redisched.core.errors import PayloadError
from redisched.core.values import pack, unpack

KEPT_ATTEMPTS: Final = 10
TRACEBACK_CHARACTERS: Final = 8_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run that ended in success or failure. Times in ms of the server's clock."""

    started_ms: int
    finished_ms: int
    worker: str
    error: str | None = None
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The newest attempts, oldest first, and the result as packed bytes (None: there is none)."""

    attempts: tuple[Attempt, ...] = ()
    result: bytes | None = None

    def with_attempt(self, attempt: Attempt, result: bytes | None = None) -> History:
        return History((*self.attempts, attempt)[-KEPT_ATTEMPTS:], result)

    def packed(self) -> bytes:
        rows = [[a.started_ms, a.finished_ms, a.worker, a.error, a.traceback] for a in self.attempts]
        return pack([rows, self.result], field="outcome")

    @classmethod
    def unpacked(cls, outcome: bytes) -> History:
        """Empty for what is no history: a corrupt job's raw state is kept there, too."""
        try:
            parts = unpack(outcome) if outcome else [[], None]
        except PayloadError:
            return cls()
        match parts:
            case [list(rows), bytes() | None as result]:
                return cls(tuple(_attempt(row) for row in rows), result)
        return cls()


def _attempt(row: object) -> Attempt:
    match row:
        case [int(started), int(finished), str(worker), str() | None as error, str() | None as traceback]:
            return Attempt(started, finished, worker, error, traceback)
    return Attempt(0, 0, "", "unreadable")
