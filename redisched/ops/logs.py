"""Logging for processes of ours: one line per event on stderr, and nothing in it can forge another line."""

from __future__ import annotations

import logging
import time
from typing import Final

_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def escaped(text: str) -> str:
    """`text` as one line: what is not printable (newlines, control characters, changes of direction, lone
    surrogates) is written as an escape.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class OneLine(logging.Formatter):
    """A record with its traceback as one line; instants in UTC."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__(_FORMAT)
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        return escaped(super().format(record))


def set_up(level: int = logging.INFO) -> None:
    """Log redisched at `level`, and everybody else at that or at INFO, whichever says less."""
    # stderr writes what its encoding cannot say as escapes, whatever the locale is.
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.INFO))
    logging.getLogger("redisched").setLevel(level)
