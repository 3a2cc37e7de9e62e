"""The keys of one queue. All of them share one hash tag, so that every script stays in one cluster slot."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from redisched.core.errors import ConfigurationError

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def checked_name(field: str, value: str) -> str:
    """`value` as the name of a namespace or queue: 1-64 of letters, digits, `_`, `.`, `-`.

    These cannot hold the `:`, `{` and `}` that keys are joined with, so no two names make one key.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ConfigurationError(field, value, "a name is 1 to 64 of A-Z a-z 0-9 _ . -")
    return value


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Names the keys of one queue."""

    namespace: str
    queue: str

    def __post_init__(self) -> None:
        checked_name("namespace", self.namespace)
        checked_name("queue", self.queue)

    def key(self, part: str) -> str:
        return f"rs:{{{self.namespace}:{self.queue}}}:{part}"

    def slot(self, schedule: str, incarnation: int, slot_id: str) -> str:
        """The key of one slot; the schedule's name is escaped, so that joined names cannot collide."""
        return self.key(f"slot:{quote(schedule, safe='')}:{incarnation}:{slot_id}")
