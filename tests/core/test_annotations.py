"""A task's signature: arguments that fit, and Enums and dataclasses that travel by annotation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Optional

import pytest

from redisched.core.annotations import Signature
from redisched.core.errors import ArgumentError, PayloadError
from redisched.core.values import pack, unpack


class Colour(Enum):
    RED = "red"
    NONE = None


class Size(StrEnum):
    BIG = "big"


class Level(IntEnum):
    HIGH = 3


class Rights(Flag):
    READ = 1
    WRITE = 2


@dataclass(frozen=True, slots=True)
class Item:
    size: Size
    price: Decimal
    colours: list[Colour] = field(default_factory=list)


@dataclass
class Order:
    number: int
    items: tuple[Item, ...]
    by_size: dict[Size, Item] = field(default_factory=dict)
    parent: Order | None = None
    total: Decimal = field(init=False, default=Decimal(0))


@dataclass
class Impure:
    x: int
    seed: InitVar[int]


@dataclass
class Loud:
    x: str

    def __post_init__(self) -> None:
        raise ValueError(self.x)


@dataclass
class Strict:
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise OverflowError("x is below 0")


ORDER = Order(
    1, (Item(Size.BIG, Decimal("1.50"), [Colour.RED, Colour.NONE]),), {Size.BIG: Item(Size.BIG, Decimal(2))}
)
CHILD = Order(2, (), parent=ORDER)
CHILD.total = Decimal(7)


def everything(
    order: Order,
    colour: Colour,
    /,
    size: Size | None,
    level: Optional[Level],  # noqa: UP045
    pair: tuple[int, Colour],
    *rest: Colour,
    rights: Annotated[Rights, "who"] = Rights.READ,
    many: Sequence[Size] = (),
    where: Mapping[str, list[Item | str]] | None = None,
    **more: Level,
) -> None: ...


def carried(
    signature: Signature, *args: object, **kwargs: object
) -> tuple[tuple[object, ...], dict[str, object]]:
    """What a worker would call the task with."""
    signature.bind(args, kwargs)
    data = pack(list(signature.to_plain(args, kwargs)), field="arguments")
    plain: Any = unpack(data)
    return signature.from_plain(*plain)


CALLS: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((CHILD, Colour.RED, Size.BIG, Level.HIGH, (1, Colour.RED)), {}),
    ((ORDER, Colour.NONE, None, None, (1, Colour.NONE), Colour.RED, Colour.NONE), {}),
    ((ORDER, Colour.RED), {"size": None, "level": Level.HIGH, "pair": (0, Colour.RED), "low": Level.HIGH}),
    (
        (ORDER, Colour.RED, None, None, (1, Colour.RED)),
        {"rights": Rights.READ | Rights.WRITE, "many": [Size.BIG]},
    ),
    (
        (ORDER, Colour.RED, None, None, (1, Colour.RED)),
        {"many": (Size.BIG,), "where": {"a": [ORDER.items[0], "b"]}},
    ),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS, ids=range(len(CALLS)))
def test_annotated_classes_come_back(args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    signature = Signature.of(everything)
    again = carried(signature, *args, **kwargs)
    assert again == (args, kwargs)
    assert repr(again) == repr((args, kwargs))


def paint(colour: Colour, note: str = "", *, items: list[Item] | None = None) -> None: ...


def test_the_plain_form_is_taken_where_a_class_is_annotated() -> None:
    item = {"size": "big", "price": Decimal(1)}
    assert carried(Signature.of(paint), "red", items=[item]) == (
        (Colour.RED,),
        {"items": [Item(Size.BIG, Decimal(1))]},
    )


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((Size.BIG,), {}, "^colour=.*annotated Size"),
        ((ORDER,), {}, "^colour=.*annotated Order"),
        (("blue",), {}, "^colour='blue'.*'red'"),
        (([],), {}, r"^colour=\[\]: not a value of Colour"),
        ((Colour.RED, Level.HIGH), {}, "^note=.*annotated Level"),
        ((Colour.RED,), {"note": ORDER}, "^note=.*annotated Order"),
        ((Colour.RED,), {"note": object()}, "^note=.*type object cannot be carried"),
        ((Colour.RED,), {"items": [ORDER.items[0], ORDER]}, r"^items\[1\]=.*annotated Order"),
        ((Colour.RED,), {"items": [5]}, r"^items\[0\]=5: pass a Item, or a dict"),
        ((Colour.RED,), {"items": [Item(Colour.RED, Decimal(1))]}, r"^items\[0\]\.size=.*annotated Colour"),  # type: ignore[arg-type]
    ],
)
def test_a_class_that_the_annotation_does_not_name_is_refused_by_parameter(
    args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(PayloadError, match=message):
        Signature.of(paint).to_plain(args, kwargs)


def test_without_annotations_that_need_it_nothing_is_copied() -> None:
    def plain(a: int, b: list[dict[str, datetime]], *c: str) -> None: ...

    signature = Signature.of(plain)
    args: tuple[object, ...] = (1, [{}], "x")
    kwargs: dict[str, object] = {}
    assert signature.to_plain(args, kwargs)[0] is args
    assert signature.from_plain(args, kwargs)[0] is args


def test_without_annotations_an_enum_is_refused_by_parameter() -> None:
    def plain(a, b=None): ...  # type: ignore[no-untyped-def]

    with pytest.raises(PayloadError, match=r"^b=.*annotated Colour"):
        Signature.of(plain).to_plain((1, Colour.RED), {})


def of_either(thing: Order | Item) -> None: ...
def of_colour_or_text(colour: Colour | str) -> None: ...
def of_a_set(items: set[Item]) -> None: ...
def of_impure(impure: Impure) -> None: ...
def of_strict(strict: Strict) -> None: ...


@pytest.mark.parametrize(
    ("function", "value", "message"),
    [
        (of_either, ORDER, "^thing="),
        (of_colour_or_text, Colour.RED, "^colour=.*carried as a str, which the annotation allows as well"),
        (of_a_set, {Item(Size.BIG, Decimal(1), ())}, "^items=.*has no plain form"),  # type: ignore[arg-type]
        (of_impure, Impure(1, 2), "^impure=.*needs seed"),
    ],
)
def test_what_the_worker_could_not_tell_apart_is_refused(
    function: Callable[..., object], value: object, message: str
) -> None:
    with pytest.raises(PayloadError, match=message):
        Signature.of(function).to_plain((value,), {})


def test_text_stays_text_beside_a_class_with_another_plain_form() -> None:
    def task(thing: Item | str | None) -> None: ...

    signature = Signature.of(task)
    for thing in ("text", None, ORDER.items[0]):
        assert carried(signature, thing) == ((thing,), {})


@pytest.mark.parametrize(
    ("function", "plain", "message"),
    [
        (paint, "blue", "^colour='blue': not a value of Colour"),
        (paint, {}, "^colour={}: not a value"),
        (of_strict, 5, "^strict=5: pass a Strict"),
        (of_strict, {}, "^strict={}: Strict refuses it"),
        (of_strict, {"x": -1}, "^strict=.*x is below 0"),
        (of_strict, {"x": 1, "y": 2}, "^strict=.*Strict refuses it"),
        (of_strict, {1: 2}, "^strict=.*Strict refuses it"),
    ],
)
def test_a_plain_form_that_does_not_fit_is_refused_by_parameter(
    function: Callable[..., object], plain: object, message: str
) -> None:
    with pytest.raises(PayloadError, match=message):
        Signature.of(function).from_plain((plain,), {})


def test_f66_what_a_constructor_says_cannot_forge_a_log_line() -> None:
    def task(loud: Loud) -> None: ...

    with pytest.raises(PayloadError) as refused:
        Signature.of(task).from_plain(({"x": "\nERROR forged é"},), {})
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


def test_a_dataclass_that_holds_itself_is_refused() -> None:
    def task(order: Order) -> None: ...

    ring = Order(1, ())
    ring.parent = ring
    with pytest.raises(PayloadError, match=r"^order=.*has no plain form"):
        Signature.of(task).to_plain((ring,), {})


def test_annotations_that_cannot_be_resolved_are_ignored() -> None:
    def task(unknown: Missing, colour: Colour, broken: 1 / 0) -> None: ...  # type: ignore[name-defined,valid-type]  # noqa: F821

    args = (1, Colour.RED, "x")
    assert carried(Signature.of(task), *args) == (args, {})


def test_annotations_may_name_what_is_defined_after_the_task() -> None:
    signature = Signature.of(of_later)
    assert carried(signature, Later.ONE) == ((Later.ONE,), {})


def of_later(later: Later) -> None: ...


class Later(Enum):
    ONE = 1


def send(code: str, event: str, /, retries: int = 0, *, urgent: bool) -> None: ...
def collect(first: int, *rest: int, **options: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (send, ("a", "b"), {"urgent": True}),
        (send, ("a", "b", 1), {"urgent": True}),
        (send, ("a", "b"), {"retries": 1, "urgent": True}),
        (collect, (1,), {}),
        (collect, (1, 2, 3), {"four": 4}),
        (collect, (), {"first": 1, "more": 2}),
        (print, ("a", "b"), {"end": ""}),
        (lambda a, /, **kw: None, (1,), {"a": 2}),
        (dict, ("anything",), {"goes": 1}),
    ],
)
def test_arguments_that_fit_are_taken(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    Signature.of(function, task="tasks.send").bind(args, kwargs)


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "message"),
    [
        (send, (), {"urgent": True}, "misses the argument 'code'"),
        (send, ("a",), {"urgent": True}, "misses the argument 'event'"),
        (send, ("a", "b"), {}, "misses the argument 'urgent'"),
        (send, ("a",), {"event": "b", "urgent": True}, "takes no argument 'event'"),
        (send, ("a", "b", 1, 2), {"urgent": True}, "takes 3 positional arguments and was given 4"),
        (send, ("a", "b", 1), {"retries": 1, "urgent": True}, "was given the argument 'retries' twice"),
        (send, ("a", "b"), {"urgent": True, "x": 1}, "takes no argument 'x'"),
        (collect, (), {"more": 2}, "misses the argument 'first'"),
        (collect, (1,), {"first": 2}, "was given the argument 'first' twice"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_task_and_parameter(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(TypeError):
        function(*args, **kwargs)
    with pytest.raises(ArgumentError, match=f"^task='tasks.send': {message}; it takes \\("):
        Signature.of(function, task="tasks.send").bind(args, kwargs)


def test_a_task_without_a_name_is_called_by_its_module_and_function() -> None:
    with pytest.raises(ArgumentError, match=r"^task='tests\.core\.test_annotations\.paint'"):
        Signature.of(paint).bind((), {})
