"""A benchmark's outcome, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.figures import Figures, Settings, middle


@dataclass(frozen=True, slots=True)
class Report:
    """`machine`: as `machine.facts` gives it before the first run; `load_after`: after the last."""

    name: str
    settings: Settings
    runs: tuple[Figures, ...]
    machine: Mapping[str, object]
    load_after: list[float]

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "benchmark": self.name,
            "median": middle(self.runs).plain(),
            "runs": [run.plain() for run in self.runs],
            "server": {
                "engine": self.settings.engine.name,
                "version": self.settings.engine.version,
                "appendfsync": self.settings.appendfsync,
            },
            "machine": {**self.machine, "load_after": self.load_after},
        }

    def lines(self) -> list[str]:
        """For people."""
        median, settings = middle(self.runs), self.settings
        rates = ", ".join(f"{run.jobs_per_second:,.0f}" for run in self.runs)
        cpu = median.worker_cpu_us_per_job
        worker = "not known" if cpu is None else f"{cpu:.1f} µs"
        file = "off" if settings.appendfsync is None else f"on, fsync {settings.appendfsync}"
        return [
            f"{self.name}: {median.jobs_per_second:,.0f} jobs/s (median of {len(self.runs)} runs: {rates})",
            f"  jobs            {median.jobs:,}",
            f"  scripts         {median.redis_us_per_job:.1f} µs of the server per job (INFO commandstats)",
            f"  round trips     {median.round_trips_per_1000_jobs:.1f} per 1,000 jobs",
            f"  processor       worker {worker}, server {median.server_cpu_us_per_job:.1f} µs per job",
            f"  server          {settings.engine.name} ({settings.engine.version}), append-only file {file}",
            *self._machine_lines(),
        ]

    def _machine_lines(self) -> list[str]:
        machine, libraries = self.machine, self.machine["libraries"]
        assert isinstance(libraries, dict)
        return [
            f"  machine         {machine['cores']} cores, {machine['cpu']}, {machine['system']}",
            f"  python          {machine['python']}; "
            + ", ".join(f"{name} {version}" for name, version in libraries.items()),
            f"  load average    {_shown(machine['load'])} before, {_shown(self.load_after)} after",
        ]


def _shown(load: object) -> str:
    return " ".join(f"{one:.2f}" for one in load) if isinstance(load, list) else str(load)
