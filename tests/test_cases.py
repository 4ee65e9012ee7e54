"""The case files: what public users met, all rows of the kinds that are built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import checkers, expand, problems_of, rows

FILE = Path(__file__).parents[2] / "shared" / "cases" / "inputs.jsonl"
CHECKERS = checkers()
ROWS = [row for row in rows(FILE) if row["kind"] in CHECKERS] if FILE.exists() else []


@pytest.mark.skipif(not FILE.exists(), reason=f"the case file {FILE} is not here")
def test_there_are_rows_of_every_kind_that_is_built() -> None:
    """A checker without a row would check nothing."""
    assert {row["kind"] for row in ROWS} == set(CHECKERS)


@pytest.mark.skipif(not FILE.exists(), reason=f"the case file {FILE} is not here")
@pytest.mark.parametrize("row", ROWS or [{"id": "none"}], ids=lambda row: row["id"])
def test_row(row: dict[str, Any]) -> None:
    """What the row expects holds."""
    assert problems_of(row, CHECKERS[row["kind"]]) == []


def test_any_of_needs_one_alternative_and_everything_common() -> None:
    """The frame itself: an alternative alone is not enough."""

    def checker(given: Any, expected: dict[str, Any]) -> list[str]:
        return [key for key, value in expected.items() if given[key] != value]

    row = {"input": {"a": 1, "b": 2}, "expected": {"a": 1, "any_of": [{"b": 3}, {"b": 2}]}}
    assert problems_of(row, checker) == []
    row["expected"] = {"a": 2, "any_of": [{"b": 3}, {"b": 2}]}
    assert problems_of(row, checker) == ["a"]
    row["expected"] = {"a": 1, "any_of": [{"b": 3}]}
    assert problems_of(row, checker) == ["b"]


def test_repeats_are_expanded_everywhere() -> None:
    """``$REPEAT(x,n)`` stands for n times x."""
    assert expand({"k": ["a$REPEAT(xy,3)b", 1]}) == {"k": ["axyxyxyb", 1]}
