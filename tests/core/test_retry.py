"""Retry: how long after a failure, how often, and after which."""

from __future__ import annotations

import math
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisched.core.errors import ArgumentError
from redisched.core.retry import Retry


@pytest.mark.parametrize("factor", [2, 5])
@pytest.mark.parametrize("jitter", ["none", "equal", "full"])
def test_f47_the_delay_of_every_large_attempt_is_the_cap(factor: int, jitter: Any) -> None:
    retry = Retry(base=timedelta(seconds=1), factor=factor, cap=timedelta(hours=1), jitter=jitter)
    delays = [retry.delay_ms(attempt, lambda: 1.0) for attempt in [*range(1, 2001), 10**6, 10**400]]
    assert delays[:4] == [1000 * factor**n for n in range(4)]
    assert delays == sorted(delays)
    assert set(delays[20:]) == {3_600_000}


def test_f47_a_reconnect_loop_with_a_tiny_base_outlives_1100_failures() -> None:
    retry = Retry(base=timedelta(milliseconds=1), cap=timedelta(seconds=5), jitter="equal")
    delays = [retry.delay_ms(attempt, lambda: 0.0) for attempt in range(1, 1101)]
    assert delays[-1] == 2500


def test_f47_a_factor_of_one_never_grows() -> None:
    assert Retry(base=3, factor=1, jitter="none").delay_ms(10**400, lambda: 0.5) == 3000


@pytest.mark.parametrize(("jitter", "part"), [("full", 0.2), ("equal", 0.5)])
def test_f48_a_thousand_retries_spread_over_half_the_base_delay(jitter: Any, part: float) -> None:
    random, base = Random(48), 10_000
    retry = Retry(base=timedelta(milliseconds=base), jitter=jitter)
    delays = [retry.delay_ms(1, random.random) for _ in range(1000)]
    assert min(delays) >= part * base
    assert max(delays) <= base
    assert max(delays) - min(delays) >= 0.99 * (1 - part) * base
    fullest = max(sum(start <= delay < start + 100 for delay in delays) for start in range(0, base, 100))
    assert fullest <= 50


@given(
    st.integers(min_value=1, max_value=10**20),
    st.integers(min_value=0, max_value=10**7),
    st.floats(min_value=1, max_value=1e300),
    st.sampled_from(["full", "equal", "none"]),
    st.floats(min_value=0, max_value=1),
)
def test_f48_a_delay_keeps_its_documented_limits(
    attempt: int, base: int, factor: float, jitter: Any, chance: float
) -> None:
    cap = base * 3
    retry = Retry(
        base=timedelta(milliseconds=base), factor=factor, cap=timedelta(milliseconds=cap), jitter=jitter
    )
    shortest = {"full": base / 5, "equal": base / 2, "none": base}[jitter]
    assert shortest <= retry.delay_ms(attempt, lambda: chance) <= cap


def test_the_last_attempt_is_not_repeated() -> None:
    assert [Retry(max_attempts=3).wants_retry(ValueError(), attempt) for attempt in (1, 2, 3, 4)] == [
        True,
        True,
        False,
        False,
    ]
    assert not Retry(max_attempts=1).wants_retry(ValueError(), 1)


def test_only_the_errors_named_are_worth_another_attempt() -> None:
    retry = Retry(retry_on=(OSError, KeyError), give_up_on=(FileNotFoundError,))
    assert retry.wants_retry(TimeoutError(), 1)
    assert not retry.wants_retry(FileNotFoundError(), 1)
    assert not retry.wants_retry(ValueError(), 1)


def test_a_request_to_stop_is_no_failure_by_default() -> None:
    assert not Retry().wants_retry(KeyboardInterrupt(), 1)


@pytest.mark.parametrize(
    "options",
    [
        {"max_attempts": 0},
        {"max_attempts": True},
        {"max_attempts": 2.0},
        {"base": -1},
        {"base": math.inf},
        {"base": "soon"},
        {"base": timedelta(hours=2)},
        {"cap": timedelta.max},
        {"factor": 0.5},
        {"factor": math.nan},
        {"factor": math.inf},
        {"factor": True},
        {"factor": "2"},
        {"jitter": "some"},
        {"jitter": None},
        {"retry_on": ValueError},
        {"retry_on": ("ValueError",)},
        {"give_up_on": [ValueError]},
        {"give_up_on": (int,)},
    ],
    ids=str,
)
def test_a_policy_that_cannot_be_kept_is_refused_where_it_is_written(options: dict[str, Any]) -> None:
    field = "cap" if options.get("base") == timedelta(hours=2) else next(iter(options))
    with pytest.raises(ArgumentError, match=f"^{field}="):
        Retry(**options)


def test_attempts_are_counted_from_one() -> None:
    with pytest.raises(ArgumentError, match=r"^attempt=0"):
        Retry().delay_ms(0, lambda: 0.5)
