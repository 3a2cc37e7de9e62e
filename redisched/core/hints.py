"""From annotations to conversions."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from enum import Enum
from types import NoneType, SimpleNamespace, UnionType
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
    found = {name: _attempted(hint) for name, hint in _hints(function).items() if name != "return"}
    return {name: conversion for name, conversion in found.items() if conversion is not None}


def conversion_of(annotation: object) -> Conversion | None:
    """What values of `annotation` need, or None where they are carried as they are."""
    annotation = getattr(annotation, "__value__", annotation)  # `type Name = ...`
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return conversion_of(arguments[0])
    if origin in (Union, UnionType):
        return _option(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin in _ITEMS:
        item = conversion_of(arguments[0])
        return ItemsOf(item) if item else None
    if origin in _MAPPINGS:
        key, item = map(conversion_of, arguments)
        return MappingOf(key, item) if key or item else None
    return _class(origin or annotation)


def _class(kind: object) -> Conversion | None:
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Enum):
        return EnumOf(kind)
    if hasattr(kind, "model_dump") and hasattr(kind, "model_validate"):
        return ModelOf(kind)
    return DataclassOf(kind, _field_conversions) if dataclasses.is_dataclass(kind) else None


def _field_conversions(kind: type[Any]) -> dict[str, Conversion | None]:
    return {name: _attempted(hint) for name, hint in _hints(kind).items()}


def _tuple(arguments: tuple[object, ...]) -> Conversion | None:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        item = conversion_of(arguments[0])
        return ItemsOf(item) if item else None
    items = tuple(map(conversion_of, arguments))
    return TupleOf(items) if any(items) else None


def _option(members: tuple[object, ...]) -> Conversion | None:
    """One conversion among carried types. Of two, the worker could not tell which it was: none."""
    conversions = [(conversion, member) for member in members if (conversion := conversion_of(member))]
    if len(conversions) != 1:
        return None
    conversion, converted = conversions[0]
    others = {get_origin(member) or member for member in members if member is not converted}
    plain = frozenset(kind for kind in others if isinstance(kind, type) and kind in CARRIED | {NoneType})
    return OptionOf(conversion, plain) if len(plain) == len(others) else None


def _attempted(hint: object) -> Conversion | None:
    try:
        return conversion_of(hint)
    except (TypeError, RecursionError):
        return None


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
