"""What a job calls: a task's name, its arguments and how to run it, as the opaque body of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from redisched.core.config import PAYLOAD_BYTES
from redisched.core.errors import PayloadError
from redisched.core.values import pack, unpack

Meta = Mapping[str, object]
"""How to run it: `timeout` ms, `retry` numbers, `slot` of a schedule. Absent means the task's own."""


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
        parts = unpack(body)
        match parts:
            case [str(task), list(args), dict(kwargs), dict(meta)]:
                return cls(
                    task, tuple(args), cast("dict[str, object]", kwargs), cast("dict[str, object]", meta)
                )
        raise PayloadError("body", body, "not the body of a job")
