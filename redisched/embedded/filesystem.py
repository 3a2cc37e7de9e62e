"""What kind of file system a folder is on: locks and sockets are not to be trusted over a network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mountinfo")
NETWORKED: Final = ("nfs", "cifs", "smb", "fuse.sshfs", "afs", "9p")


def network_warning(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """What to tell about a folder on a network file system; None elsewhere, and where no one can tell."""
    kind = mounted_kind(folder, mounts.read_text(errors="replace")) if mounts.exists() else ""
    if not kind.startswith(NETWORKED):
        return None
    return f"the data folder {folder} is on {kind}: locks and sockets are unreliable there, use a local disk"


def mounted_kind(folder: Path, mountinfo: str) -> str:
    """The file system type of the innermost mount that holds `folder`, or "" where none is listed."""
    kind, depth = "", -1
    for line in mountinfo.splitlines():
        point, found = _mount(line)
        # Of two mounts on one point the later one hides the earlier.
        if folder.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = found, len(point.parts)
    return kind


def _mount(line: str) -> tuple[Path, str]:
    """proc(5): the fifth field is the mount point, and the type follows the lone hyphen."""
    place, _, rest = line.partition(" - ")
    return Path(_unescaped(place.split()[4])), rest.split()[0]


def _unescaped(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
