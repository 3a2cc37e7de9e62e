"""The conformance cases: expected instants for expressions over 32 clock changes in 17 zones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from redisched.calendar import Cron
from redisched.calendar.policies import Repeat


@dataclass(frozen=True, slots=True)
class Case:
    """One expression over one clock change, and the six instants that must come."""

    id: str
    cron: Cron
    kind: str
    start: datetime
    expected: tuple[datetime, ...]

    @property
    def steps(self) -> tuple[tuple[datetime, datetime], ...]:
        return tuple(zip(self.expected, self.expected[1:], strict=False))


@lru_cache(maxsize=1)
def all_cases() -> tuple[Case, ...]:
    """Every case of the file beside this module."""
    file = Path(__file__).with_name("cron_dst.jsonl")
    return tuple(_case(json.loads(line)) for line in file.read_text("utf-8").splitlines())


def instant(text: str) -> datetime:
    """An ISO instant as an aware datetime."""
    return datetime.fromisoformat(text)


def instants(*texts: str) -> list[datetime]:
    """Several of them."""
    return [instant(text) for text in texts]


def ms(text: str) -> int:
    """An ISO instant as milliseconds since the epoch."""
    return int(instant(text).timestamp()) * 1000


def _case(record: dict[str, str]) -> Case:
    cron = Cron(
        record["expression"],
        record["zone"],
        gap="skip" if record["gap_policy"] == "skip" else "shift",
        repeat=_repeat(record["overlap_policy"]),
    )
    expected = tuple(map(instant, record["expected_utc"]))
    return Case(record["id"], cron, record["kind"], instant(record["start_utc"]), expected)


def _repeat(word: str) -> Repeat:
    known: dict[str, Repeat] = {"first": "first", "second": "second", "both": "both"}
    return known[word]
