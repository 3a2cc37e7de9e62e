"""Reading replies: the shapes that scripts return, as values."""

from __future__ import annotations

from typing import cast

from redisched.core.errors import ScriptError


def as_int(reply: object) -> int:
    if isinstance(reply, int):
        return reply
    if isinstance(reply, bytes) and reply:
        return int(float(reply))
    raise ScriptError(f"expected a number, got {reply!r}")


def as_list(reply: object) -> list[object]:
    if isinstance(reply, list):
        return cast("list[object]", reply)
    raise ScriptError(f"expected a list, got {reply!r}")


def as_bytes(reply: object) -> bytes:
    if isinstance(reply, bytes):
        return reply
    raise ScriptError(f"expected bytes, got {reply!r}")


def as_text(reply: object) -> str:
    return as_bytes(reply).decode("utf-8", "backslashreplace")


def as_optional_int(reply: object) -> int | None:
    """Empty text is how scripts say that there is none."""
    return as_int(reply) if reply not in (b"", None) else None


def in_rows(reply: object, width: int) -> list[list[object]]:
    """A flat list cut into rows."""
    items = as_list(reply)
    return [items[at : at + width] for at in range(0, len(items), width)]
