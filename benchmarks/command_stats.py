"""What the server did for its clients, from its INFO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import redis

# A command inside a script is counted, too, under its own name. These never run inside a script of ours, so
# they are round trips; and the time of a script holds the time of the commands in it.
ROUND_TRIPS: Final = ("evalsha", "eval", "blpop")
TIMED: Final = ("evalsha", "eval")


@dataclass(frozen=True, slots=True)
class Work:
    """Round trips of clients, and microseconds spent in scripts."""

    round_trips: int
    microseconds: int


def cpu_seconds(client: redis.Redis) -> float:
    """What the server has used of the processor so far."""
    told: dict[str, float] = client.info("cpu")
    return told["used_cpu_user"] + told["used_cpu_sys"]


def forget(client: redis.Redis) -> None:
    """Count from now."""
    client.config_resetstat()


def work_since(client: redis.Redis) -> Work:
    """Since `forget`."""
    told: dict[str, dict[str, float]] = client.info("commandstats")
    counts = {name.removeprefix("cmdstat_"): row for name, row in told.items()}
    trips = sum(int(counts[name]["calls"]) for name in ROUND_TRIPS if name in counts)
    return Work(trips, sum(int(counts[name]["usec"]) for name in TIMED if name in counts))
