"""What one run came to, and several."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from tests.servers import Engine, Fsync


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a run is asked to do. `appendfsync` None: the server keeps nothing."""

    engine: Engine
    jobs: int
    appendfsync: Fsync | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One run. A busy machine divides the rate by what it takes for itself. It bends the processor time of
    worker and server less: by half, seen with five runnable processes to a core.
    """

    jobs: int
    seconds: float
    redis_us_per_job: float
    round_trips_per_1000_jobs: float
    server_cpu_us_per_job: float
    worker_cpu_us_per_job: float | None

    @property
    def jobs_per_second(self) -> float:
        return self.jobs / self.seconds

    def plain(self) -> dict[str, object]:
        return {"jobs_per_second": self.jobs_per_second, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something to measure. `floor`: the least that is acceptable on a calm machine, in jobs per second."""

    about: str
    measure: Callable[[Settings], Figures]
    jobs: int
    floor: int


def middle(runs: Sequence[Figures]) -> Figures:
    """The run with the median rate; of an even number, the lower of the two in the middle."""
    rate = statistics.median_low(run.jobs_per_second for run in runs)
    return next(run for run in runs if run.jobs_per_second == rate)
