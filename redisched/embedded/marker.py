"""Which server wrote a data folder last, kept in the folder, and what to say before another one opens it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redisched.embedded.privacy import write_private

if TYPE_CHECKING:
    from redisched.embedded.binary import Binary, Version
    from redisched.embedded.folder import Folder


def remember(folder: Folder, binary: Binary) -> None:
    """Note that `binary` has opened the folder and so may have written to it."""
    write_private(folder.engine, f"{binary}\n")


def change_warning(folder: Folder, binary: Binary) -> str | None:
    """What to tell before `binary` opens the folder; None where the same engine, not older, goes on.

    It is no refusal: without the preamble Redis 7, Redis 8 and Valkey 9 read one another's files.
    """
    previous = last_writer(folder)
    if previous is None or _carries_on(previous, binary):
        return None
    return (
        f"the data folder {folder.path} was last written by {previous} and is now opened by {binary} "
        f"({binary.why}); if that is not intended, stop it and name the earlier one in REDISCHED_SERVER_BIN"
    )


def last_writer(folder: Folder) -> str | None:
    """Engine and version as noted, or None in a new folder."""
    if not folder.engine.exists():
        return None
    return folder.engine.read_text(encoding="utf-8", errors="replace").strip() or "an unknown server"


def _carries_on(previous: str, binary: Binary) -> bool:
    match = re.fullmatch(r"(\w+) (\d+)\.(\d+)\.(\d+)", previous)
    if match is None or match[1] != binary.engine:
        return False
    noted: Version = (int(match[2]), int(match[3]), int(match[4]))
    return noted <= binary.version
