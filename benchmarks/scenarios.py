"""Every benchmark there is."""

from __future__ import annotations

from typing import Final

from benchmarks import drain
from benchmarks.figures import Scenario

SCENARIOS: Final = {
    "drain": Scenario(
        "no-op async tasks, enqueued before, drained by one worker process; history kept",
        drain.measure,
        jobs=50_000,
        floor=20_000,
    ),
}
