"""What can still be said from another thread when the event loop stands still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta

from redisched.core.config import BATCH, WorkerConfig
from redisched.core.record import Finish
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operations.turns import Claimed, Finished, Limits, leave, turn
from redisched.worker.pump import Pump
from redisched.worker.run import Run, Stop
from redisched.worker.runner import Runner
from redisched.worker.settling import failed, released, timed_out


def say_last_words(
    executor: Executor,
    namespace: str,
    worker: str,
    config: WorkerConfig,
    pump: Pump,
    runner: Runner,
    overdue: Iterable[Run],
) -> None:
    """What was not said yet is said; the overdue failed by their timeout, all others go back uncounted."""
    held, late = pump.held(), set(overdue)
    words = defaultdict[str, list[Finished]](list, pump.unsaid())
    ended = dict(runner.ended())
    for run, finished in ended.items():
        words[run.queue].append(finished)
    for run in set(held) - ended.keys():
        if run in late:
            run.stop = Stop.TIMEOUT
        words[run.queue].append(failed(run, timed_out(run), worker) if run in late else released(run))
    for queue, operation in pump.unanswered().items():
        known = {(run.claimed.id, run.claimed.version) for run in held}
        claims = executor.send(operation).claimed
        words[queue] += [unheard(one) for one in claims if (one.id, one.version) not in known]
    limits = Limits(max_deliveries=config.max_deliveries).packed()
    for queue, finishes in words.items():
        for number, part in enumerate(_parts(finishes)):
            executor.send(
                turn(
                    Keyspace(namespace, queue),
                    worker=worker,
                    turn_id=f"last {number}",
                    wanted=0,
                    finishes=part,
                    lease=config.visibility_timeout,
                    longest_wait=timedelta(0),
                    limits=limits,
                )
            )
        executor.send(leave(Keyspace(namespace, queue), worker=worker))


def unheard(claimed: Claimed) -> Finished:
    """A claim that the loop never took: back to the head, uncounted."""
    return Finished(claimed.id, claimed.version, Finish.RELEASE)


def _parts(finishes: list[Finished]) -> Iterator[list[Finished]]:
    for at in range(0, len(finishes), BATCH):
        yield finishes[at : at + BATCH]
