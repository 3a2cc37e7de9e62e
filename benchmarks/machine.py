"""Under what a number was taken."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Final

LIBRARIES: Final = ("redisched", "redis", "hiredis", "msgpack")


def facts() -> dict[str, object]:
    """The machine, Python and libraries, and the load averages of now."""
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": {name: version(name) for name in LIBRARIES},
        "load": load(),
    }


def load() -> list[float]:
    """Runnable processes on average over 1, 5 and 15 minutes; above the count of cores a rate is too low."""
    return [round(one, 2) for one in os.getloadavg()]


def cpu_seconds(pid: int) -> float | None:
    """What a process has used of the processor so far; None where the system does not say it by file."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return None
    # The name before it may hold spaces and brackets of its own.
    numbers = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8", "replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
