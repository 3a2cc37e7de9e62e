"""Where the jobs of a test's queue are, as of one moment."""

from __future__ import annotations

from datetime import timedelta

from redisched.store.keys import Keyspace
from redisched.store.operations.queues import QueueStatus, status
from redisched.store.operations.turns import Audit, audit
from tests.fleet import Fleet


def queue_status(fleet: Fleet) -> QueueStatus:
    """The counts of the default queue, by one script."""
    return fleet.app.backend.executor().send(status(_keyspace(fleet)))


def places(found: QueueStatus) -> int:
    """How many jobs there are, wherever they are."""
    return found.scheduled + found.ready + found.processing + found.ended + found.dead


def counter(fleet: Fleet, name: str) -> int:
    """One of the queue's counters; 0 where nothing was counted."""
    return queue_status(fleet).counters.get(name, 0)


def audit_now(fleet: Fleet) -> Audit:
    """One walk for records that nobody would find, whenever the last one was."""
    return fleet.app.backend.executor().send(audit(_keyspace(fleet), every=timedelta(0), limit=1000))


def _keyspace(fleet: Fleet) -> Keyspace:
    return Keyspace(fleet.namespace, "default")
