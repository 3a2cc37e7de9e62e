"""What tasks note of themselves: lines in a file, outside Redis, so that no bug of ours can count for us."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from redisched.app.context import current_job

NOTES: Final = "REDISCHED_DEMO_NOTES"


@dataclass(frozen=True, slots=True)
class Note:
    """One line. `at` is the host's clock, in seconds."""

    event: str
    subject: str
    delivery: int
    pid: int
    at: float


def note(event: str, subject: str) -> None:
    """Add a line, whole or not at all, whatever becomes of this process next."""
    line = json.dumps(asdict(Note(event, subject, current_job().delivery, os.getpid(), time.time())))
    descriptor = os.open(os.environ[NOTES], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def read(path: Path, event: str, subject: str | None = None) -> list[Note]:
    """The notes of one kind so far, oldest first."""
    if not path.exists():
        return []
    notes = [Note(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return [one for one in notes if one.event == event and subject in {None, one.subject}]
