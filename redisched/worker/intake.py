"""From a claim to a run: decode it, find its task, decide where it runs; or the word to send at once."""

from __future__ import annotations

from functools import partial

from redisched.app.context import JobControl
from redisched.app.task import Task
from redisched.core.call import Call
from redisched.core.config import WorkerConfig
from redisched.core.errors import PayloadError
from redisched.core.record import Finish
from redisched.store.operations.turns import Claimed, Finished
from redisched.worker.run import Kind, Run, log_progress
from redisched.worker.settling import cut


def kind_of(task: Task[..., object], *, suspect: bool = False) -> Kind:
    """A suspect runs in a child of its own, whatever its task says: it may take its process with it."""
    if suspect or task.settings.executor == "process":
        return Kind.PROCESS
    return Kind.ASYNC if task.is_async and task.settings.executor == "auto" else Kind.THREAD


class Intake:
    """Knows the application's tasks and how long an unknown one is waited for."""

    def __init__(self, tasks: dict[str, Task[..., object]], config: WorkerConfig) -> None:
        self._tasks = tasks
        self._config = config

    def kinds(self) -> set[Kind]:
        """Where the application's tasks run."""
        return {kind_of(task) for task in self._tasks.values()} or {Kind.ASYNC}

    def admit(self, claimed: Claimed, queue: str, received: float, lease_end: float) -> Run | Finished:
        """A run, or what to say of a job that cannot be one here."""
        try:
            call = Call.unpacked(claimed.body)
        except PayloadError as error:
            reason = cut(f"its payload cannot be read: {error.reason}")
            return Finished(claimed.id, claimed.version, Finish.DEAD, 0, reason, claimed.outcome)
        task = self._tasks.get(call.task)
        if task is None:
            return self._unknown(claimed, call.task)
        kind = kind_of(task, suspect=claimed.suspect)
        run = Run(claimed, queue, task, call, kind, received, lease_end)
        run.control = JobControl(partial(log_progress, run.id))
        return run

    def _unknown(self, claimed: Claimed, name: str) -> Finished:
        """Back with a delay and uncounted: a newer worker may know it. In the end it is dead."""
        ttl_ms = self._config.unknown_task_ttl.total_seconds() * 1000
        if claimed.claimed_ms - claimed.due_ms >= ttl_ms:
            reason = cut(f"unknown task {name}: no worker that knows it came in time")
            return Finished(claimed.id, claimed.version, Finish.DEAD, 0, reason, claimed.outcome)
        delay_ms = int(self._config.unknown_task_delay.total_seconds() * 1000)
        return Finished(claimed.id, claimed.version, Finish.DEFER, delay_ms, cut(f"unknown task {name}"))
