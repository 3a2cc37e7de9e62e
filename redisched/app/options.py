"""What a call may say about its own job, checked where it is said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict, Unpack

from redisched.app.task import positive_ms
from redisched.core.config import PRIORITIES, PRIORITY
from redisched.core.durations import Duration, to_ms
from redisched.core.errors import ArgumentError, ConfigurationError
from redisched.core.ids import checked_short_id
from redisched.core.retry import Retry
from redisched.store.keys import checked_name

LONGEST_UNIQUE = 1024


class OptionArguments(TypedDict, total=False):
    """The keywords of `Scheduler.options`; each is explained there."""

    job_id: str
    queue: str
    priority: int
    unique: str
    expires: Duration
    unclaimed_timeout: Duration
    retry: Retry
    timeout: Duration
    retention: Duration


@dataclass(frozen=True, slots=True)
class Options:
    """Checked options; None where nothing was said."""

    job_id: str | None = None
    queue: str | None = None
    priority: int = PRIORITY
    unique: str | None = None
    expires_ms: int | None = None
    unclaimed_ms: int | None = None
    retry: Retry | None = None
    timeout_ms: int | None = None
    retention_ms: int | None = None

    @classmethod
    def checked(cls, **given: Unpack[OptionArguments]) -> Options:
        """Raises ArgumentError, or ConfigurationError, naming the option."""
        _refuse_unknown(given.keys() - OptionArguments.__annotations__.keys())
        return cls(
            job_id=checked_short_id(given["job_id"]) if "job_id" in given else None,
            queue=checked_name("queue", given["queue"]) if "queue" in given else None,
            priority=_checked_priority(given.get("priority", PRIORITY)),
            unique=_checked_unique(given["unique"]) if "unique" in given else None,
            expires_ms=positive_ms("expires", given["expires"]) if "expires" in given else None,
            unclaimed_ms=_positive(given, "unclaimed_timeout"),
            retry=_checked_retry(given["retry"]) if "retry" in given else None,
            timeout_ms=_positive(given, "timeout"),
            retention_ms=to_ms(given["retention"], field="retention") if "retention" in given else None,
        )

    def meta(self) -> dict[str, object]:
        """What travels with the call."""
        meta: dict[str, object] = {}
        if self.timeout_ms is not None:
            meta["timeout"] = self.timeout_ms
        if self.retry is not None:
            meta["retry"] = retry_numbers(self.retry)
        return meta


def retry_numbers(retry: Retry) -> list[object]:
    """A retry policy without its exception classes, which stay with the task."""
    return [
        retry.max_attempts,
        to_ms(retry.base, field="base"),
        retry.factor,
        to_ms(retry.cap, field="cap"),
        retry.jitter,
    ]


def retry_of_numbers(numbers: object, own: Retry) -> Retry:
    """The policy of a call that carries numbers; else, or where they cannot be kept, the task's own."""
    try:
        return _retry_of_numbers(numbers, own)
    except (ArgumentError, OverflowError):
        return own


def _retry_of_numbers(numbers: object, own: Retry) -> Retry:
    match numbers:
        case [
            int(attempts),
            int(base),
            int() | float() as factor,
            int(cap),
            "full" | "equal" | "none" as jitter,
        ]:
            return Retry(
                attempts,
                timedelta(milliseconds=base),
                float(factor),
                timedelta(milliseconds=cap),
                jitter,
                own.retry_on,
                own.give_up_on,
            )
    return own


def _refuse_unknown(names: set[str]) -> None:
    if names:
        known = ", ".join(OptionArguments.__annotations__)
        raise ArgumentError("options", ", ".join(sorted(names)), f"unknown; the options are {known}")


def _positive(given: OptionArguments, name: str) -> int | None:
    value: Duration | None = given.get(name)  # type: ignore[assignment]  # a TypedDict has no type for a variable key
    return None if value is None else positive_ms(name, value)


def _checked_priority(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < PRIORITIES:
        raise ArgumentError("priority", value, f"a whole number from 0 (first) to {PRIORITIES - 1}")
    return value


def _checked_unique(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_UNIQUE:
        raise ArgumentError("unique", value, f"a unique key is a text of 1 to {LONGEST_UNIQUE} characters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError("unique", value, "a unique key holds no lone surrogate") from error
    return value


def _checked_retry(value: object) -> Retry:
    if not isinstance(value, Retry):
        raise ConfigurationError("retry", value, "pass a Retry, for example Retry(max_attempts=5)")
    if value.retry_on != (Exception,) or value.give_up_on:
        reason = "exception classes do not travel; set retry_on and give_up_on on the task"
        raise ConfigurationError("retry", value, reason)
    return value
