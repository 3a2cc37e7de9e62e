"""A task's own signature: do the arguments fit it, and which of them travel in a plain form?"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING

from redisched.core.conversions import Conversion, from_plain, to_plain
from redisched.core.errors import ArgumentError, PayloadError
from redisched.core.hints import conversions_of
from redisched.core.parameters import Parameters
from redisched.core.refusals import cause
from redisched.core.wire import CARRIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Change = Callable[[Conversion | None, object, str], object]

Arguments = tuple[tuple[object, ...], dict[str, object]]


class Signature:
    """What the parameters of one task ask of its arguments; keep one for each task.

    Annotations are resolved at first use, so they may name what is defined after the task. Those that cannot
    be resolved are ignored.
    """

    def __init__(self, function: Callable[..., object], task: str) -> None:
        self._function = function
        self._task = task

    @classmethod
    def of(cls, function: Callable[..., object], *, task: str | None = None) -> Signature:
        """The signature of `function`; errors call it `task`, or module.function without one."""
        return cls(function, task or f"{function.__module__}.{function.__qualname__}")

    def bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Refuse arguments that the function could not be called with: ArgumentError names the parameter."""
        misfit = self._parameters.misfit(args, kwargs)
        if misfit:
            raise ArgumentError("task", self._task, f"{misfit}; it takes {self._parameters.text}")

    def to_plain(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        """The arguments with every Enum, dataclass and pydantic model that an annotation names made plain.

        Without any, it returns what it was given. PayloadError names the parameter of one that is neither
        carried as it is nor of a class that the annotation names.
        """
        if not self._conversions and _all_carried(args) and _all_carried(kwargs.values()):
            return args, kwargs
        return self._changed(args, kwargs, to_plain)

    def from_plain(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Arguments:
        """The arguments that `to_plain` was given; PayloadError names the parameter of a misfit."""
        return self._changed(args, kwargs, from_plain) if self._conversions else (args, kwargs)

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters.of(self._function)

    @cached_property
    def _conversions(self) -> dict[str, Conversion]:
        return conversions_of(self._function)

    def _changed(self, args: tuple[object, ...], kwargs: dict[str, object], change: Change) -> Arguments:
        parameters = self._parameters
        names = chain(parameters.positional, repeat(parameters.more_positional or "argument"))
        changed = tuple(
            self._one(name, name, value, change) for name, value in zip(names, args, strict=False)
        )
        named = {
            name: self._one(parameters.receiver(name), ascii(name)[1:-1], value, change)
            for name, value in kwargs.items()
        }
        return changed, named

    def _one(self, parameter: str, field: str, value: object, change: Change) -> object:
        try:
            return change(self._conversions.get(parameter), value, field)
        except PayloadError:
            raise
        except (TypeError, RecursionError) as error:
            reason = f"has no plain form ({cause(error)}); pass plain values"
            raise PayloadError(field, value, reason) from error


def _all_carried(values: Iterable[object]) -> bool:
    return CARRIED.issuperset(map(type, values))
