"""What a job calls: a task's name, its arguments and how to run it, as the opaque body of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from redisched.core.config import PAYLOAD_BYTES
from redisched.core.errors import PayloadError
from redisched.core.values import pack, unpack

Meta = Mapping[str, object]
"""How to run it: `timeout` ms, `retry` numbers, `slot` of a schedule. Absent means the task's own."""

_KINDS: Final = (str, list, dict, dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a task, with plain arguments."""

    task: str
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    meta: Meta = field(default_factory=dict)

    def packed(self, limit: int = PAYLOAD_BYTES) -> bytes:
        """The body; PayloadError names the argument that cannot be carried, or says how large it is."""
        try:
            body = pack([self.task, list(self.args), dict(self.kwargs), dict(self.meta)], field="call")
        except PayloadError:
            pack(list(self.args), field="args")
            pack(dict(self.kwargs), field="kwargs")
            raise
        if len(body) > limit:
            reason = f"{len(body)} bytes packed, {limit} allowed; store the data elsewhere and pass its key"
            raise PayloadError("arguments", self.task, reason)
        return body

    @classmethod
    def unpacked(cls, body: bytes) -> Call:
        """PayloadError for a body that no call was packed into."""
        # Every job passes here: a match statement took four times as long as these comparisons.
        parts = unpack(body)
        if type(parts) is list and len(parts) == len(_KINDS) and tuple(map(type, parts)) == _KINDS:
            return cls(parts[0], tuple(parts[1]), parts[2], parts[3])
        raise PayloadError("body", body, "not the body of a job")
