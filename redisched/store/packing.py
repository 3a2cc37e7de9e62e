"""Arguments for scripts, as msgpack of the dialect that `cmsgpack` inside the servers reads."""

from __future__ import annotations

import msgpack


def for_lua(value: object) -> bytes:
    """Text and bytes both become raw strings: cmsgpack of 2012 knows no bin type."""
    return bytes(msgpack.packb(value, use_bin_type=False))
