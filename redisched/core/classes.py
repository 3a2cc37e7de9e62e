"""Enums, dataclasses and pydantic models, each to its plain form and back.

A conversion changes instances of its own class only. It leaves the plain form as it is, so that a caller
without the class (another service, a command line) can pass that. Instances of other classes are refused.
pydantic is known by the methods of its models and never imported.
"""

from __future__ import annotations

import dataclasses
import inspect
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from redisched.core.conversions import Conversion, carried, from_plain, to_plain
from redisched.core.errors import PayloadError
from redisched.core.refusals import cause
from redisched.core.values import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclasses.dataclass(frozen=True)
class EnumOf:
    """A member of `kind`, carried as its value. A plain value is taken too, if a member has it."""

    kind: type[Enum]

    def to_plain(self, value: object, field: str) -> object:
        """The value of the member."""
        if type(value) is self.kind:
            return value.value
        self.from_plain(carried(value, field), field)
        return value

    def from_plain(self, plain: object, field: str) -> object:
        """The member with this value."""
        try:
            return self.kind(plain)
        except ValueError as error:
            some = ", ".join(ascii(member.value) for member in islice(self.kind, 5))
            reason = f"not a value of {self.kind.__qualname__}; pass one of its members (such as {some})"
            raise PayloadError(field, plain, reason) from error


@dataclasses.dataclass(frozen=True)
class DataclassOf:
    """An instance of `kind`, carried as a dict of its fields, each by its own annotation in `conversions`.

    Its constructor rebuilds it, so `__post_init__` runs again; fields that the constructor does not take are
    set after it.
    """

    kind: type[Any]
    find_conversions: Callable[[type[Any]], Mapping[str, Conversion | None]]

    @cached_property
    def _conversions(self) -> Mapping[str, Conversion | None]:
        # On first use, not at construction: a dataclass may have fields of its own type.
        return self.find_conversions(self.kind)

    def to_plain(self, value: object, field: str) -> object:
        """The fields, by name."""
        if type(value) is not self.kind:
            return self._plain_already(value, field)
        self._refuse_other_parameters(value, field)
        return {name: self._field_to_plain(getattr(value, name), field, name) for name in self._init_by_name}

    def from_plain(self, plain: object, field: str) -> object:
        """An instance with these fields; a field that is left out has its default."""
        if not isinstance(plain, dict):
            raise PayloadError(field, plain, f"pass a {self.kind.__qualname__}, or a dict of its fields")
        values = {name: self._field_from_plain(item, field, name) for name, item in plain.items()}
        late = {name: values.pop(name) for name in plain if self._init_by_name.get(name) is False}
        made = self._made(values, plain, field)
        for name, value in late.items():
            object.__setattr__(made, name, value)  # a frozen dataclass has no other way
        return made

    @cached_property
    def _init_by_name(self) -> dict[str, bool]:
        return {each.name: each.init for each in dataclasses.fields(self.kind)}

    def _plain_already(self, value: object, field: str) -> object:
        if type(carried(value, field)) is not dict:
            raise PayloadError(field, value, f"pass a {self.kind.__qualname__}, or a dict of its fields")
        return value

    def _field_to_plain(self, value: object, field: str, name: str) -> object:
        return to_plain(self._conversions.get(name), value, f"{field}.{name}")

    def _field_from_plain(self, plain: object, field: str, name: str) -> object:
        return from_plain(self._conversions.get(name), plain, f"{field}.{name}")

    def _made(self, values: dict[str, object], plain: object, field: str) -> object:
        try:
            return self.kind(**values)
        except Exception as error:  # the constructor is the caller's code and may raise anything
            reason = (
                f"{self.kind.__qualname__} refuses it ({cause(error)}); pass what its constructor accepts"
            )
            raise PayloadError(field, plain, reason) from error

    def _refuse_other_parameters(self, value: object, field: str) -> None:
        unknown = self._parameters - self._init_by_name.keys()
        if unknown:
            reason = f"its constructor needs {min(unknown)}, which is no field to carry; pass plain values"
            raise PayloadError(field, value, reason)

    @cached_property
    def _parameters(self) -> frozenset[str]:
        parameters = inspect.signature(self.kind).parameters.values()
        return frozenset(each.name for each in parameters if each.default is each.empty)


@dataclasses.dataclass(frozen=True)
class ModelOf:
    """A pydantic model of class `kind`, carried as what it dumps, if that validates to an equal model."""

    kind: type[Any]

    def to_plain(self, value: object, field: str) -> object:
        """The dump: with Python values where they can be carried, with JSON values otherwise."""
        if type(value) is not self.kind:
            return carried(value, field)
        for mode in ("python", "json"):
            plain = self._dumped(value, mode, field)
            if plain is not None:
                return plain
        reason = "its dump does not validate to an equal model; pass plain values"
        raise PayloadError(field, value, reason)

    def from_plain(self, plain: object, field: str) -> object:
        """The model that validates from `plain`."""
        try:
            return self.kind.model_validate(plain)
        except Exception as error:  # validators are the caller's code and may raise anything
            reason = f"{self.kind.__qualname__} refuses it ({cause(error)}); pass what the model validates"
            raise PayloadError(field, plain, reason) from error

    def _dumped(self, value: Any, mode: str, field: str) -> object | None:
        try:
            plain: object = value.model_dump(mode=mode, by_alias=True, round_trip=True)
            pack(plain, field=field)
            return plain if self.kind.model_validate(plain) == value else None
        except Exception:  # noqa: BLE001 - the next mode is tried, or it is refused
            return None
