"""Checks 83 to 86: Pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import GraphExecutionError, ProviderError
from brain.graph import GuardNode, PromptNode, ValidateNode
from brain.patterns import Pipeline
from tests.patterns.checks.helpers import messages_of, obj, play, text_of


def stages() -> list[Any]:
    return [PromptNode("extract", "Extract."), PromptNode("analyze"), PromptNode("format", "Format.")]


def test_check_83_each_stage_sees_what_those_before_it_wrote():
    """The last one's text is the answer; no request ends with the model's own turn."""
    result, model = play(lambda model: Pipeline(*stages(), provider=model), ["E", "A", "F"])

    assert (result.ok, result.answer, result.path) == (True, "F", ["extract", "analyze", "format"])
    assert "E" in [each["content"] for each in messages_of(model, 2)]
    assert [messages_of(model, number)[-1]["role"] for number in (1, 2, 3)] == ["user"] * 3


def test_check_84_a_stage_that_fails_ends_the_run():
    """It is named, and those after it do not run."""
    result, model = play(lambda model: Pipeline(*stages(), provider=model), ["E", OSError("down")])

    assert isinstance(result.exception, ProviderError)
    assert (result.ok, result.answer, len(model.requests)) == (False, "", 2)
    assert str(result.error).startswith("Pipeline, model call 2 (analyze): ")
    assert result.path == ["extract", "analyze"]


@pytest.mark.parametrize("nodes", [[], [PromptNode("a"), PromptNode("b"), PromptNode("a")]])
def test_check_85_no_stages_or_two_of_one_name_are_refused(nodes: list[PromptNode]):
    """At once."""
    with pytest.raises(ValueError, match=r"Pipeline: there are no stages|two stages called 'a'"):
        Pipeline(*nodes)


def test_check_85_the_stages_are_left_as_they_are():
    """Built and run, they have the attributes they had."""
    nodes = stages()
    before = [dict(vars(node)) for node in nodes]
    result, _ = play(lambda model: Pipeline(*nodes, provider=model), ["E", "A", "F"])

    assert result.ok
    assert [dict(vars(node)) for node in nodes] == before


def test_check_86_a_check_in_the_middle_lets_the_next_stage_run():
    """Passed, the stage after it runs; not passed, the run fails."""
    first, last = PromptNode("first", "Go."), PromptNode("last", "Go on.")
    guard, check = GuardNode("guard", [lambda text: "E" in text]), ValidateNode("check")
    make = lambda model: Pipeline(first, guard, check, last, provider=model)  # noqa: E731

    result, model = play(make, ["E", obj(passes=True), "F"])
    assert (result.ok, result.answer, result.path) == (True, "F", ["first", "guard", "check", "last"])
    assert "passes" not in text_of(model, 3)

    result, _ = play(make, ["X"])
    assert isinstance(result.exception, GraphExecutionError)
    assert (result.ok, result.path) == (False, ["first", "guard"])

    result, _ = play(make, ["E", obj(passes=False, issues=["wrong"])])
    assert isinstance(result.exception, GraphExecutionError)
    assert "check" in str(result.error)
    assert "wrong" in str(result.error)
