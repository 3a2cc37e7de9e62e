"""pydantic models travel by annotation, if their dump validates to an equal model."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import Enum
from zoneinfo import ZoneInfo

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed: models are not tested")

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr  # noqa: E402

from redisched.core.annotations import Signature  # noqa: E402
from redisched.core.errors import PayloadError  # noqa: E402
from redisched.core.values import pack, unpack  # noqa: E402


class Colour(Enum):
    RED = "red"


class Plain(BaseModel):
    at: datetime
    price: Decimal
    raw: bytes = b"\xff"


class Rich(BaseModel):
    colour: Colour
    url: HttpUrl
    renamed: int = Field(alias="re-named")
    inner: list[Rich] = []


class Hidden(BaseModel):
    secret: SecretStr


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    at: datetime


def task(
    model: Plain | None, rich: list[Rich], hidden: Hidden | None = None, frozen: Frozen | None = None
) -> None: ...


PLAIN = Plain(
    at=datetime(2027, 10, 31, 1, 30, tzinfo=ZoneInfo("Europe/London"), fold=1), price=Decimal("1.50")
)
RICH = Rich.model_validate(
    {"colour": "red", "url": "https://example.com/x", "re-named": 1, "inner": []},
)


def test_models_come_back_equal() -> None:
    signature = Signature.of(task)
    nested = RICH.model_copy(update={"inner": [RICH]})
    frozen = Frozen(at=PLAIN.at)
    args = (PLAIN, [nested], None, frozen)
    plain = unpack(pack(signature.to_plain(args, {})[0], field="args"))
    assert isinstance(plain, tuple)
    assert signature.from_plain(plain, {})[0] == args


def test_a_model_that_would_come_back_different_is_refused_by_parameter() -> None:
    with pytest.raises(PayloadError, match=r"^hidden=.*does not validate to an equal model"):
        Signature.of(task).to_plain((None, [], Hidden(secret=SecretStr("x"))), {})


def test_a_model_that_no_annotation_names_is_refused_by_parameter() -> None:
    with pytest.raises(PayloadError, match=r"^model=.*annotated Hidden; do that, or pass its .model_dump"):
        Signature.of(task).to_plain((Hidden(secret=SecretStr("x")), []), {})


def test_a_plain_form_that_does_not_validate_is_refused_by_parameter() -> None:
    with pytest.raises(PayloadError, match=r"^rich\[0\]=.*Rich refuses it"):
        Signature.of(task).from_plain((None, [{"colour": "blue"}]), {})
