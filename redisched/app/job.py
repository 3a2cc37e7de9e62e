"""Handles on jobs, blocking and for asyncio. They hold an id and nothing else: each call asks the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Generic, Protocol, TypeVar, cast

from redisched.app.inspection import job_info
from redisched.app.requests import Instant, When
from redisched.app.results import JobInfo, ended, pauses
from redisched.core.durations import Duration, to_ms
from redisched.core.errors import ResultTimeoutError
from redisched.core.ids import split_id
from redisched.core.states import CancelOutcome, JobState, RescheduleOutcome, ReviveOutcome
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation
from redisched.store.operations import jobs
from redisched.store.operations.jobs import Look

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class Send(Protocol):
    """Sends an operation and blocks for its reply."""

    def __call__(self, operation: Operation[T], /) -> T: ...


class SendAsync(Protocol):
    """Sends an operation; await its reply."""

    def __call__(self, operation: Operation[T], /) -> Awaitable[T]: ...


class _Handle:
    """What both kinds of handle hold."""

    __slots__ = ("_keyspace", "_short", "created", "id")

    def __init__(self, namespace: str, job_id: str, created: bool) -> None:
        queue, self._short = split_id(job_id)
        self._keyspace = Keyspace(namespace, queue)
        self.id = job_id
        self.created = created

    def __repr__(self) -> str:
        return f"<job {ascii(self.id)[1:-1]}>"

    def _rescheduled(self, when: Instant | None, delay: Duration | None) -> Operation[RescheduleOutcome]:
        moment = When.at(when) if when is not None else When.after(delay if delay is not None else 0)
        return jobs.reschedule(self._keyspace, self._short, at_ms=moment.at_ms, delay_ms=moment.delay_ms)


class Job(_Handle, Generic[R_co]):
    """A job. `id` is for keeping; `created` is False where it was there: the same id, or unique key."""

    __slots__ = ("_send",)

    def __init__(self, send: Send, namespace: str, job_id: str, created: bool = False) -> None:
        super().__init__(namespace, job_id, created)
        self._send = send

    def status(self) -> JobState:
        """Where it is now."""
        return self._look().state

    def info(self) -> JobInfo:
        """All that is known of it."""
        return job_info(self.id, self._look())

    def result(self, timeout: Duration | None = None) -> R_co:
        """What the task returned; waits for the job to end, for `timeout` at most.

        Raises ResultTimeoutError, JobDeadError, JobCancelledError, JobExpiredError, ResultNotKeptError or
        JobNotFoundError.
        """
        deadline = _deadline(timeout)
        for pause in pauses():
            look = self._look()
            found = ended(self.id, look)
            if found is not None:
                return cast("R_co", found.value)
            time.sleep(_bounded(pause, deadline, self.id, look))
        raise AssertionError

    def cancel(self) -> CancelOutcome:
        """End a job that waits: CANCELLED says that it never starts. Ask one that a worker has to stop:
        STOP_REQUESTED, and it ends cancelled, maybe before it began, unless it ends by itself first.
        """
        return self._send(jobs.cancel(self._keyspace, self._short))

    def reschedule(self, when: Instant | None = None, *, delay: Duration | None = None) -> RescheduleOutcome:
        """Give it another run time, at `when` or after `delay`, unless it has started. Says which."""
        return self._send(self._rescheduled(when, delay))

    def retry(self) -> ReviveOutcome:
        """Run an ended job again, its attempts counted anew."""
        return self._send(jobs.revive(self._keyspace, self._short)).outcome

    def _look(self) -> Look:
        return self._send(jobs.look(self._keyspace, self._short))


class AsyncJob(_Handle, Generic[R_co]):
    """The asyncio twin of `Job`."""

    __slots__ = ("_send",)

    def __init__(self, send: SendAsync, namespace: str, job_id: str, created: bool = False) -> None:
        super().__init__(namespace, job_id, created)
        self._send = send

    async def status(self) -> JobState:
        """Where it is now."""
        return (await self._look()).state

    async def info(self) -> JobInfo:
        """All that is known of it."""
        return job_info(self.id, await self._look())

    async def result(self, timeout: Duration | None = None) -> R_co:  # noqa: ASYNC109 - the public face
        """As `Job.result`."""
        deadline = _deadline(timeout)
        for pause in pauses():
            look = await self._look()
            found = ended(self.id, look)
            if found is not None:
                return cast("R_co", found.value)
            await asyncio.sleep(_bounded(pause, deadline, self.id, look))
        raise AssertionError

    async def cancel(self) -> CancelOutcome:
        """As `Job.cancel`."""
        return await self._send(jobs.cancel(self._keyspace, self._short))

    async def reschedule(
        self, when: Instant | None = None, *, delay: Duration | None = None
    ) -> RescheduleOutcome:
        """As `Job.reschedule`."""
        return await self._send(self._rescheduled(when, delay))

    async def retry(self) -> ReviveOutcome:
        """As `Job.retry`."""
        return (await self._send(jobs.revive(self._keyspace, self._short))).outcome

    async def _look(self) -> Look:
        return await self._send(jobs.look(self._keyspace, self._short))


def _deadline(timeout: Duration | None) -> float | None:
    return None if timeout is None else time.monotonic() + to_ms(timeout, field="timeout") / 1000


def _bounded(pause: float, deadline: float | None, job_id: str, look: Look) -> float:
    """`pause`, or what is left; raises ResultTimeoutError when nothing is."""
    if deadline is None:
        return pause
    left = deadline - time.monotonic()
    if left <= 0:
        raise ResultTimeoutError(job_id, f"has not ended yet: {_standing(look)}")
    return min(pause, left)


def _standing(look: Look) -> str:
    """Where the job stands and why, as far as that is known."""
    record = look.record
    if record is not None and record.reason and not look.state.is_end:
        return f"it is {look.state.value}, last: {record.reason}"
    if look.state is JobState.READY:
        return "it is ready; does a worker serve its queue?"
    return f"it is {look.state.value}"
