"""Keys that may stay when a test is over, each with its reason; every other key needs a TTL."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import redis

BATCH: Final = 500
TAG: Final = r"rs:\{[^{}:]+:[^{}]+\}"

# The part of a key behind its hash tag -> why it may stay.
MAY_STAY: Final = {
    r"scheduled": "jobs that wait for their time",
    r"ready:\d+": "jobs that wait for a worker",
    r"processing": "leases; the next turn of any worker ends those that lapse",
    r"jobs": "bodies of live and retained jobs; pruned with them",
    r"state": "states of live and retained jobs; pruned with them",
    r"unique": "unique keys held by live jobs",
    r"schedules": "next slots of the schedules that exist",
    r"definitions": "the schedules that exist",
    r"ledger": "the last slots of each schedule; bounded by length",
    r"ended": "ended jobs in their retention; bounded by age and number",
    r"dead": "dead letters in their retention; bounded by age and number",
    r"tombstones": "ids of jobs ended within the idempotency window; pruned by age",
    r"turns": "the last turn of each live worker; pruned with the worker",
    r"wake": "at most one token",
    r"stats": "counters; a fixed set of fields",
    r"versions": "the last version given out; one number",
    r"workers": "records of live workers; pruned by age",
    r"fleet": "what live workers say of themselves; pruned with them",
    r"unclaimed": "jobs with an unclaimed timeout; they leave it when claimed",
    r"paused": "a pause lasts until somebody resumes",
}

_STAYS: Final = re.compile(rf"{TAG}:(?:{'|'.join(MAY_STAY)})")


def check_keys(client: redis.Redis, allowed: Iterable[str] = ()) -> list[str]:
    """What is wrong with the keys that a test has left, one line each; empty when all is well.

    `allowed` are further patterns of whole key names that this one test may leave.
    """
    patterns = [_STAYS, *map(re.compile, allowed)]
    return [
        f"{name} stays without a TTL and without a reason in tests/key_leaks.py"
        for name in sorted(_keys_without_ttl(client))
        if not any(pattern.fullmatch(name) for pattern in patterns)
    ]


def _keys_without_ttl(client: redis.Redis) -> Iterator[str]:
    keys = client.scan_iter(count=BATCH)
    while batch := list(itertools.islice(keys, BATCH)):
        pipeline = client.pipeline(transaction=False)
        for key in batch:
            pipeline.pttl(key)
        for key, ttl in zip(batch, pipeline.execute(), strict=True):
            if ttl == -1:
                yield key.decode(errors="backslashreplace")
