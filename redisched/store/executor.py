"""Sends operations, blocking the calling thread. Safe to share between threads, and across fork."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, TypeVar, cast

import redis

from redisched.core.errors import StoreError, StoreMisconfiguredError
from redisched.core.failpoints import failpoint
from redisched.store.address import Address
from redisched.store.attempts import Attempts, ErrorReplyError, NoReplyError, NotSentError
from redisched.store.backoff import Patience
from redisched.store.operation import Flow, Operation
from redisched.store.replies import Cure, cure
from redisched.store.scripts import Argument
from redisched.store.wire import (
    ERROR_REPLY,
    NEVER_SENT,
    REPLY_SECONDS,
    SyncConnection,
    error_text,
    is_reply,
    open_sync,
)

T = TypeVar("T")

IDLE_CONNECTIONS: Final = 32


class Executor:
    """`locate` says where the server is each time a connection is opened, so that it may move or restart."""

    def __init__(
        self,
        locate: Callable[[], Address],
        *,
        patience: Patience,
        name: str = "redisched",
        reply_seconds: float = REPLY_SECONDS,
    ) -> None:
        self._locate = locate
        self._patience = patience
        self._name = name
        self._reply_seconds = reply_seconds
        self._idle: list[SyncConnection] = []
        self._pid = os.getpid()

    def send(self, operation: Operation[T]) -> T:
        """The reply, read; raises a StoreError. Repeats what may be repeated until its patience ends."""
        attempts = Attempts(cast("Operation[object]", operation), self._patience)
        while True:
            try:
                reply = self._exchange(operation.command(whole=attempts.whole))
            except (NotSentError, NoReplyError, ErrorReplyError) as failure:
                time.sleep(attempts.pause_after(failure))
            else:
                return operation.read(reply)

    def run(self, flow: Flow[T]) -> T:
        """Send what the flow yields until it returns; what fails is raised where the flow yielded it."""
        try:
            operation = next(flow)
            while True:
                try:
                    reply = self.send(operation)
                except StoreError as error:
                    operation = flow.throw(error)
                else:
                    operation = flow.send(reply)
        except StopIteration as end:
            return cast("T", end.value)

    def close(self) -> None:
        """Close the idle connections; the executor can be used again."""
        while self._idle:
            self._idle.pop().disconnect()

    def _exchange(self, command: tuple[Argument, ...]) -> object:
        connection = self._taken()
        try:
            failpoint("client.before_send")
            connection.send_command(*command)
            failpoint("client.after_send")
            reply = connection.read_response()
        except ERROR_REPLY as error:
            text = error_text(error)
            if cure(text) is Cure.REDISCOVER:
                connection.disconnect()
                self.close()
            else:
                self._give_back(connection)
            raise ErrorReplyError(text) from error
        except NEVER_SENT as error:
            connection.disconnect()
            raise exchange_failure(error) from error
        except BaseException:
            # A reply may still be under way: the next user of this connection would take it for its own.
            connection.disconnect()
            raise
        self._give_back(connection)
        return reply

    def _taken(self) -> SyncConnection:
        """An idle connection or a new one; after a fork the parent's are left alone."""
        if self._pid != os.getpid():
            self._idle, self._pid = [], os.getpid()
        while connection := self._an_idle_one():
            if _is_quiet(connection):
                return connection
            connection.disconnect()
        return self._opened()

    def _an_idle_one(self) -> SyncConnection | None:
        """Another thread may take the last one first."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _opened(self) -> SyncConnection:
        connection = open_sync(self._locate(), self._name, self._reply_seconds)
        try:
            connection.connect()
        except (*NEVER_SENT, ERROR_REPLY) as error:
            connection.disconnect()
            raise opening_failure(error) from error
        except BaseException:
            connection.disconnect()
            raise
        return connection

    def _give_back(self, connection: SyncConnection) -> None:
        if len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            connection.disconnect()


def _is_quiet(connection: SyncConnection) -> bool:
    """Whether an idle connection is fit: the server may have closed it, or sent what nobody asked for."""
    try:
        return not connection.can_read()
    except NEVER_SENT:
        return False


def exchange_failure(error: Exception) -> ErrorReplyError | NoReplyError:
    """What a lost connection means: some error replies come in that guise."""
    return ErrorReplyError(error_text(error)) if is_reply(error) else NoReplyError(str(error))


def opening_failure(error: Exception) -> Exception:
    """A password or certificate that is refused stays refused; anything else may pass."""
    if isinstance(error, redis.AuthenticationError):
        return StoreMisconfiguredError(f"the server refuses the user or the password: {error}")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return StoreMisconfiguredError(f"the server's certificate is not trusted: {error}")
    return ErrorReplyError(error_text(error)) if is_reply(error) else NotSentError(str(error))
