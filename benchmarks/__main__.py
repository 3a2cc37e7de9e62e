"""`python -m benchmarks list`, and `python -m benchmarks run NAME`."""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks import machine
from benchmarks.figures import Settings
from benchmarks.report import Report
from benchmarks.scenarios import SCENARIOS
from tests.servers import Engine, engines


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.command == "list":
        for name, scenario in SCENARIOS.items():
            print(f"{name}: {scenario.about}; at least {scenario.floor:,} jobs/s on a calm machine")
        return 0
    report = _measured(arguments)
    print(json.dumps(report.plain(), indent=2) if arguments.json else "\n".join(report.lines()))
    return 0


def _measured(arguments: argparse.Namespace) -> Report:
    scenario = SCENARIOS[arguments.scenario]
    settings = Settings(
        engine=_engine(arguments.server),
        jobs=arguments.jobs or scenario.jobs,
        appendfsync=None if arguments.appendfsync == "off" else arguments.appendfsync,
    )
    before = machine.facts()
    runs = tuple(scenario.measure(settings) for _ in range(arguments.runs))
    return Report(arguments.scenario, settings, runs, before, machine.load())


def _engine(name: str | None) -> Engine:
    """The named one, or the one that redisched brings along."""
    found = {engine.name: engine for engine in engines().available}
    wanted = name or next((one for one in found if one.startswith("valkey")), next(iter(found), ""))
    if wanted not in found:
        sys.exit(f"no server {wanted!r} here; there is {', '.join(found) or 'none'}")
    return found[wanted]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the benchmarks")
    run = commands.add_parser("run", help="run one and print its figures")
    run.add_argument("scenario", choices=SCENARIOS)
    run.add_argument("--jobs", type=_count, help="how many jobs")
    run.add_argument("--runs", type=_count, default=3, help="how often; the median counts [3]")
    run.add_argument("--server", help="valkey9, redis7, … [the bundled one]")
    run.add_argument("--appendfsync", choices=["off", "no", "everysec", "always"], default="off")
    run.add_argument("--json", action="store_true")
    return parser


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


if __name__ == "__main__":
    sys.exit(main())
