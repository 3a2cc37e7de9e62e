"""What can still be said from another thread when the event loop stands still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from redisched.core.config import WorkerConfig
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Finished, Limits, leave, turn
from redisched.worker.run import Run, Stop
from redisched.worker.settling import failed, released, timed_out


def say_last_words(
    executor: Executor,
    namespace: str,
    worker: str,
    config: WorkerConfig,
    held: Iterable[Run],
    overdue: Iterable[Run],
) -> None:
    """The overdue runs failed by their timeout, all others go back uncounted; then the worker leaves."""
    late, words = set(overdue), defaultdict[str, list[Finished]](list)
    for run in held:
        if run in late:
            run.stop = Stop.TIMEOUT
        words[run.queue].append(failed(run, timed_out(run), worker) if run in late else released(run))
    limits = Limits(max_deliveries=config.max_deliveries).packed()
    for queue, finishes in words.items():
        keyspace = Keyspace(namespace, queue)
        executor.send(
            turn(
                keyspace,
                worker=worker,
                turn_id="last",
                wanted=0,
                finishes=finishes,
                lease=config.visibility_timeout,
                longest_wait=timedelta(0),
                limits=limits,
            )
        )
        executor.send(leave(keyspace, worker=worker))
