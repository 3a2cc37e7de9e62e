"""When a failed attempt is tried again: pure numbers, no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args

from redisched.core.durations import Duration, to_ms
from redisched.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

Jitter = Literal["full", "equal", "none"]

# Full jitter never goes below this part of the base delay: at once is no back-off.
FULL_JITTER_FLOOR: Final = 0.2

# Beyond 2**53 a float cannot count attempts; nobody will get there, and the delay is the cap long before.
_COUNTABLE: Final = 2**53


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, and how long after each failure, a task is tried again.

    The delay after attempt n grows as base * factor ** (n - 1) up to `cap`. Jitter then spreads it: "full"
    evenly from a fifth of `base` to the delay, "equal" from half the delay to the delay, "none" not at all.
    So no delay is longer than `cap`, nor shorter than base / 5 (full), base / 2 (equal) or base (none).

    An error is worth another attempt if it is one of `retry_on` and none of `give_up_on`. `max_attempts`
    counts the first run: 1 means no second one. Durations are timedeltas, seconds or text ("10m"). Raises
    ArgumentError for anything that cannot be kept.
    """

    max_attempts: int = 5
    base: Duration = timedelta(seconds=5)
    factor: float = 2.0
    cap: Duration = timedelta(hours=1)
    jitter: Jitter = "full"
    retry_on: tuple[type[BaseException], ...] = (Exception,)
    give_up_on: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be kept, while the author of the task is looking."""
        _refuse_attempts("max_attempts", self.max_attempts)
        if to_ms(self.base, field="base") > to_ms(self.cap, field="cap"):
            raise ArgumentError("cap", self.cap, f"shorter than base={self.base}; pass at least the base")
        _refuse_factor(self.factor)
        if self.jitter not in get_args(Jitter):
            raise ArgumentError("jitter", self.jitter, "pass 'full', 'equal' or 'none'")
        _refuse_other_than_errors("retry_on", self.retry_on)
        _refuse_other_than_errors("give_up_on", self.give_up_on)

    def wants_retry(self, error: BaseException, attempt: int) -> bool:
        """Whether `error`, raised by attempt number `attempt` (from 1), is followed by another attempt."""
        if attempt >= self.max_attempts or isinstance(error, self.give_up_on):
            return False
        return isinstance(error, self.retry_on)

    def delay_ms(self, attempt: int, random: Callable[[], float]) -> int:
        """Milliseconds from the failure of attempt number `attempt` (from 1) to the next one.

        Any attempt number, however large, has a delay. `random` returns a number from 0 to 1, like
        random.random; it is called once at most.
        """
        _refuse_attempts("attempt", attempt)
        longest = self._longest_ms(attempt)
        shortest = self._shortest_ms(longest)
        return longest if shortest == longest else round(shortest + (longest - shortest) * random())

    def _longest_ms(self, attempt: int) -> int:
        base, cap = to_ms(self.base, field="base"), to_ms(self.cap, field="cap")
        try:
            return round(min(cap, base * float(self.factor) ** min(attempt - 1, _COUNTABLE)))
        except OverflowError:
            return cap if base else 0

    def _shortest_ms(self, longest: int) -> int:
        if self.jitter == "full":
            return min(longest, math.ceil(to_ms(self.base, field="base") * FULL_JITTER_FLOOR))
        return math.ceil(longest / 2) if self.jitter == "equal" else longest


def _refuse_attempts(field: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(field, value, "attempts are counted from 1; pass a whole number of at least 1")


def _refuse_factor(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < math.inf:
        raise ArgumentError("factor", value, "pass a finite number of at least 1")


def _refuse_other_than_errors(field: str, kinds: object) -> None:
    if not isinstance(kinds, tuple):
        raise ArgumentError(field, kinds, "pass a tuple of exception classes, such as (TimeoutError,)")
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise ArgumentError(field, kind, "not an exception class; pass classes, such as (TimeoutError,)")
