"""Sends operations without blocking the event loop. Safe under cancellation and with several loops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from redisched.core.errors import StoreError
from redisched.core.failpoints import failpoint_async
from redisched.store.address import Address
from redisched.store.attempts import Attempts, ErrorReplyError, NoReplyError, NotSentError
from redisched.store.backoff import Patience
from redisched.store.executor import IDLE_CONNECTIONS, exchange_failure, opening_failure
from redisched.store.operation import Flow, Operation
from redisched.store.replies import Cure, cure
from redisched.store.scripts import Argument
from redisched.store.wire import (
    ERROR_REPLY,
    NEVER_SENT,
    REPLY_SECONDS,
    AsyncConnection,
    error_text,
    open_async,
)

T = TypeVar("T")


class AsyncExecutor:
    """The asyncio twin of `Executor`. A connection belongs to the loop that opened it."""

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
        self._idle: WeakKeyDictionary[asyncio.AbstractEventLoop, list[AsyncConnection]] = WeakKeyDictionary()

    async def send(self, operation: Operation[T]) -> T:
        """The reply, read; raises a StoreError. Repeats what may be repeated until its patience ends."""
        attempts = Attempts(cast("Operation[object]", operation), self._patience)
        while True:
            try:
                reply = await self._exchange(operation.command(whole=attempts.whole))
            except (NotSentError, NoReplyError, ErrorReplyError) as failure:
                await asyncio.sleep(attempts.pause_after(failure))
            else:
                return operation.read(reply)

    async def run(self, flow: Flow[T]) -> T:
        """Send what the flow yields until it returns; what fails is raised where the flow yielded it."""
        try:
            operation = next(flow)
            while True:
                try:
                    reply = await self.send(operation)
                except StoreError as error:
                    operation = flow.throw(error)
                else:
                    operation = flow.send(reply)
        except StopIteration as end:
            return cast("T", end.value)

    async def close(self) -> None:
        """Close this loop's idle connections; the executor can be used again."""
        idle = self._mine()
        while idle:
            await idle.pop().disconnect(nowait=True)

    async def _exchange(self, command: tuple[Argument, ...]) -> object:
        connection = await self._taken()
        try:
            await failpoint_async("client.before_send")
            await connection.send_command(*command)
            await failpoint_async("client.after_send")
            reply = await connection.read_response()
        except ERROR_REPLY as error:
            text = error_text(error)
            if cure(text) is Cure.REDISCOVER:
                await connection.disconnect(nowait=True)
                await self.close()
            else:
                await self._give_back(connection)
            raise ErrorReplyError(text) from error
        except NEVER_SENT as error:
            await connection.disconnect(nowait=True)
            raise exchange_failure(error) from error
        except BaseException:
            # Cancelled with a reply under way: the next user of this connection would take it for its own.
            await connection.disconnect(nowait=True)
            raise
        await self._give_back(connection)
        return reply

    def _mine(self) -> list[AsyncConnection]:
        """This loop's idle connections; those of loops that are over are dropped, which closes them."""
        loop = asyncio.get_running_loop()
        if loop not in self._idle:
            for over in [other for other in self._idle if other.is_closed()]:
                del self._idle[over]
        return self._idle.setdefault(loop, [])

    async def _taken(self) -> AsyncConnection:
        idle = self._mine()
        while idle:
            connection = idle.pop()
            if await _is_quiet(connection):
                return connection
            await connection.disconnect(nowait=True)
        return await self._opened()

    async def _opened(self) -> AsyncConnection:
        # Locating may start the embedded server, which takes tens of milliseconds.
        address = await asyncio.to_thread(self._locate)
        connection = open_async(address, self._name, self._reply_seconds)
        try:
            await connection.connect()
        except (*NEVER_SENT, ERROR_REPLY) as error:
            await connection.disconnect(nowait=True)
            raise opening_failure(error) from error
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        return connection

    async def _give_back(self, connection: AsyncConnection) -> None:
        idle = self._mine()
        if len(idle) < IDLE_CONNECTIONS:
            idle.append(connection)
        else:
            await connection.disconnect(nowait=True)


async def _is_quiet(connection: AsyncConnection) -> bool:
    """Whether an idle connection is fit: the server may have closed it, or sent what nobody asked for."""
    try:
        return not await connection.can_read()
    except NEVER_SENT:
        return False
