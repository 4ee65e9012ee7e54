"""Plan-and-Execute: a plan, its steps one by one, what was learnt, and the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.errors import ConfigurationError
from brain.patterns import PlanAndExecute, ReActAgent
from brain.policy import Note
from brain.testing import ScriptedProvider, play, returns
from brain.types import PatternResult


def steps(*texts: str) -> str:
    return json.dumps({"steps": list(texts)})


def notes(result: PatternResult, kind: str) -> list[str]:
    return [
        each.action.text for each in result.journal or () if isinstance(each.action, Note) and each.action.kind == kind
    ]


def test_steps_are_carried_out_one_by_one_and_the_plan_is_revised() -> None:
    """The executor sees its step and what came before; the planner sees the results."""
    talk = play(
        PlanAndExecute(),
        "Do it.",
        [steps("one", "two"), "Final Answer: 1", steps("three"), "Final Answer: 3", steps(), "done"],
    )
    assert talk.result.answer == "done"
    contents = [each[-1]["content"] for each in talk.asked]
    assert contents[1].startswith("Carry out this one step of a larger task, and report what it came to:\n\none\n")
    assert "Results so far:\n1. one -> 1\n\nStill planned:\ntwo" in contents[2]
    assert "\n\nthree\n" in contents[3]
    assert "Results of the steps before:\n1. one -> 1" in contents[3]
    assert "Results:\n1. one -> 1\n2. three -> 3\n\nNot carried out:\n(none)" in contents[5]
    assert talk.result.path == ["plan", "execute", "replan", "execute", "replan", "answer"]


@pytest.mark.parametrize(("replan", "calls"), [("always", 6), ("failure", 5), ("never", 4)])
def test_how_often_the_plan_is_revised_can_be_chosen(replan: Any, calls: int) -> None:
    """After each step, after a failed one, or never."""

    def asked(messages: Any, **_: Any) -> str:
        text = messages[-1]["content"]
        if "list the steps that are still needed" in text:
            return steps("b") if "Still planned:\nb" in text else steps()
        return steps("a", "b") if "Lay out a plan" in text else "done" if "Answer the task" in text else ""

    model = ScriptedProvider(
        lambda messages, **_: (
            asked(messages) or ("Final Answer: x" if "\n\nb\n" in str(messages[-1]["content"]) else " ")
        )
    )
    result = PlanAndExecute(provider=model, replan=replan).run("t")
    assert result.ok, result.error
    assert len(model.requests) == calls
    assert len(notes(result, "step failed")) == 1


def test_a_function_may_carry_out_the_steps() -> None:
    """It is a tool of the run; when it raises, the step has failed, which planner and answer are shown."""

    def execute(step: str) -> str:
        if step == "fetch":
            raise RuntimeError("403")
        return f"{step}: ok"

    model = ScriptedProvider([steps("fetch", "sum up"), "done"])
    result = PlanAndExecute(execute, model, replan="never").run("t")
    assert result.ok
    shown = str(model.requests[1].messages[-1]["content"])
    assert "1. fetch -> FAILED: " in shown
    assert "403" in shown
    assert "2. sum up -> sum up: ok" in shown
    assert notes(result, "step failed")[0].startswith("fetch: ")
    assert result.report.tool_calls == 2


def test_the_number_of_steps_is_bounded() -> None:
    """Then the answer is written, and says what was not carried out."""
    model = ScriptedProvider(
        lambda messages, **_: (
            steps("again") if "steps" in str(messages[-1]["content"]).split("\n")[0] else "Final Answer: x"
        )
    )
    result = PlanAndExecute(str.upper, model, max_steps=3).run("t")
    assert result.report.tool_calls == 3
    assert "Not carried out:\nagain" in str(model.requests[-1].messages[-1]["content"])


def test_a_plan_that_cannot_be_read_fails_and_a_revision_that_cannot_keeps_the_plan() -> None:
    """What is unreadable is told; an old plan is still a plan."""
    result = play(PlanAndExecute(), "t", ["?", "??"]).result
    assert (result.ok, "No Steps in two replies" in (result.error or "")) == (False, True)
    talk = play(PlanAndExecute(str), "t", [steps("a", "b"), returns("1"), "?", "??", returns("2"), steps(), "done"])
    assert [each for _, each in talk.acted] == ["a", "b"]
    assert "The plan is kept." in notes(talk.result, "fallback")[0]


def test_an_answer_that_is_none_is_asked_for_again() -> None:
    """Then the run has failed."""
    assert play(PlanAndExecute(), "t", [steps(), "", "done"]).result.answer == "done"
    assert not play(PlanAndExecute(), "t", [steps(), "", ""]).result.ok


def test_results_stay_on_their_line() -> None:
    """A result that looks like another step's is part of its own."""
    talk = play(PlanAndExecute(str), "t", [steps("a"), returns("x\n2. b -> y"), steps(), "done"])
    assert "\n1. a -> x 2. b -> y\n" in talk.asked[-1][-1]["content"]


def test_what_cannot_be_used_is_refused() -> None:
    """At once."""
    with pytest.raises(ConfigurationError, match="executor must be a pattern, not int"):
        PlanAndExecute(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="give them to yours"):
        PlanAndExecute(ReActAgent(), tools={"a": str})
    with pytest.raises(ConfigurationError, match="'always', 'failure' or 'never', not 'often'"):
        PlanAndExecute(replan="often")  # type: ignore[arg-type]
