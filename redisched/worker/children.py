"""The children of a worker, as it sees them: spawned when needed, reused while they behave, killable."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Callable
from typing import Final

from redisched.core.errors import RedischedError
from redisched.core.record import Finish
from redisched.store.operations.turns import Finished
from redisched.worker.child import request
from redisched.worker.frames import framed, read_frame
from redisched.worker.run import Run

BEGIN_SECONDS: Final = 5.0
"""A child that waits for a job takes it on at once, unless it hangs or is frozen."""

Opened = tuple[asyncio.subprocess.Process, int, asyncio.StreamReader, asyncio.StreamWriter]
_GONE: Final = (asyncio.IncompleteReadError, ConnectionError, BrokenPipeError)


class ChildLostError(RedischedError):
    """The child ended under its job; the message says how."""


class NotBegunError(ChildLostError):
    """The child ended before it took the job on: that is not the job's doing."""


class NoChildError(RedischedError):
    """There is no child for a job; the message says why. That is not the job's doing."""


class Child:
    """One child process. Its pipe's other end is ours alone: it ends when we do."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        pipe: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._pipe = pipe
        self._reader = reader
        self._writer = writer

    @classmethod
    async def spawn(cls, app_path: str, worker: str) -> Child:
        """Started and ready; raises ChildLostError, or OSError, where it ends before that."""
        child = cls(*await _started(app_path, worker))
        try:
            await child._heard()
        except BaseException:
            await child.close()
            raise
        return child

    @property
    def is_there(self) -> bool:
        """As far as is known: it may have ended a moment ago."""
        return self._process.returncode is None and not self._reader.at_eof() and not self._reader.exception()

    async def run(self, run: Run, begins: Callable[[], None]) -> Finished:
        """Run the job there; raises ChildLostError where the child ends first, NotBegunError where it did so
        before it took the job on.
        """
        self._send(request(run))
        await self._taken_on()
        begins()
        while True:
            match await self._heard():
                case [float(part), str(note)]:
                    run.control.progress(part, note)
                case [int(kind), int(delay_ms), str(reason), bytes(outcome)]:
                    claimed = run.claimed
                    return Finished(claimed.id, claimed.version, Finish(kind), delay_ms, reason, outcome)
                case _:
                    raise ChildLostError("answered out of turn")

    async def _taken_on(self) -> None:
        """What comes before is of the job before: a thread of it that goes on may still tell its progress."""
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                while await self._heard() != ["begun"]:
                    pass
        except ChildLostError as error:
            raise NotBegunError(str(error)) from error
        except TimeoutError as error:
            raise NotBegunError(f"did not take the job on within {BEGIN_SECONDS:g} s") from error

    def ask_to_stop(self) -> None:
        self._send(framed("stop"))

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Kill it and wait until it is gone."""
        self.kill()
        await self._let_go()

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(*_GONE):
            self._writer.write(data)

    async def _heard(self) -> object:
        try:
            return await read_frame(self._reader)
        except _GONE:
            raise ChildLostError(_how(await self._let_go())) from None

    async def _let_go(self) -> int:
        """Its exit code. The pipe is closed once: its number may be another file's by the second time."""
        self._writer.close()
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)
        return await self._process.wait()


class Children:
    """Idle children are kept for the next job; one that was lost is replaced when it is needed."""

    def __init__(self, app_path: str, worker: str) -> None:
        self._app_path = app_path
        self._worker = worker
        self._idle: list[Child] = []
        self._busy: dict[Run, Child] = {}

    async def run(self, run: Run, begins: Callable[[], None]) -> Finished:
        """Run the job in a child, and say when it `begins` there: a child may take long to start. Raises
        ChildLostError where the child ends first, or the run was told to end before it could begin;
        NoChildError where none could be started, or a new one did not take the job on.
        """
        while True:
            kept = await self._kept()
            child = kept or await self._spawned()
            if run.stop is not None:
                self._idle.append(child)
                raise ChildLostError("had nothing to begin with")
            try:
                return await self._run_in(child, run, begins)
            except NotBegunError as error:
                if kept is None or run.stop is not None:
                    raise NoChildError(f"a child process {error}") from error

    async def _run_in(self, child: Child, run: Run, begins: Callable[[], None]) -> Finished:
        self._busy[run] = child
        try:
            finished = await child.run(run, begins)
        except BaseException:
            await child.close()
            raise
        finally:
            del self._busy[run]
        self._idle.append(child)
        return finished

    async def _kept(self) -> Child | None:
        """An idle child, if there is one; those that have ended meanwhile are let go."""
        while self._idle:
            child = self._idle.pop()
            if child.is_there:
                return child
            await child.close()
        return None

    async def _spawned(self) -> Child:
        try:
            return await Child.spawn(self._app_path, self._worker)
        except (ChildLostError, OSError) as error:
            raise NoChildError(f"no child process could be started: {error}") from error

    def has(self, run: Run) -> bool:
        """Whether the run is in a child now: before, it waits for one."""
        return run in self._busy

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


async def _started(app_path: str, worker: str) -> Opened:
    """Connected first: from the start of the process on there is nothing left to wait for."""
    ours, theirs = socket.socketpair()
    watched, held = os.pipe()
    with contextlib.ExitStack() as undo:
        undo.callback(ours.close)
        undo.callback(os.close, held)
        with theirs, os.fdopen(watched, "rb"):
            reader, writer = await asyncio.open_connection(sock=ours)
            undo.callback(writer.close)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "redisched.worker.child", app_path, worker),
                *(str(theirs.fileno()), str(watched), str(os.getpid())),
                pass_fds=(theirs.fileno(), watched),
                stdin=asyncio.subprocess.DEVNULL,
            )
        undo.pop_all()
    return process, held, reader, writer
