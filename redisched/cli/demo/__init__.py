"""`redisched demo`: a link shortener's evening, each promise kept before your eyes."""

from __future__ import annotations


def run() -> int:
    """0 when every promise that it prints was seen to be kept, else 1; 128 + its number after a signal."""
    # Workers import this package for its tasks alone.
    from redisched.cli.demo.evening import spend  # noqa: PLC0415

    return spend()
