"""What is said to a running embedded server: short questions over its socket, each on its own connection."""

from __future__ import annotations

from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from redisched.embedded.server_conf import Fsync

PATIENCE_SECONDS: Final = 1.0


class Answer(Enum):
    """What came of a question."""

    READY = "ready"
    REFUSED = "refused"
    LOADING = "loading"
    NONE = "none"


@contextmanager
def connected(socket: Path) -> Iterator[redis.Redis]:
    """A client that asks once: redis-py's own retries would take seconds to find that nobody is there."""
    client = redis.Redis(
        unix_socket_path=str(socket),
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
        encoding_errors="replace",
    )
    try:
        yield client
    finally:
        client.close()


def ask(socket: Path, question: Callable[[redis.Redis], object]) -> Answer:
    """What becomes of `question`; what the server says to it is not of interest."""
    try:
        with connected(socket) as client:
            question(client)
    except redis.BusyLoadingError:
        return Answer.LOADING
    except (redis.ConnectionError, redis.TimeoutError):
        return Answer.NONE
    except redis.ResponseError:
        return Answer.REFUSED
    return Answer.READY


def ping(socket: Path) -> Answer:
    """Whether a server answers there. To complain (a script runs, the disk is full) is to be there: READY."""
    answer = ask(socket, lambda client: client.ping())
    return Answer.READY if answer is Answer.REFUSED else answer


def greet(socket: Path, fsync: Fsync) -> Answer:
    """READY once a server answers that is at least as strict as `fsync`.

    Nobody's wish relaxes the shared server: who was told that all is on disk may go on relying on it.
    """
    answer = ping(socket)
    if answer is Answer.READY and fsync == "always":
        return ask(socket, lambda client: client.config_set("appendfsync", fsync))
    return answer


def ask_to_stop(socket: Path) -> None:
    """Tell the server to write out what it has and to end; it may still be ending on return.

    NOSAVE leaves out only the snapshot, which we do not keep, and is obeyed even while a script runs.
    """
    try:
        with connected(socket) as client:
            client.shutdown(nosave=True)
    except redis.RedisError:
        return  # Whether it has ended is asked of its lock, which cannot be wrong.
