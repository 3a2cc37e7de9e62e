"""The application's Scheduler: its tasks, its queues, its timetables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Protocol, Self, TypeVar, Unpack, cast, overload

from redisched.app.backend import Backend, Durability
from redisched.app.declared import Declared, declaration
from redisched.app.enqueuing import AsyncEnqueuer, Enqueuer
from redisched.app.job import AsyncJob, Job
from redisched.app.options import OptionArguments, Options
from redisched.app.schedules import AsyncSchedules, Schedules
from redisched.app.task import (
    AsyncTask,
    ExecutorKind,
    SyncTask,
    Task,
    TaskCall,
    TaskSettings,
    checked_task_name,
    default_name,
)
from redisched.calendar import Calendar, Cron, Every
from redisched.core.config import QUEUE
from redisched.core.durations import Duration
from redisched.core.errors import ConfigurationError
from redisched.core.ids import IdMaker
from redisched.core.retry import Retry
from redisched.store.operations import queues

P = ParamSpec("P")
R = TypeVar("R")


class TaskDecorator(Protocol):
    """Makes a task of a function. (An awaitable is an object, too: the overloads overlap, in this order.)"""

    @overload
    def __call__(self, function: Callable[P, Awaitable[R]], /) -> AsyncTask[P, R]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R], /) -> SyncTask[P, R]: ...


class Scheduler(Enqueuer):
    """An application: register tasks, enqueue jobs, keep timetables.

    `url`: redis://, rediss:// or unix://; else REDISCHED_URL; else the embedded server of this host.
    `namespace` keeps applications apart on one server (default "redisched", or REDISCHED_NAMESPACE).
    `durability`: "async" takes what the server is set to; "fsync" refuses a server that may answer before
    its append-only file is on disk. Constructing connects to nothing and starts nothing: first use does.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        namespace: str | None = None,
        durability: Durability = "async",
        data_dir: Path | str | None = None,
    ) -> None:
        backend = Backend(url, namespace, durability, data_dir=data_dir)
        super().__init__(backend, IdMaker())
        self.backend = backend
        self.tasks: dict[str, Task[..., object]] = {}
        self.declared: dict[str, Declared] = {}
        self.schedules = Schedules(backend)
        self.aio = AsyncScheduler(backend, self._ids)

    @overload
    def task(self, function: Callable[P, Awaitable[R]], /) -> AsyncTask[P, R]: ...  # type: ignore[overload-overlap]
    @overload
    def task(self, function: Callable[P, R], /) -> SyncTask[P, R]: ...
    @overload
    def task(
        self,
        /,
        *,
        name: str | None = None,
        queue: str | None = None,
        retry: Retry | None = None,
        timeout: Duration | None = None,
        executor: ExecutorKind = "auto",
    ) -> TaskDecorator: ...
    def task(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        queue: str | None = None,
        retry: Retry | None = None,
        timeout: Duration | None = None,
        executor: ExecutorKind = "auto",
    ) -> object:
        """Register a function, plain or async, as a task.

        `name`: what jobs carry (default module.function). `timeout`: longest run; a coroutine is cancelled,
        a process is killed, a thread is interrupted between two Python instructions; one that does not end
        then is given up, and the worker starts anew.
        `executor`: auto (coroutines on the event loop, functions in threads), thread, or process.
        Raises ConfigurationError, also for a name that is taken.
        """
        settings = TaskSettings.checked(queue, retry, timeout, executor)

        def register(function: Callable[..., object]) -> Task[..., object]:
            return self._registered(function, name, settings)

        return register if function is None else register(function)

    def cron(
        self,
        expression: str,
        *,
        tz: str = "UTC",
        name: str | None = None,
        missed: str = "latest",
        overlap: str = "allow",
    ) -> Callable[[Task[[], R] | Callable[[], R]], Task[[], R]]:
        """Declare a schedule for a task without arguments; workers put it in force when they start."""
        return self._declaring(Cron(expression, tz=tz), name, missed, overlap)

    def every(
        self,
        *,
        name: str | None = None,
        missed: str = "latest",
        overlap: str = "allow",
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> Callable[[Task[[], R] | Callable[[], R]], Task[[], R]]:
        """Declare a schedule by elapsed time: slots are whole periods since 1970, the same on every host."""
        calendar = Every(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._declaring(calendar, name, missed, overlap)

    def options(self, **options: Unpack[OptionArguments]) -> Enqueuer:
        """The same calls with options for their job.

        `job_id`: the caller's own id, unique within a queue: the same id again is the same job, also as
        `Job.id` shows it, with the queue before it.
        `queue`, `priority` (0 first to 3), `unique` (a key held until the job ends: meanwhile the call
        returns the holder), `expires` (dropped if it starts later than so long after its due time),
        `unclaimed_timeout` (an alarm shows if it is not claimed by then), `retry`, `timeout`, `retention`
        (of the job and its result once it succeeded).
        """
        return Enqueuer(self.backend, self._ids, Options.checked(**options))

    def job(self, job_id: str) -> Job[object]:
        """A handle on a job by its id."""
        return Job(self.backend.executor().send, self.backend.namespace, job_id)

    def pause(self, queue: str = QUEUE) -> bool:
        """Hand out no more jobs of this queue; running ones go on. Whether that changed anything."""
        return self.backend.executor().send(queues.pause(self.backend.keyspace(queue)))

    def resume(self, queue: str = QUEUE) -> bool:
        """Hand out jobs again. Whether that changed anything."""
        return self.backend.executor().send(queues.resume(self.backend.keyspace(queue)))

    def close(self) -> None:
        """Close connections and leave the embedded server; the scheduler can be used again."""
        self.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _registered(
        self, function: Callable[..., object], name: str | None, settings: TaskSettings
    ) -> Task[..., object]:
        if isinstance(function, Task):
            raise ConfigurationError("task", function, "it is a task already")
        if not callable(function):
            raise ConfigurationError("task", function, "only a function can be a task")
        chosen = checked_task_name(name if name is not None else default_name(function))
        known = self.tasks.get(chosen)
        if known is not None and known.function is not function:
            raise ConfigurationError("name", chosen, "another task has this name; pass name= to one of them")
        task: Task[..., object] = SyncTask(function, chosen, settings)
        if task.is_async:
            task = AsyncTask(function, chosen, settings)
        self.tasks[chosen] = task
        return task

    def _declaring(
        self, calendar: Calendar, name: str | None, missed: str, overlap: str
    ) -> Callable[[Task[[], R] | Callable[[], R]], Task[[], R]]:
        def declare(subject: Task[[], R] | Callable[[], R]) -> Task[[], R]:
            if isinstance(subject, Task):
                task = subject
            else:
                task = cast("Task[[], R]", self._registered(subject, None, TaskSettings()))
            found = declaration(
                name or task.name, cast("TaskCall[object]", task.call()), calendar, missed, overlap
            )
            if found.name in self.declared:
                raise ConfigurationError("name", found.name, "declared twice; pass name= to one of them")
            self.declared[found.name] = found
            return task

        return declare


class AsyncScheduler(AsyncEnqueuer):
    """The same calls for asyncio."""

    def __init__(self, backend: Backend, ids: IdMaker) -> None:
        super().__init__(backend, ids)
        self.schedules = AsyncSchedules(backend)

    def options(self, **options: Unpack[OptionArguments]) -> AsyncEnqueuer:
        """As `Scheduler.options`."""
        return AsyncEnqueuer(self._backend, self._ids, Options.checked(**options))

    def job(self, job_id: str) -> AsyncJob[object]:
        """A handle on a job by its id."""
        return AsyncJob(self._backend.aio_executor().send, self._backend.namespace, job_id)

    async def pause(self, queue: str = QUEUE) -> bool:
        """As `Scheduler.pause`."""
        return await (await self._backend.ready_aio()).send(queues.pause(self._backend.keyspace(queue)))

    async def resume(self, queue: str = QUEUE) -> bool:
        """As `Scheduler.resume`."""
        return await (await self._backend.ready_aio()).send(queues.resume(self._backend.keyspace(queue)))

    async def close(self) -> None:
        """Close this event loop's connections."""
        await self._backend.aio_executor().close()
