"""Whether and when a request is sent again: the one rule that both executors follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from redisched.core.errors import OutcomeUnknownError, StoreError, StoreUnavailableError
from redisched.store.backoff import Patience
from redisched.store.operation import Operation
from redisched.store.replies import Cure, as_error, cure


class NotSentError(Exception):
    """No connection: the request never left."""


class NoReplyError(Exception):
    """The request left, and no reply came: it may have happened."""


class ErrorReplyError(Exception):
    """The server answered with an error, whose text starts with its code."""


Failure = NotSentError | NoReplyError | ErrorReplyError


@dataclass(slots=True)
class Attempts:
    """The tries of one request. `whole`: the next one carries the script's text."""

    operation: Operation[object]
    patience: Patience
    whole: bool = False
    _in_doubt: bool = False
    _pauses: Iterator[float] | None = field(default=None, repr=False)

    def pause_after(self, failure: Failure) -> float:
        """Seconds to wait before the next try; raises the error to show where there is none."""
        if isinstance(failure, NoReplyError):
            self._in_doubt = True
        elif isinstance(failure, ErrorReplyError):
            if cure(str(failure)) is Cure.LOAD and not self.whole:
                self.whole = True
                return 0.0
            if cure(str(failure)) not in {Cure.WAIT, Cure.REDISCOVER}:
                raise self._final(failure) from failure
        if self._pauses is None:
            self._pauses = self.patience.pauses()
        pause = next(self._pauses, None)
        if pause is None:
            raise self._final(failure) from failure
        return pause

    def _final(self, failure: Failure) -> StoreError:
        """Once a try went without a reply, no later failure makes the outcome known."""
        if self._in_doubt and self.operation.writes:
            return OutcomeUnknownError(self.operation.name, self.operation.subjects)
        if isinstance(failure, ErrorReplyError):
            return as_error(str(failure), self.operation)
        return StoreUnavailableError(f"{self.operation.name}: {failure}")
