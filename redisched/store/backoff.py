"""How long a caller keeps trying: until a deadline, with full jitter, never on a reply that is final."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """`seconds` in all; each pause is random between nothing and a bound that doubles to one second."""

    seconds: float

    def pauses(self) -> Iterator[float]:
        """The pauses before each further try; ends when the time is up."""
        end, bound = time.monotonic() + self.seconds, FIRST_PAUSE
        while (left := end - time.monotonic()) > 0:
            yield min(random.uniform(0, bound), left)
            bound = min(bound * 2, LONGEST_PAUSE)
