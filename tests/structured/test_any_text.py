"""For any text at all: a value, or the library's own error. ``BRAIN_THOROUGH=1`` tries many more."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.errors import StructureError
from brain.normalise import legal
from brain.providers.text_tools import read_calls
from brain.structured import extract, parse_as, read_plan, read_route
from brain.structured.judgements import DebateCritique, DebateVerdict, PeoatrPlan
from brain.structured.read import MAX_DEPTH, canonical
from tests.cases import expand, rows

CASES = Path(__file__).parents[3] / "shared" / "cases" / "inputs.jsonl"
KINDS = {"json_extract", "schema_coerce", "verdict_parse", "critique_parse", "route_parse", "plan_parse"}
THOROUGH = bool(os.environ.get("BRAIN_THOROUGH"))
few = settings(max_examples=1500 if THOROUGH else 60, deadline=None)

FRAGMENTS = ["{", "}", "[", "]", '"', "'", "\\", ",", ":", "`", "```", "```json\n", "```python\n", "~~~", "\n", " "]
FRAGMENTS += ["“", "”", "<think>", "</think>", "//", "/*", "*/", "#", "1", "-", ".5", "1e9", "NaN", "true", "None"]
FRAGMENTS += ["null", '"a"', '"a":', "a:", "{}", "[]", '{"a": 1}', '{"passes": true}', '"severity": 2', "\ud800"]
FRAGMENTS += ["\ufeff", "é", "…", "[1]", "<tool_call>", "</tool_call>", "<tool_result", "Next:", "1. x\n", '\\"']
FRAGMENTS += ["\\u00", "\x00"]
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
whole_text = st.text(st.characters(exclude_categories=["Cs"]))  # halves of characters are replaced, and not equal
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | whole_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(whole_text, inner, max_size=4),
    max_leaves=12,
)


def survives(text: str) -> None:
    """All readers return, or raise ``StructureError`` with a message that can be written down."""
    for read in (
        lambda: extract(text),
        lambda: extract(text, "object"),
        lambda: extract(text, "array"),
        lambda: parse_as(DebateCritique, text),
        lambda: parse_as(DebateVerdict, text),
        lambda: parse_as(PeoatrPlan, text),
        lambda: parse_as(list[str], text),
        lambda: read_plan(text),
    ):
        try:
            value: Any = read()
        except StructureError as error:
            value = str(error)
        if isinstance(value, dict | list):
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        elif isinstance(value, str):
            assert len(value) < 2000
            value.encode()
    read_route(text, ["yes", "no"])
    read_calls(text)
    legal([{"role": "user", "content": text}])


@few
@given(texts)
def test_any_text_is_read_or_refused(text):
    """Whatever a model writes, nothing else is raised."""
    survives(text)


@few
@given(st.one_of(st.lists(values, min_size=1), st.dictionaries(whole_text, values, min_size=1)), st.booleans())
def test_any_json_is_read_as_json_reads_it(value, ascii_only):
    """What is JSON comes back as it is, alone and in a fence."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    want = "object" if isinstance(value, dict) else "array"
    assert canonical(extract(text, want)) == canonical(value)
    assert canonical(extract(f"So:\n```json\n{text}\n```\nDone.", want)) == canonical(value)
    assert canonical(extract(json.dumps(text), want)) == canonical(value)


@few
@given(st.dictionaries(whole_text, values, min_size=1), st.data())
def test_a_cut_value_is_never_half_a_value(value, data):
    """Cut anywhere, an object is refused, and not read in part."""
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(StructureError):
        extract(text[:cut], "object")


@few
@given(st.dictionaries(whole_text, scalars.filter(lambda each: not isinstance(each, str)), min_size=1))
def test_python_literals_are_read_as_python_reads_them(value):
    """``repr`` of a dict of plain values comes back as the dict."""
    assert canonical(extract(repr(value), "object")) == canonical(value)


def test_depth_is_bounded():
    """As deep as allowed is read; one deeper is refused."""
    for opening, closing in ("[]", ('{"a":', "}")):
        deepest = opening * MAX_DEPTH + closing * MAX_DEPTH
        if opening != "[":
            deepest = deepest.replace(":}", ":1}", 1)
        extract(deepest)
        with pytest.raises(StructureError, match="nested"):
            extract(opening + deepest + closing)


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
def test_mutated_cases_are_read_or_refused():
    """The inputs of the case file, cut, doubled and shuffled."""
    known = [
        str(expand(row["input"]).get("text") or row["input"].get("reply"))[:400]
        for row in rows(CASES)
        if row["kind"] in KINDS
    ]
    for seed in range(10_000 if THOROUGH else 400):
        dice = random.Random(seed)
        text = dice.choice(known)
        for _ in range(dice.randint(1, 4)):
            here, there = sorted(dice.randint(0, len(text)) for _ in range(2))
            text = dice.choice(
                [
                    text[:here] + text[there:],
                    text[:here] + dice.choice(FRAGMENTS) + text[here:],
                    text[:there] + text[here:],
                    text[:here] + dice.choice(known) + text[here:],
                    text[:there],
                ]
            )
        try:
            survives(text)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {text!r}") from error
