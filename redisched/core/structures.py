"""Conversions of lists, tuples, dicts and unions whose parts have a conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redisched.core.conversions import Conversion, from_plain, to_plain
from redisched.core.errors import PayloadError
from redisched.core.wire import SEQUENCES

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[Conversion | None, object, str], object]

_COLLECTIONS = frozenset({list, *SEQUENCES})


@dataclass(frozen=True)
class ItemsOf:
    """A list, tuple, set or frozenset, every member by one conversion."""

    item: Conversion

    def to_plain(self, value: object, field: str) -> object:
        """A collection of the same type with plain members."""
        return self._each(value, field, to_plain)

    def from_plain(self, plain: object, field: str) -> object:
        """A collection of the same type with the members that there were."""
        return self._each(plain, field, from_plain)

    def _each(self, value: object, field: str, change: Change) -> object:
        if not isinstance(value, list | tuple | set | frozenset) or type(value) not in _COLLECTIONS:
            return change(None, value, field)
        return type(value)(
            [change(self.item, member, f"{field}[{index}]") for index, member in enumerate(value)]
        )


@dataclass(frozen=True)
class TupleOf:
    """A tuple of fixed length, every member by its own conversion."""

    items: tuple[Conversion | None, ...]

    def to_plain(self, value: object, field: str) -> object:
        """A tuple with plain members."""
        return self._each(value, field, to_plain)

    def from_plain(self, plain: object, field: str) -> object:
        """A tuple with the members that there were."""
        return self._each(plain, field, from_plain)

    def _each(self, value: object, field: str, change: Change) -> object:
        if type(value) is not tuple:
            return change(None, value, field)
        if len(value) != len(self.items):
            raise PayloadError(
                field, value, f"pass a tuple of {len(self.items)}, as the parameter is annotated"
            )
        pairs = enumerate(zip(self.items, value, strict=True))
        return tuple(change(item, member, f"{field}[{index}]") for index, (item, member) in pairs)


@dataclass(frozen=True)
class MappingOf:
    """A dict, its keys and its values each by a conversion or by none."""

    key: Conversion | None
    item: Conversion | None

    def to_plain(self, value: object, field: str) -> object:
        """A dict with plain keys and values, in the same order."""
        return self._each(value, field, to_plain)

    def from_plain(self, plain: object, field: str) -> object:
        """A dict with the keys and values that there were, in the same order."""
        return self._each(plain, field, from_plain)

    def _each(self, value: object, field: str, change: Change) -> object:
        if type(value) is not dict:
            return change(None, value, field)
        return {
            change(self.key, key, f"{field} key"): change(self.item, item, f"{field}[{key!a:.40}]")
            for key, item in value.items()
        }


@dataclass(frozen=True)
class OptionOf:
    """One class to convert among `others`, types that are carried as they are: `Colour | None`."""

    conversion: Conversion
    others: frozenset[type]

    def to_plain(self, value: object, field: str) -> object:
        """The plain form; PayloadError if the worker would take it for one of the others."""
        if type(value) in self.others:
            return value
        plain = self.conversion.to_plain(value, field)
        if type(plain) in self.others:
            kind = type(plain).__name__
            reason = f"carried as a {kind}, which the annotation allows as well; annotate the class alone"
            raise PayloadError(field, value, reason)
        return plain

    def from_plain(self, plain: object, field: str) -> object:
        """What there was: one of the others, or an instance of the class."""
        return plain if type(plain) in self.others else self.conversion.from_plain(plain, field)
