"""Many dead letters at once: one that cannot be moved never stops the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redisched.core.config import IDEMPOTENCY_WINDOW
from redisched.core.ids import public_id, split_id
from redisched.core.states import ReviveOutcome
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations.jobs import Page, discard, list_jobs, revive, sweep

PAGE_JOBS: Final = 100


@dataclass(frozen=True, slots=True)
class Retried:
    """How many dead letters run again, and why others do not, by public id."""

    revived: int
    left: dict[str, ReviveOutcome]


def retry_all(keyspace: Keyspace) -> Flow[Retried]:
    """Run again all that are dead now. One that dies meanwhile, perhaps for the second time, stays dead."""
    revived, left = 0, dict[str, ReviveOutcome]()
    page = yield from _page(keyspace, 0)
    to_do = page.total
    while page.rows and to_do > 0:
        for short, _ in page.rows[:to_do]:
            outcome = (yield from revive(keyspace, short)).outcome
            if outcome is ReviveOutcome.REVIVED:
                revived += 1
            else:
                left[public_id(keyspace.queue, short)] = outcome
        to_do -= len(page.rows)
        page = yield from _page(keyspace, len(left))
    return Retried(revived, left)


def purge_all(keyspace: Keyspace) -> Flow[int]:
    """Drop all that are dead now; how many were dropped."""
    dropped = 0
    page = yield from _page(keyspace, 0)
    to_do = page.total
    while page.rows and to_do > 0:
        shorts = [short for short, _ in page.rows[:to_do]]
        dropped += yield from discard(keyspace, shorts, IDEMPOTENCY_WINDOW)
        to_do -= len(shorts)
        page = yield from _page(keyspace, 0)
    return dropped


def purge(namespace: str, job_id: str) -> Flow[int]:
    """Drop one that has ended."""
    queue, short = split_id(job_id)
    return (yield from discard(Keyspace(namespace, queue), [short], IDEMPOTENCY_WINDOW))


def _page(keyspace: Keyspace, offset: int) -> Flow[Page]:
    """A page of dead letters; its members that stand for no job are dropped, until none is left on it."""
    while (yield from sweep(keyspace, "dead", offset=offset, limit=PAGE_JOBS)).ghosts:
        pass
    return (yield from list_jobs(keyspace, "dead", offset=offset, limit=PAGE_JOBS))
