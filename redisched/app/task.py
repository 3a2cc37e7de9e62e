"""Tasks: registered functions, and calls of them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Generic, Literal, ParamSpec, TypeVar, cast, get_args

from redisched.core.annotations import Signature
from redisched.core.call import Call
from redisched.core.config import QUEUE
from redisched.core.durations import Duration, to_ms
from redisched.core.errors import ConfigurationError
from redisched.core.ids import checked_short_id
from redisched.core.retry import Retry
from redisched.store.keys import checked_name

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

ExecutorKind = Literal["auto", "thread", "process"]
NAME_CHARACTERS: Final = 256


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How a task's jobs run, unless a call says otherwise."""

    queue: str = QUEUE
    retry: Retry = field(default_factory=Retry)
    timeout_ms: int | None = None
    executor: ExecutorKind = "auto"

    @classmethod
    def checked(
        cls, queue: str | None, retry: Retry | None, timeout: Duration | None, executor: ExecutorKind
    ) -> TaskSettings:
        if executor not in get_args(ExecutorKind):
            raise ConfigurationError("executor", executor, "one of auto, thread, process")
        if retry is not None and not isinstance(retry, Retry):
            raise ConfigurationError("retry", retry, "pass a Retry, for example Retry(max_attempts=5)")
        return cls(
            checked_name("queue", queue if queue is not None else QUEUE),
            retry or Retry(),
            None if timeout is None else positive_ms("timeout", timeout),
            executor,
        )


def positive_ms(field: str, value: Duration) -> int:
    """`value` in ms; zero is refused."""
    ms = to_ms(value, field=field)
    if ms == 0:
        raise ConfigurationError(field, value, "it must be longer than zero")
    return ms


@dataclass(frozen=True, slots=True)
class TaskCall(Generic[R_co]):
    """One call of a task, ready to be enqueued or put on a timetable."""

    call: Call
    queue: str = QUEUE
    job_id: str | None = None

    def with_id(self, job_id: str) -> TaskCall[R_co]:
        """The same call as the job of that id: enqueued again, it is the same job."""
        return replace(self, job_id=checked_short_id(job_id))


class Task(Generic[P, R_co]):
    """A registered function. `name` is what jobs carry; two functions cannot share one."""

    def __init__(self, function: Callable[..., object], name: str, settings: TaskSettings) -> None:
        self.function = function
        self.name = name
        self.settings = settings
        self.is_async = inspect.iscoroutinefunction(function)
        self._signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        """Read off the function at first use: its annotations may name what is defined later."""
        if self._signature is None:
            self._signature = Signature.of(self.function, task=self.name)
        return self._signature

    def call(self, *args: P.args, **kwargs: P.kwargs) -> TaskCall[R_co]:
        """A call with these arguments; raises ArgumentError where they do not fit or cannot be carried."""
        self.signature.bind(args, kwargs)
        plain_args, plain_kwargs = self.signature.to_plain(args, kwargs)
        return TaskCall(Call(self.name, plain_args, plain_kwargs), self.settings.queue)

    def __repr__(self) -> str:
        return f"<task {self.name}>"


class SyncTask(Task[P, R_co]):
    """A task whose function returns its result."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function itself, here and now."""
        return cast("R_co", self.function(*args, **kwargs))


class AsyncTask(Task[P, R_co]):
    """A task whose function is a coroutine function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R_co]:
        """Call the function itself; await what it returns."""
        return cast("Awaitable[R_co]", self.function(*args, **kwargs))


def checked_task_name(name: object) -> str:
    """`name` as the name of a task: 1-256 printable characters."""
    if not isinstance(name, str) or not 1 <= len(name) <= NAME_CHARACTERS or not name.isprintable():
        raise ConfigurationError(
            "task", name, f"a task's name is 1 to {NAME_CHARACTERS} printable characters"
        )
    return name


def default_name(function: Callable[..., object]) -> str:
    """`module.function`, the same in the process that runs the module as a script and in the others."""
    module = function.__module__
    if module == "__main__":
        module = _main_module()
    return f"{module}.{function.__qualname__}"


def _main_module() -> str:
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name).removesuffix(".__main__")
    file = getattr(main, "__file__", None)
    return Path(file).stem if file else "__main__"
