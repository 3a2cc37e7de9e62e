"""From a call and its options to jobs to store, as flows that both faces run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Final

from redisched.app.options import Options
from redisched.app.task import Task, TaskCall, checked_task_name
from redisched.calendar import At
from redisched.core.call import Call
from redisched.core.config import QUEUE
from redisched.core.durations import Duration, instant_ms, to_ms
from redisched.core.errors import ArgumentError, OutcomeUnknownError, StoreError
from redisched.core.ids import IdMaker, public_id, short_id
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations.jobs import NewJob, Stored, enqueue

BATCH_JOBS: Final = 250
BATCH_BYTES: Final = 4 * 1024 * 1024

Instant = datetime | str | At


@dataclass(frozen=True, slots=True)
class When:
    """Now, after a delay, or at an instant; ms."""

    at_ms: int | None = None
    delay_ms: int = 0

    @classmethod
    def after(cls, delay: Duration) -> When:
        return cls(delay_ms=to_ms(delay, field="delay"))

    @classmethod
    def at(cls, when: Instant) -> When:
        """An aware datetime, ISO text with an offset, or a local time with its zone."""
        return cls(at_ms=when.at_ms if isinstance(when, At) else instant_ms(when, field="when"))


NOW: Final = When()


def called(
    task: Task[..., object] | str, args: tuple[object, ...], kwargs: Mapping[str, object], options: Options
) -> TaskCall[object]:
    """A call of a task, or of a name that may be registered elsewhere only: then with plain values."""
    if isinstance(task, Task):
        found: TaskCall[object] = task.call(*args, **kwargs)
    elif isinstance(task, str):
        found = TaskCall(Call(checked_task_name(task), args, kwargs), options.queue or QUEUE)
    else:
        raise ArgumentError("task", task, "pass a task (a function decorated with @app.task) or its name")
    return replace(found, job_id=options.job_id) if options.job_id else found


@dataclass(frozen=True, slots=True)
class Placed:
    """A job and the queue it goes to. `is_new`: nobody else can know its id."""

    queue: str
    job: NewJob
    is_new: bool = True

    @property
    def id(self) -> str:
        return public_id(self.queue, self.job.id)


def placed(call: TaskCall[object], when: When, options: Options, ids: IdMaker) -> Placed:
    """The job to store; raises PayloadError where the arguments cannot be carried."""
    meta = options.meta()
    packed = (replace(call.call, meta={**call.call.meta, **meta}) if meta else call.call).packed()
    queue = options.queue or call.queue
    job = NewJob(
        id=short_id(queue, call.job_id) if call.job_id else ids.make(),
        body=packed,
        at_ms=when.at_ms,
        delay_ms=when.delay_ms,
        priority=options.priority,
        expires_ms=options.expires_ms,
        unclaimed_ms=options.unclaimed_ms,
        retention_ms=options.retention_ms,
        unique=options.unique,
    )
    return Placed(queue, job, is_new=call.job_id is None)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A job's public id, and whether this call created it."""

    id: str
    created: bool


def enqueue_one(namespace: str, item: Placed) -> Flow[Accepted]:
    (stored,) = yield from enqueue(Keyspace(namespace, item.queue), [item.job])
    return _accepted(item, stored)


def enqueue_all(namespace: str, items: Sequence[Placed]) -> Flow[list[Accepted]]:
    """In batches of one queue each; answers in the order given.

    Where a batch fails after others were stored, it raises OutcomeUnknownError with the ids of all jobs that
    may not be stored; the others are.
    """
    accepted: dict[int, Accepted] = {}
    for batch in _batches(items):
        try:
            stored = yield from enqueue(
                Keyspace(namespace, batch[0][1].queue), [item.job for _, item in batch]
            )
        except StoreError as error:
            if not accepted and not isinstance(error, OutcomeUnknownError):
                raise
            missing = tuple(item.id for at, item in enumerate(items) if at not in accepted)
            why = f"{len(accepted)} of {len(items)} jobs are stored, then {type(error).__name__}"
            raise OutcomeUnknownError("enqueue_many", missing, why) from error
        accepted |= {at: _accepted(item, one) for (at, item), one in zip(batch, stored, strict=True)}
    return [accepted[at] for at in range(len(items))]


def _batches(items: Sequence[Placed]) -> Iterator[list[tuple[int, Placed]]]:
    """Bounded in number and in bytes; each of one queue."""
    in_order = sorted(enumerate(items), key=lambda pair: pair[1].queue)
    for _, group in groupby(in_order, key=lambda pair: pair[1].queue):
        yield from _bounded(group)


def _bounded(group: Iterable[tuple[int, Placed]]) -> Iterator[list[tuple[int, Placed]]]:
    batch: list[tuple[int, Placed]] = []
    size = 0
    for pair in group:
        if batch and (len(batch) >= BATCH_JOBS or size + len(pair[1].job.body) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += len(pair[1].job.body)
    if batch:
        yield batch


def _accepted(item: Placed, stored: Stored) -> Accepted:
    """An id that we made just now can only be there because our own first request stored it."""
    if stored.holder is not None:
        return Accepted(public_id(item.queue, stored.holder), created=False)
    return Accepted(item.id, stored.created or item.is_new)
