"""The LD_PRELOAD shims: one small library, compiled when first needed, and numbers changed while it runs."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parent
FLAGS: Final = ("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Wno-unused-result")


class ShimsUnavailableError(RuntimeError):
    """There can be no shims here; the message says why. A test that needs them is skipped with it."""


@functools.cache
def library() -> Path:
    """The compiled shims; raises ShimsUnavailableError where they cannot be had.

    Both are in one library, so that the environments of several shims can simply be merged.
    """
    if platform.system() != "Linux":
        raise ShimsUnavailableError(f"the shims need Linux, and this is {platform.system()}")
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ShimsUnavailableError("the shims need gcc, and there is none on PATH")
    return _compiled(compiler)


def preload() -> str:
    """The value for LD_PRELOAD: the shims before whatever is preloaded already."""
    return ":".join(filter(None, (str(library()), os.environ.get("LD_PRELOAD"))))


class LiveNumber:
    """A number in a file that shimmed processes have mapped: they see each change at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.value = 0

    @property
    def value(self) -> int:
        """The number as it is in the file."""
        return read_number(self.path)

    @value.setter
    def value(self, number: int) -> None:
        # In place and in one write: a new file would not be the one that is mapped.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, struct.pack("=q", number), 0)
        finally:
            os.close(descriptor)


def read_number(path: Path) -> int:
    """The number that a shim has written to, or reads from, `path`; 0 where there is none."""
    content = path.read_bytes() if path.exists() else b""
    return struct.unpack("=q", content)[0] if content else 0


def _compiled(compiler: str) -> Path:
    sources = sorted(SOURCES.glob("*.c"))
    inputs = b"".join(path.read_bytes() for path in (*sources, *sorted(SOURCES.glob("*.h"))))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "redisched-shims"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = cache / f"shims-{platform.machine()}-{hashlib.sha256(inputs).hexdigest()[:16]}.so"
    if not made.exists():
        # Several test processes may do this at once: each its own file, and the name last.
        own = made.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, *FLAGS, "-o", own, *sources], check=True)
        own.rename(made)
    return made
