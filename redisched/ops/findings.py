"""What a check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from redisched.core.errors import StoreMisconfiguredError


class Level(Enum):
    """FAIL: work can be lost or cannot be done. WARN: know this, or it could not be told."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's answer: what is so, and the way out where it should be otherwise."""

    check: str
    level: Level
    what: str
    way_out: str = ""


def ok(check: str, what: str) -> Finding:
    return Finding(check, Level.OK, what)


def warn(check: str, what: str, way_out: str = "") -> Finding:
    return Finding(check, Level.WARN, what, way_out)


def fail(check: str, what: str, way_out: str) -> Finding:
    return Finding(check, Level.FAIL, what, way_out)


def failures(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.level is Level.FAIL]


def refuse(findings: Iterable[Finding]) -> None:
    """Raise StoreMisconfiguredError, which says all that failed, where anything did."""
    failed = failures(findings)
    if failed:
        raise StoreMisconfiguredError("; ".join(f"{one.what}: {one.way_out}" for one in failed))
