"""The children of a worker, as it sees them: spawned when needed, reused while they behave, killable."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from typing import Final

from redisched.core.errors import RedischedError
from redisched.core.record import Finish
from redisched.store.operations.turns import Finished
from redisched.worker.child import request
from redisched.worker.frames import framed, read_frame
from redisched.worker.run import Run

_GONE: Final = (asyncio.IncompleteReadError, ConnectionError, BrokenPipeError)


class ChildLostError(RedischedError):
    """The child ended under its job; the message says how."""


class Child:
    """One child process. Its pipe's other end is ours alone: it ends when we do."""

    def __init__(self, process: asyncio.subprocess.Process, pipe: int) -> None:
        self._process = process
        self._pipe = pipe
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    @classmethod
    async def spawn(cls, app_path: str, worker: str) -> Child:
        """Started and ready; raises ChildLostError where it ends before that."""
        ours, theirs = socket.socketpair()
        watched, held = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "redisched.worker.child", app_path, worker),
                *(str(theirs.fileno()), str(watched), str(os.getpid())),
                pass_fds=(theirs.fileno(), watched),
                stdin=asyncio.subprocess.DEVNULL,
            )
        finally:
            theirs.close()
            os.close(watched)
        child = cls(process, held)
        child._reader, child._writer = await asyncio.open_connection(sock=ours)
        await child._heard()
        return child

    async def run(self, run: Run) -> Finished:
        """Run the job there; raises ChildLostError where the child ends first."""
        self._send(request(run))
        match await self._heard():
            case [int(kind), int(delay_ms), str(reason), bytes(outcome)]:
                return Finished(run.claimed.id, run.claimed.version, Finish(kind), delay_ms, reason, outcome)
        raise ChildLostError("answered out of turn")

    def ask_to_stop(self) -> None:
        self._send(framed("stop"))

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Kill it and wait until it is gone."""
        self.kill()
        self._writer.close()
        await self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._pipe)

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(*_GONE):
            self._writer.write(data)

    async def _heard(self) -> object:
        try:
            return await read_frame(self._reader)
        except _GONE:
            self._writer.close()
            os.close(self._pipe)
            raise ChildLostError(_how(await self._process.wait())) from None


class Children:
    """Idle children are kept for the next job; one that was lost is replaced when it is needed."""

    def __init__(self, app_path: str, worker: str) -> None:
        self._app_path = app_path
        self._worker = worker
        self._idle: list[Child] = []
        self._busy: dict[Run, Child] = {}

    async def run(self, run: Run) -> Finished:
        """Run the job in a child; raises ChildLostError where that ends first."""
        child = self._idle.pop() if self._idle else await Child.spawn(self._app_path, self._worker)
        self._busy[run] = child
        try:
            finished = await child.run(run)
        except ChildLostError:
            raise
        except BaseException:
            await child.close()
            raise
        finally:
            del self._busy[run]
        self._idle.append(child)
        return finished

    def ask_to_stop(self, run: Run) -> None:
        if run in self._busy:
            self._busy[run].ask_to_stop()

    def kill(self, run: Run) -> None:
        """End the child under the run; whoever waits for it is told."""
        if run in self._busy:
            self._busy[run].kill()

    async def close(self) -> None:
        """End all children."""
        for child in [*self._idle, *self._busy.values()]:
            await child.close()
        self._idle.clear()


def _how(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
