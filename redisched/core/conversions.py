"""What a conversion is: values to a plain form for the way to the worker, and back there."""

from __future__ import annotations

from typing import Protocol

from redisched.core.errors import PayloadError
from redisched.core.refusals import way_out
from redisched.core.wire import CARRIED


class Conversion(Protocol):
    """What happens to the values of one annotation; `field` names the value in errors."""

    def to_plain(self, value: object, field: str) -> object:
        """The plain form of `value`; PayloadError for an instance of a class that is not named."""

    def from_plain(self, plain: object, field: str) -> object:
        """What `to_plain` was given; PayloadError when `plain` does not fit."""


def to_plain(conversion: Conversion | None, value: object, field: str) -> object:
    """The plain form of `value`; without a conversion, `value` itself if its type can be carried."""
    return carried(value, field) if conversion is None else conversion.to_plain(value, field)


def from_plain(conversion: Conversion | None, plain: object, field: str) -> object:
    """What `to_plain` was given."""
    return plain if conversion is None else conversion.from_plain(plain, field)


def carried(value: object, field: str) -> object:
    """`value` itself; PayloadError, with the way out, unless its type can be carried as it is."""
    if type(value) not in CARRIED:
        raise PayloadError(field, value, way_out(value))
    return value
