"""From annotations to conversions."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from enum import Enum
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from redisched.core.classes import DataclassOf, EnumOf, ModelOf
from redisched.core.conversions import Conversion
from redisched.core.structures import ItemsOf, MappingOf, OptionOf, TupleOf
from redisched.core.wire import CARRIED

_ITEMS: Final = {
    list, set, frozenset, AbstractSet, Sequence, MutableSequence, Iterable, Collection,
}  # fmt: skip
_MAPPINGS: Final = {dict, Mapping, MutableMapping}


def conversions_of(function: Callable[..., object]) -> dict[str, Conversion]:
    """The conversions that the parameters of `function` need, by name; what cannot be resolved needs none."""
    found = _Resolver().by_name(function)
    return {name: conversion for name, conversion in found.items() if conversion and name != "return"}


class _Resolver:
    """Makes one conversion for each dataclass, however often and deep it occurs: it may hold its own kind."""

    def __init__(self) -> None:
        self._dataclasses: dict[type, DataclassOf] = {}

    def by_name(self, annotated: Callable[..., object] | type[Any]) -> dict[str, Conversion | None]:
        """The conversion of every annotation of a function or class, None where values need none."""
        return {name: self._attempted(hint) for name, hint in _hints(annotated).items()}

    def _attempted(self, hint: object) -> Conversion | None:
        try:
            return self._of(hint)
        except (TypeError, RecursionError):
            return None

    def _of(self, annotation: object) -> Conversion | None:
        annotation = getattr(annotation, "__value__", annotation)  # `type Name = ...`
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._of(arguments[0])
        if origin in (Union, UnionType):
            return self._option(arguments)
        if origin is tuple:
            return self._tuple(arguments)
        if origin in _ITEMS:
            return self._items(arguments[0])
        if origin in _MAPPINGS:
            return self._mapping(*arguments)
        return self._class(origin or annotation)

    def _class(self, kind: object) -> Conversion | None:
        if not isinstance(kind, type):
            return None
        if issubclass(kind, Enum):
            return EnumOf(kind)
        if hasattr(kind, "model_dump") and hasattr(kind, "model_validate"):
            return ModelOf(kind)
        if not dataclasses.is_dataclass(kind):
            return None
        return self._dataclasses.setdefault(kind, DataclassOf(kind, self.by_name))

    def _items(self, argument: object) -> Conversion | None:
        item = self._of(argument)
        return ItemsOf(item) if item else None

    def _mapping(self, *arguments: object) -> Conversion | None:
        key, item = map(self._of, arguments)
        return MappingOf(key, item) if key or item else None

    def _tuple(self, arguments: tuple[object, ...]) -> Conversion | None:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return self._items(arguments[0])
        items = tuple(map(self._of, arguments))
        return TupleOf(items) if any(items) else None

    def _option(self, members: tuple[object, ...]) -> Conversion | None:
        """One conversion among carried types. Of two, the worker could not tell which it was: none."""
        conversions = [(conversion, member) for member in members if (conversion := self._of(member))]
        if len(conversions) != 1:
            return None
        conversion, converted = conversions[0]
        others = {get_origin(member) or member for member in members if member is not converted}
        plain = frozenset(kind for kind in others if isinstance(kind, type) and kind in CARRIED)
        return OptionOf(conversion, plain) if len(plain) == len(others) else None


def _hints(annotated: Any) -> dict[str, object]:
    """The annotations that can be resolved: all at once if possible, otherwise one by one."""
    plain = inspect.unwrap(annotated)
    try:
        return get_type_hints(plain)
    except Exception:  # noqa: BLE001 - annotations are expressions of the caller's and may raise anything
        return _resolvable_hints(plain)


def _resolvable_hints(annotated: Any) -> dict[str, object]:
    hints: dict[str, object] = {}
    names = getattr(annotated, "__globals__", None) or vars(sys.modules[annotated.__module__])
    for name, raw in inspect.get_annotations(annotated).items():
        with suppress(Exception):  # the same; the others still count
            hints |= get_type_hints(SimpleNamespace(__annotations__={name: raw}), globalns=names)
    return hints
