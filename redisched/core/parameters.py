"""The parameters of a function, kept so that checking a call against them is cheap."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Names by how they can be passed; `more_positional` and `more_keywords` are those with stars, if any."""

    positional: tuple[str, ...]
    keywords: frozenset[str]
    required: frozenset[str]
    more_positional: str | None
    more_keywords: str | None
    text: str

    @classmethod
    def of(cls, function: Callable[..., object]) -> Parameters:
        """The parameters of `function`; one that cannot be inspected (some built in ones) takes anything."""
        try:
            return cls._from(inspect.signature(function))
        except ValueError:
            return cls._from(inspect.signature(_anything))

    @classmethod
    def _from(cls, signature: inspect.Signature) -> Parameters:
        every = signature.parameters.values()
        starred = {each.kind: each.name for each in every}
        single = [each for each in every if each.kind in {*_POSITIONAL, *_KEYWORD}]
        return cls(
            positional=tuple(each.name for each in single if each.kind in _POSITIONAL),
            keywords=frozenset(each.name for each in single if each.kind in _KEYWORD),
            required=frozenset(each.name for each in single if each.default is Parameter.empty),
            more_positional=starred.get(Parameter.VAR_POSITIONAL),
            more_keywords=starred.get(Parameter.VAR_KEYWORD),
            text=str(inspect.Signature([_bare(each) for each in every])),
        )

    def receiver(self, keyword: str) -> str:
        """The parameter that takes `keyword`: the one of this name, or the one with two stars."""
        return keyword if keyword in self.keywords else self.more_keywords or keyword

    def misfit(self, args: tuple[object, ...], kwargs: dict[str, object]) -> str | None:
        """Why the function cannot be called with these arguments, or None if it can."""
        placed = self.positional[: len(args)]
        if len(args) > len(placed) and not self.more_positional:
            return f"takes {len(placed)} positional arguments and was given {len(args)}"
        named = self.keywords & kwargs.keys()
        if not self.more_keywords and len(named) < len(kwargs):
            return f"takes no argument {min(kwargs.keys() - named)!a}"
        if not named.isdisjoint(placed):
            return f"was given the argument {min(named.intersection(placed))!a} twice"
        missing = self.required.difference(placed, named)
        return f"misses the argument {self._first(missing)!a}" if missing else None

    def _first(self, names: frozenset[str]) -> str:
        return next((name for name in self.positional if name in names), None) or min(names)


def _bare(parameter: Parameter) -> Parameter:
    return parameter.replace(annotation=Parameter.empty, default=Parameter.empty)


def _anything(*args: object, **kwargs: object) -> None:
    """Takes what it is given."""
