"""Checks 48 to 57: PEOATR."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import BudgetExceeded
from brain.patterns import PEOATR
from brain.runtime import Limits
from brain.testing import ScriptedProvider
from tests.patterns.checks.helpers import Tools, call, last_of, messages_of, notes, obj, play, text_of

PLAN = obj(subgoals=["find a", "find b"], quality_score=4)
WEAK = obj(subgoals=["muddle"], quality_score=2)
ON = obj(route="continue")
BACK = obj(route="reflect")
REPLAN = obj(route="replan")
DONE = obj(route="answer")


def peoatr(script: list[Any], **options: Any) -> Any:
    tools = Tools()
    return play(lambda model: PEOATR(tools.all, model, **options), script)


def test_check_48_the_whole_way():
    """The conversation holds the question, tool traffic and what was written; no JSON of the planners."""
    result, model = peoatr([PLAN, call("look", k="a"), "found a", ON, "found b", BACK, DONE, "FINAL"])

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["plan", "act", "act", "think", "act", "think", "reflect", "answer"]
    assert [(each["role"], each["content"]) for each in messages_of(model, 8)[:-1]] == [
        ("user", "TASK"),
        ("assistant", None),
        ("tool", "val-a-1"),
        ("assistant", "found a\n\nfound b"),
    ]
    assert "route" not in text_of(model, 8)
    assert "quality_score" not in text_of(model, 8)


def test_check_49_a_weak_plan_is_made_anew_three_times_at_most():
    """Then the work goes on with the latest."""
    plans = [obj(subgoals=[f"goal {n}"], quality_score=n) for n in (1, 2, 2)]
    plans[2] = obj(subgoals=["the latest goal"], quality_score=2)
    result, model = peoatr([*plans, "found", BACK, DONE, "FINAL"])

    assert result.path == ["plan", "plan", "plan", "act", "think", "reflect", "answer"]
    assert "1. [active] the latest goal" in last_of(model, 4)
    assert notes(result, "spent") == ["plan has used its budget; act is next"]


def test_check_50_a_subgoal_that_is_complete_gives_way_to_the_next():
    """When all are complete, the run steps back, whatever the thinker says."""
    complete = obj(route="continue", subgoal_complete=True)
    result, model = peoatr([PLAN, "found a", complete, "found b", complete, DONE, "FINAL"])

    assert "1. [active] find a\n2. [to come] find b" in last_of(model, 2)
    assert "1. [done] find a\n2. [active] find b" in last_of(model, 4)
    assert result.path == ["plan", "act", "think", "act", "think", "reflect", "answer"]


def test_check_51_a_worker_out_of_steps_hands_over_with_its_results():
    """Two tool rounds, then the answer, whose request holds both."""
    result, model = peoatr([PLAN, call("look", k="a"), call("look", k="b"), "FINAL"], max_act_steps=2)

    assert (result.answer, result.path) == ("FINAL", ["plan", "act", "act", "answer"])
    assert "val-a-1" in text_of(model, 4)
    assert "val-b-2" in text_of(model, 4)
    assert notes(result, "spent") == ["act has used its budget; answer is next"]


def test_check_52_a_run_out_of_all_budgets_still_ends_with_a_written_answer():
    """Three weak plans, four times replanned, and the judge is spent."""
    script = [WEAK, WEAK, WEAK, *["summary", BACK, REPLAN] * 4, "summary", BACK, "FINAL"]
    result, _ = peoatr(script)

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["plan"] * 3 + ["act", "think", "reflect"] * 4 + ["act", "think", "answer"]


def test_check_53_a_plan_that_does_not_fit_is_asked_for_once_more():
    """The problem is told; a second misfit is on record and counts as a weak plan."""
    unrated = obj(subgoals=["a"])
    result, model = peoatr([unrated, PLAN, "found", BACK, DONE, "FINAL"])
    assert result.path == ["plan", "act", "think", "reflect", "answer"]
    assert "quality_score: expected a whole number (int), got nothing" in last_of(model, 2)
    assert len(notes(result, "repair")) == 1
    assert notes(result, "fallback") == []

    result, _ = peoatr([unrated, unrated, PLAN, "found", BACK, DONE, "FINAL"])
    assert result.path == ["plan", "plan", "act", "think", "reflect", "answer"]
    (fallback,) = notes(result, "fallback")
    assert fallback.startswith("plan: No PeoatrPlan in two replies.")


class Plain:
    """A provider that takes no schema."""

    def __init__(self, script: list[Any]) -> None:
        self.inner = ScriptedProvider(script)

    def generate(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Any:
        return self.inner.generate(messages, tools, tool_choice)


def test_check_54_a_provider_without_schemas_is_told_in_words():
    """The route it writes is taken, and its JSON stays out of the conversation."""
    model = Plain([PLAN, "found", BACK, f"Well:\n```json\n{DONE}\n```", "FINAL"])
    result = PEOATR(Tools().all, model).run("TASK")

    assert result.path == ["plan", "act", "think", "reflect", "answer"]
    requests = model.inner.requests
    for request, fields in ((0, ["subgoals", "quality_score"]), (2, ["route"]), (3, ["route"])):
        assert requests[request].schema is None
        said = str(requests[request].messages[-1]["content"])
        assert "Reply with one JSON object" in said
        assert all(f'"{field}"' in said for field in fields)
    assert [each["content"] for each in requests[4].messages[:-1]] == ["TASK", "found"]


@pytest.mark.parametrize(("cap", "path"), [(1, ["plan", "act"]), (2, ["plan", "act", "think"])])
def test_check_55_a_cap_below_the_path_is_an_error(cap: int, path: list[str]):
    """Never the bare question as the answer."""
    result, _ = play(lambda model: PEOATR(provider=model), [PLAN, "found"][:cap], hooks=[Limits(model_calls=cap)])

    assert isinstance(result.exception, BudgetExceeded)
    assert (result.exception.limit, result.exception.value) == ("model_calls", cap)
    assert (result.ok, result.answer, result.path) == (False, "", path)
    assert f"PEOATR ({path[-1]})" in str(result.error)


def test_check_56_a_mistake_is_shown_to_the_worker():
    """One that is named is; an empty one leaves no trace."""
    named = obj(route="continue", mistake="looked in the wrong place", correction="look in the right one")
    unnamed = obj(route="continue", mistake=" ", correction="nothing")
    result, model = peoatr([PLAN, "a", BACK, named, "b", BACK, unnamed, "c", BACK, DONE, "FINAL"])

    assert result.ok
    assert "What went wrong before: looked in the wrong place\nHow to put it right: look in the right one" in last_of(
        model, 5
    )
    assert "went wrong before" not in last_of(model, 8)


@pytest.mark.parametrize(
    ("option", "request_number"),
    [
        ("planning_instructions", 1),
        ("acting_instructions", 2),
        ("thinking_instructions", 3),
        ("reflecting_instructions", 4),
    ],
)
def test_check_57_extra_instructions_are_a_paragraph_of_their_own(option: str, request_number: int):
    """They follow the default text."""
    script = [PLAN, "found", BACK, DONE, "FINAL"]
    _, plain = peoatr(script)
    _, extra = peoatr(script, **{option: "Be brief."})

    before, after = last_of(plain, request_number), last_of(extra, request_number)
    assert "Be brief." in after.split("\n\n")
    assert after.replace("\n\nBe brief.", "") == before
    others = [number for number in range(1, 6) if number != request_number]
    assert [number for number in others if last_of(plain, number) != last_of(extra, number)] == []
