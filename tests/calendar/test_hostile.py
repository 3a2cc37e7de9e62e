"""Text and values that break other parsers: refused fast, by our own error, and nothing else."""

from __future__ import annotations

import time
from typing import Any

import pytest

from redisched.calendar import Cron
from redisched.core.errors import ScheduleError

REFUSED = [
    "",
    " ",
    "*",
    "* * * *",
    "* * * * * *",
    "* * * * * * *",
    "* * * * * * * *",
    "60 * * * *",
    "-1 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 13 *",
    "* * * 0 *",
    "* * * * 8",
    "* * * foo *",
    "* * * * lun",
    "mon * * * *",
    "5-5 * * * *",
    "* * * jan-jan *",
    "* * * * 7-0",
    "50-10/5 * * * *",
    "0 22-2/2 * * *",
    "*/0 * * * *",
    "*/x * * * *",
    "*/-1 * * * *",
    "*/ * * * *",
    "/5 * * * *",
    "*-5 * * * *",
    "1-2-3 * * * *",
    "1//2 * * * *",
    ",1 * * * *",
    "1, * * * *",
    "1;2 * * * *",
    "? * * * *",
    "* * ?,1 * *",
    "R * * * *",
    "R(0-5) * * * *",
    "0 R/2 * * *",
    "H * * * *",
    "H(5-1) * * * *",
    "@reboot",
    "@every 5m",
    "@",
    "0 0 1 * 1#2",
    "0 0 1 * L5",
    "0 0 15W * 1",
    "0 0 * * 1#0",
    "0 0 * * 1#6",
    "0 0 * * L",
    "0 0 * * L8",
    "0 0 32W * *",
    "0 0 15W,16 * *",
    "0 0 */2 * 1",
    "0 0 1 * */2",
    "0 0 31 2 *",
    "\u0660 * * * *",
    "0\u00a09 * * *",
    "0 9 * * *\x00",
    "0 9 * * *\x1c",
    "\ud800 * * * *",
    "9" * 250,
    f"{'9' * 200} * * * *",
    f"*/{'9' * 200} * * * *",
    f"{'*/1,' * 60}x * * * *",
    f"{','.join(['0'] * 100_000)} * * * *",
    "*" * 1_000_000,
    "((((((((((((((((((((((((((((",
    "0 9 * * * # daily",
    "0 9 * * MON-",
]
NOT_TEXT: list[Any] = [None, 0, 1.5, True, b"* * * * *", ["*"] * 5, {}, object()]


@pytest.mark.parametrize("expression", REFUSED, ids=lambda text: ascii(text)[:40])
def test_hostile_text_is_refused_within_50_milliseconds(expression: str) -> None:
    """By a ScheduleError of one short line, whatever the text."""
    started = time.process_time()
    with pytest.raises(ScheduleError) as refused:
        Cron(expression)
    assert time.process_time() - started < 0.05
    assert len(str(refused.value)) < 1000
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", NOT_TEXT, ids=lambda value: type(value).__name__)
def test_what_is_not_text_is_refused(value: Any) -> None:
    """In every place that takes text."""
    with pytest.raises(ScheduleError):
        Cron(value)
    with pytest.raises(ScheduleError):
        Cron("* * * * *", value)


@pytest.mark.parametrize("option", ["gap", "repeat", "seconds", "day_rule", "hash_id"])
@pytest.mark.parametrize("value", ["", "x" * 300, 1, [], {}], ids=lambda value: repr(value)[:9])
def test_an_unknown_option_value_is_refused(option: str, value: Any) -> None:
    """By the option's name."""
    options: dict[str, Any] = {option: value}
    with pytest.raises(ScheduleError, match=f"^{option}="):
        Cron("0 9 * * *", **options)


@pytest.mark.parametrize("expression", [f"{','.join(['*/1'] * 60)} * * * *", "*/40 * * * *", "0 9 * * *\n"])
def test_odd_but_sound_text_is_accepted_within_50_milliseconds(expression: str) -> None:
    """Long lists and line ends do no harm."""
    started = time.process_time()
    Cron(expression)
    assert time.process_time() - started < 0.05


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("60 * * * *", "minute 60: .* out of range 0-59"),
        ("* * * * * *", "say seconds='first' or seconds='last'"),
        ("0 0 */2 * 1", "say day_rule='or' or 'and'"),
        ("5-5 * * * *", "write the value"),
        ("22-2/5 * * * *", "write a list"),
        ("R * * * *", "hash_id="),
    ],
)
def test_a_refusal_names_the_way_out(expression: str, reason: str) -> None:
    """So that nobody has to look it up."""
    with pytest.raises(ScheduleError, match=reason):
        Cron(expression)
