"""The runs in a worker's hands: started where a slot is free, held back for a moment where none is."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from redisched.core.config import LONGEST_HOLD
from redisched.core.record import Finish
from redisched.store.operations.turns import Claimed, Finished
from redisched.worker.intake import Intake
from redisched.worker.run import Kind, Run, Stop
from redisched.worker.runner import Runner
from redisched.worker.settling import SUSPECT_DELAY_MS, put_off, released
from redisched.worker.slots import Slots

_GIVEN_BACK: Final = {Finish.RELEASE, Finish.DEFER}
_LOG: Final = logging.getLogger("redisched.worker")


class Hands:
    """Lives on the event loop."""

    def __init__(self, slots: Slots, intake: Intake) -> None:
        self.slots = slots
        self._intake = intake
        self._runner: Runner
        self._say: Callable[[str, Finished], None]
        self._held: dict[Run, None] = {}
        self._waiting: dict[Kind, deque[Run]] = {kind: deque() for kind in Kind}
        self._unsaid: dict[tuple[str, str, int], Run] = {}
        self._closed = False
        self.started = 0
        self._put_off_until = 0.0

    def use(self, runner: Runner, say: Callable[[str, Finished], None]) -> None:
        """The runner and the pump need us first. `say` takes a word for a queue."""
        self._runner = runner
        self._say = say

    def held(self) -> list[Run]:
        """Every run that has not ended. Safe to call from another thread."""
        return list(self._held)

    def leased(self) -> list[Run]:
        """Every run whose lease is ours: also those that have ended, until their word is answered. Safe to
        call from another thread.
        """
        return [*list(self._held), *list(self._unsaid.values())]

    def said(self, queue: str, words: list[Finished]) -> None:
        """These words were answered."""
        for word in words:
            self._unsaid.pop((queue, word.id, word.version), None)
        ended = sum(word.kind not in _GIVEN_BACK for word in words)
        self.slots.count_ended(ended, time.monotonic())

    @property
    def empty(self) -> bool:
        return not self._held

    @property
    def idle(self) -> bool:
        """Nothing in hand, and nothing put off that is about to come again."""
        return self.empty and time.monotonic() >= self._put_off_until

    @property
    def backlog(self) -> int:
        return sum(len(waiting) for waiting in self._waiting.values())

    def wanted(self) -> int:
        """How many more to claim now."""
        return self.slots.wanted(self._intake.kinds(), self.backlog, time.monotonic())

    def take(self, claims: tuple[Claimed, ...], queue: str, sent: float, lease: float) -> None:
        """New claims, sent for at monotonic second `sent`."""
        received = time.monotonic()
        for claimed in claims:
            run = self._intake.admit(claimed, queue, received, sent + lease)
            if isinstance(run, Finished):
                _LOG.warning("job %s:%s: %s", queue, ascii(claimed.id)[1:-1], ascii(run.reason)[1:-1])
                self._say(queue, run)
            elif self._closed:
                self._say(queue, released(run))
            elif run.claimed.suspect:
                self._start_apart(run)
            elif run not in self._held:
                self._held[run] = None
                self._waiting[run.kind].append(run)
        self.start_waiting()
        if claims:
            self.slots.note_claim(self.backlog, received)

    def start_waiting(self) -> None:
        """Start what has a free slot."""
        for kind, waiting in self._waiting.items():
            while waiting and self.slots.free(kind) > 0:
                run = waiting.popleft()
                self.slots.start(kind, time.monotonic())
                self.started += 1
                self._runner.start(run)

    def _start_apart(self, run: Run) -> None:
        """A suspect starts now or comes again later: at the head of its queue it must hold up nobody."""
        if self.slots.free_for_suspects() > 0:
            self._held[run] = None
            self.slots.suspects += 1
            self.started += 1
            self._runner.start(run)
        else:
            run.settled = True
            self._say(run.queue, self._put_off(run))

    def _put_off(self, run: Run) -> Finished:
        """It comes again in a moment: until then we are not idle."""
        self._put_off_until = time.monotonic() + 2 * SUSPECT_DELAY_MS / 1000
        return put_off(run)

    def reported(self, run: Run, finished: Finished) -> None:
        """A run's word; its slot is free."""
        self._held.pop(run, None)
        self._unsaid[run.queue, run.claimed.id, run.claimed.version] = run
        if run.claimed.suspect:
            self.slots.suspects -= 1
        else:
            self.slots.end(run.kind)
        _log_failure(run, finished)
        self._say(run.queue, finished)

    def looks_at(self) -> list[float]:
        """When to look again by ourselves: the oldest unstarted claim has been held long enough; or slots of
        one kind are free while those of another are full, and the pause between two probes is over.
        """
        held_for = LONGEST_HOLD.total_seconds()
        looks = [waiting[0].received + held_for for waiting in self._waiting.values() if waiting]
        may_probe = not self._closed and self.slots.can_probe(self._intake.kinds(), self.backlog)
        if may_probe and self.slots.probe_at > time.monotonic():
            looks.append(self.slots.probe_at)
        return looks

    def give_back(self) -> None:
        """Unstarted claims go back uncounted: another worker may be free. The oldest takes those behind it
        along, which would overtake it here.

        To the head of their queue, in the order in which they came. But where slots of another kind are free
        they step aside for a moment: what is behind them could run here.
        """
        limit = time.monotonic() - LONGEST_HOLD.total_seconds()
        aside = self.slots.can_probe(self._intake.kinds(), 0)
        for waiting in self._waiting.values():
            if waiting and waiting[0].received <= limit:
                self._return(waiting, self._put_off if aside else released)

    def close(self) -> None:
        """Take nothing more, and give back what was not started."""
        self._closed = True
        for waiting in self._waiting.values():
            self._return(waiting, released)

    def _return(self, waiting: deque[Run], word: Callable[[Run], Finished]) -> None:
        while waiting:
            run = waiting.popleft()
            self._drop(run)
            self._say(run.queue, word(run))

    def stop(self, run: Run, why: Stop) -> None:
        """End one run for a reason; one that waits for its slot is never started."""
        if run not in self._held:
            return
        if run in self._waiting[run.kind]:
            self._waiting[run.kind].remove(run)
            self._drop(run)
            run.stop = why
            self._say(run.queue, released(run))
        else:
            self._runner.stop(run, why)

    def _drop(self, run: Run) -> None:
        run.settled = True
        self._held.pop(run, None)


def _log_failure(run: Run, finished: Finished) -> None:
    job_id, reason = ascii(run.id)[1:-1], ascii(finished.reason)[1:-1]
    if finished.kind is Finish.DEAD:
        _LOG.warning("job %s is dead: %s", job_id, reason)
    elif finished.kind is Finish.RETRY:
        _LOG.info("job %s failed, next attempt in %g s: %s", job_id, finished.delay_ms / 1000, reason)
