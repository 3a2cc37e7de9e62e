"""Every conformance case, forwards, backwards and from between."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.calendar.cases import Case, all_cases

SECOND = timedelta(seconds=1)
cases = pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.id)


def test_no_case_is_missing() -> None:
    """The file holds 520 cases with six instants each."""
    assert {len(case.expected) for case in all_cases()} == {6}
    assert len({case.id for case in all_cases()}) == 520


@cases
def test_next_gives_the_expected_instants(case: Case) -> None:
    """The next six instants are those of the case, and the expression is classed as it says."""
    assert case.cron.next(case.start) == list(case.expected)
    assert case.cron.kind == case.kind


@cases
def test_prev_undoes_next(case: Case) -> None:
    """Before each expected instant comes the one before it."""
    assert [case.cron.prev(later) for _, later in case.steps] == list(case.expected[:-1])


@cases
def test_next_is_the_same_from_anywhere_between(case: Case) -> None:
    """From any instant in [a, b), the next one is b: nothing depends on where one starts."""
    for earlier, later in case.steps:
        between = (earlier, earlier + SECOND, earlier + (later - earlier) / 2, later - SECOND)
        assert [case.cron.next(start, 1) for start in between] == [[later]] * 4


@cases
def test_every_slot_has_its_own_name(case: Case) -> None:
    """No two slots of a timetable share an id, and walls rise where they name the slots."""
    slots = [case.cron.slot_after(int(b.timestamp()) * 1000 - 1) for b in case.expected]
    found = [slot for slot in slots if slot is not None]
    assert len({slot.id for slot in found}) == 6
    walls = [slot.wall for slot in found if slot.is_local]
    assert walls == sorted(set(walls))
