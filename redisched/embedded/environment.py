"""The settings that the embedded server reads from the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from redisched.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

URL: Final = "REDISCHED_URL"
SERVER_BIN: Final = "REDISCHED_SERVER_BIN"
DATA_DIR: Final = "REDISCHED_DATA_DIR"


def setting(environ: Mapping[str, str], name: str) -> str | None:
    """What `name` is set to, or None where it is not set.

    Set to nothing is refused: `REDISCHED_URL=$UNSET` must not quietly mean another server.
    """
    value = environ.get(name)
    if value is not None and not value.strip():
        raise ConfigurationError(name, value, "set to nothing; give it a value or unset it")
    return value
