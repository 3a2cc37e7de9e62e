"""What an error reply means, decided by its first word: redis-py gives many of them no class of their own."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from redisched.core.errors import (
    ScriptError,
    StoreError,
    StoreMisconfiguredError,
    StoreRefusedError,
    StoreUnavailableError,
)

if TYPE_CHECKING:
    from redisched.store.operation import Operation


class Cure(Enum):
    """What helps against an error reply."""

    LOAD = "send the whole script"
    WAIT = "the server is not ready: nothing happened, try again"
    REDISCOVER = "not the primary any more: connect anew"
    REFUSED = "the server will not write now"
    PERMANENT = "repeating does not help"


_CURES: Final = {
    "NOSCRIPT": Cure.LOAD,
    "LOADING": Cure.WAIT,
    "MASTERDOWN": Cure.WAIT,
    "BUSY": Cure.WAIT,
    "CLUSTERDOWN": Cure.WAIT,
    "TRYAGAIN": Cure.WAIT,
    "max": Cure.WAIT,  # "max number of clients reached"
    "READONLY": Cure.REDISCOVER,
    "UNBLOCKED": Cure.REDISCOVER,
    "NOREPLICAS": Cure.REFUSED,
    "MISCONF": Cure.REFUSED,
    "OOM": Cure.REFUSED,
}
_RIGHTS: Final = {"NOPERM", "WRONGPASS", "NOAUTH", "CROSSSLOT", "DENIED"}
_RIGHTS_IN_SCRIPT: Final = ("The user executing the script", "ACL failure in script")
"""How servers say NOPERM there: Redis 7.0, and later ones."""


def cure(message: str) -> Cure:
    return _CURES.get(_first_word(message.replace("ERR ", "", 1)), Cure.PERMANENT)


def as_error(message: str, operation: Operation[object]) -> StoreError:
    """The error to raise for an error reply that no cure helped against."""
    kind, said = cure(message), f"{operation.name}: {message}"
    if kind is Cure.REFUSED:
        return StoreRefusedError(f"{said} (nothing was stored)")
    if kind in {Cure.WAIT, Cure.REDISCOVER}:
        return StoreUnavailableError(said)
    if _first_word(message) in _RIGHTS or any(words in message for words in _RIGHTS_IN_SCRIPT):
        return StoreMisconfiguredError(f"{said}; see `redisched doctor`")
    place = operation.script.place(message) if operation.script else None
    return ScriptError(said, place)


def _first_word(message: str) -> str:
    return message.split(maxsplit=1)[0] if message.strip() else ""
