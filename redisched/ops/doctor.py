"""Whether a server is fit to be trusted with jobs. Looks only: nothing is changed, no job is made."""

from __future__ import annotations

from collections.abc import Sequence

from redisched.app.job import Send
from redisched.core.config import QUEUE
from redisched.core.errors import StoreError
from redisched.ops import checks, rights
from redisched.ops.facts import Facts, gathered
from redisched.ops.findings import Finding, fail
from redisched.store.keys import Keyspace


def examine(send: Send, namespace: str, queues: Sequence[str] = (QUEUE,)) -> list[Finding]:
    """Every check. A server that does not answer is a finding, and then the only one."""
    try:
        facts = gathered(send)
    except StoreError as error:
        return [fail("server", str(error), "start the server, or correct the URL, the user or the password")]
    found = _refusable(facts, send, namespace, queues, evicting_allowed=False)
    found += [checks.persistence(facts), checks.memory(facts), checks.clocks(facts)]
    return found


def startup_findings(
    send: Send, namespace: str, queues: Sequence[str], *, evicting_allowed: bool
) -> list[Finding]:
    """What a worker looks at before its first turn; see `findings.refuse`. Raises StoreUnavailableError where
    nobody answers: that may pass, and a worker waits.
    """
    return _refusable(gathered(send), send, namespace, queues, evicting_allowed=evicting_allowed)


def _refusable(
    facts: Facts, send: Send, namespace: str, queues: Sequence[str], *, evicting_allowed: bool
) -> list[Finding]:
    """The checks that may refuse a server. One queue stands for all: their keys differ in the name only."""
    keyspace = Keyspace(namespace, queues[0])
    found = [
        checks.version(facts),
        checks.role(facts),
        checks.cluster(facts),
        checks.eviction(facts, evicting_allowed=evicting_allowed),
        rights.scripts(send, keyspace),
        rights.commands(send, keyspace),
    ]
    return [one for one in found if one is not None]
