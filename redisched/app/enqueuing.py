"""The four ways to enqueue, blocking and for asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, ParamSpec, TypeVar, cast, overload

from redisched.app.backend import Backend
from redisched.app.job import AsyncJob, Job
from redisched.app.options import Options
from redisched.app.requests import (
    NOW,
    Accepted,
    Instant,
    Placed,
    When,
    called,
    enqueue_all,
    enqueue_one,
    placed,
)
from redisched.app.task import Task, TaskCall
from redisched.core.durations import Duration
from redisched.core.errors import ArgumentError
from redisched.core.ids import IdMaker

P = ParamSpec("P")
R = TypeVar("R")
_NO_OPTIONS: Final = Options()


class _Enqueuing:
    """What both faces hold: the way to the server, an id maker, and the options of the calls."""

    def __init__(self, backend: Backend, ids: IdMaker, options: Options = _NO_OPTIONS) -> None:
        self._backend = backend
        self._ids = ids
        self._options = options

    def _one(
        self, when: When, task: Task[..., object] | str, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> Placed:
        return placed(called(task, args, kwargs, self._options), when, self._options, self._ids)

    def _many(self, calls: Iterable[TaskCall[R]], at: Instant | None, delay: Duration | None) -> list[Placed]:
        if at is not None and delay is not None:
            raise ArgumentError("delay", delay, "give at= or delay=, not both")
        if self._options.job_id or self._options.unique:
            given = self._options.job_id or self._options.unique
            raise ArgumentError(
                "options", given, "one id or unique key cannot serve many jobs; see TaskCall.with_id"
            )
        when = (
            NOW if at is None and delay is None else When.at(at) if at is not None else When.after(delay or 0)
        )
        return [placed(_checked_call(call), when, self._options, self._ids) for call in calls]


def _checked_call(call: TaskCall[R]) -> TaskCall[R]:
    if not isinstance(call, TaskCall):
        raise ArgumentError("calls", call, "pass calls of tasks: my_task.call(…)")
    return call


class Enqueuer(_Enqueuing):
    """Enqueues with one set of options; blocking.

    Every call returns once the server has the job. It raises ArgumentError before anything is sent,
    StoreRefusedError or StoreUnavailableError where nothing was stored, and OutcomeUnknownError, with the
    job's id, where that is not known; repeating the call with `options(job_id=…)` is then safe.
    """

    @overload
    def enqueue(self, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Job[R]: ...
    @overload
    def enqueue(self, task: str, /, *args: object, **kwargs: object) -> Job[object]: ...
    def enqueue(self, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs) -> Job[R] | Job[object]:
        """A job for now."""
        return self._store(self._one(NOW, task, args, kwargs))

    @overload
    def enqueue_in(
        self, delay: Duration, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Job[R]: ...
    @overload
    def enqueue_in(self, delay: Duration, task: str, /, *args: object, **kwargs: object) -> Job[object]: ...
    def enqueue_in(
        self, delay: Duration, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> Job[R] | Job[object]:
        """A job after a delay (timedelta, seconds, or text such as "10m"), counted on the server's clock."""
        return self._store(self._one(When.after(delay), task, args, kwargs))

    @overload
    def enqueue_at(self, when: Instant, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Job[R]: ...
    @overload
    def enqueue_at(self, when: Instant, task: str, /, *args: object, **kwargs: object) -> Job[object]: ...
    def enqueue_at(
        self, when: Instant, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> Job[R] | Job[object]:
        """A job at an instant: an aware datetime, ISO text with an offset, or At(local time, tz=)."""
        return self._store(self._one(When.at(when), task, args, kwargs))

    def enqueue_many(
        self, calls: Iterable[TaskCall[R]], *, at: Instant | None = None, delay: Duration | None = None
    ) -> list[Job[R]]:
        """Many jobs in few round trips, in the order given. All are checked before the first is sent.

        Where only a part could be stored, OutcomeUnknownError names the jobs that may not be. Repeating the
        call is safe for those whose ids are your own (`TaskCall.with_id`).
        """
        items = self._many(calls, at, delay)
        executor = self._backend.executor()
        return [self._job(one) for one in executor.run(enqueue_all(self._backend.namespace, items))]

    def _store(self, item: Placed) -> Job[object]:
        return self._job(self._backend.executor().run(enqueue_one(self._backend.namespace, item)))

    def _job(self, accepted: Accepted) -> Job[R]:
        send = self._backend.executor().send
        return cast("Job[R]", Job(send, self._backend.namespace, accepted.id, accepted.created))


class AsyncEnqueuer(_Enqueuing):
    """The asyncio twin of `Enqueuer`."""

    @overload
    async def enqueue(self, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs) -> AsyncJob[R]: ...
    @overload
    async def enqueue(self, task: str, /, *args: object, **kwargs: object) -> AsyncJob[object]: ...
    async def enqueue(
        self, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncJob[R] | AsyncJob[object]:
        """As `Enqueuer.enqueue`."""
        return await self._store(self._one(NOW, task, args, kwargs))

    @overload
    async def enqueue_in(
        self, delay: Duration, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncJob[R]: ...
    @overload
    async def enqueue_in(
        self, delay: Duration, task: str, /, *args: object, **kwargs: object
    ) -> AsyncJob[object]: ...
    async def enqueue_in(
        self, delay: Duration, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncJob[R] | AsyncJob[object]:
        """As `Enqueuer.enqueue_in`."""
        return await self._store(self._one(When.after(delay), task, args, kwargs))

    @overload
    async def enqueue_at(
        self, when: Instant, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncJob[R]: ...
    @overload
    async def enqueue_at(
        self, when: Instant, task: str, /, *args: object, **kwargs: object
    ) -> AsyncJob[object]: ...
    async def enqueue_at(
        self, when: Instant, task: Task[P, R] | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncJob[R] | AsyncJob[object]:
        """As `Enqueuer.enqueue_at`."""
        return await self._store(self._one(When.at(when), task, args, kwargs))

    async def enqueue_many(
        self, calls: Iterable[TaskCall[R]], *, at: Instant | None = None, delay: Duration | None = None
    ) -> list[AsyncJob[R]]:
        """As `Enqueuer.enqueue_many`."""
        items = self._many(calls, at, delay)
        executor = await self._backend.ready_aio()
        return [self._job(one) for one in await executor.run(enqueue_all(self._backend.namespace, items))]

    async def _store(self, item: Placed) -> AsyncJob[object]:
        executor = await self._backend.ready_aio()
        return self._job(await executor.run(enqueue_one(self._backend.namespace, item)))

    def _job(self, accepted: Accepted) -> AsyncJob[R]:
        send = self._backend.aio_executor().send
        return cast("AsyncJob[R]", AsyncJob(send, self._backend.namespace, accepted.id, accepted.created))
