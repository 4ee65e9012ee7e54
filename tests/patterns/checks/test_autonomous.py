"""Checks 65 to 73: Autonomous."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import ProviderError
from brain.graph import PromptNode, SynthesizeNode
from brain.patterns import Autonomous
from brain.policy import Ask
from brain.runtime import ActionStarted, StepEnded
from brain.testing import ScriptedProvider
from tests.patterns.checks.helpers import Tools, call, last_of, messages_of, notes, obj, play, text_of


def step(name: str) -> str:
    return obj(next=name, reason="because")


def autonomous(script: list[Any], **options: Any) -> Any:
    tools = Tools()
    return play(lambda model: Autonomous(provider=model, tools=tools.all, **options), script)


WHOLE = [step("reason"), call("look", k="a"), "sum", step("analyze"), "ana", step("synthesize"), "FINAL"]


def test_check_65_the_model_chooses_its_steps():
    """Seven requests; neither menu nor choice enters the conversation."""
    result, model = autonomous(WHOLE)

    assert (result.ok, result.answer, len(model.requests)) == (True, "FINAL", 7)
    assert result.path == ["autonomous", "reason", "reason", "analyze", "synthesize"]
    conversation = [each["content"] for each in messages_of(model, 7)[:-1]]
    assert conversation == ["TASK", None, "val-a-1", "sum\n\nana"]
    for number in (2, 3, 5, 7):
        assert "__done__" not in text_of(model, number)
        assert "because" not in text_of(model, number)


def test_check_66_a_tool_stands_for_the_step_that_has_it_and_nonsense_is_told():
    """``look`` runs reason; ``bogus`` is reported to the next choice, with the names there are."""
    result, model = autonomous([step("look"), "sum", step("bogus"), step("synthesize"), "FINAL"])

    assert result.path == ["autonomous", "reason", "synthesize"]
    assert "'bogus' is not a step. The steps are reason, analyze, synthesize, __done__." in last_of(model, 4)
    assert "bogus" not in text_of(model, 5)
    assert notes(result, "fallback") == ["'bogus' is not a step"]


@pytest.mark.parametrize("first", [step("__done__"), "I would say we are done here.", '{"next": "re'])
def test_check_67_done_or_unreadable_leads_to_the_answer(first: str):
    """The answer step runs once, and its text is the answer."""
    result, model = autonomous([first, "FINAL"])

    assert (result.ok, result.answer, len(model.requests)) == (True, "FINAL", 2)
    assert result.path == ["autonomous", "synthesize"]


def test_check_67_steps_used_up_lead_to_the_answer():
    """Two steps, then the answer."""
    result, _ = autonomous([step("reason"), "sum", step("analyze"), "ana", "FINAL"], max_steps=2)

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["autonomous", "reason", "analyze", "synthesize"]
    assert notes(result, "spent") == ["autonomous has used its 2 steps"]


def test_check_68_an_answer_step_that_fails_fails_the_run():
    """There is no result without an answer."""
    result, _ = autonomous([step("reason"), "sum", step("synthesize"), OSError("down")])

    assert isinstance(result.exception, ProviderError)
    assert (result.ok, result.answer) == (False, "")


def test_check_69_any_name_can_be_chosen_in_any_case():
    """A step named finish is a step; "Synthesize" is synthesize."""
    pool = [PromptNode("finish", answers=False), SynthesizeNode("synthesize")]
    result, _ = play(lambda model: Autonomous(pool, model), [step("finish"), "polished", step("Synthesize"), "FINAL"])
    assert (result.answer, result.path) == ("FINAL", ["autonomous", "finish", "synthesize"])


@pytest.mark.parametrize(
    "choice",
    [
        '{"next": "analyze", "reason": "the set {1, 2} is open"}',
        '} {"next": "analyze", "reason": "x"}',
        'Sure:\n```json\n{"next": "analyze"}\n```',
        '<think>{"next": "reason"}</think>{"next": "analyze"}',
    ],
)
def test_check_70_a_choice_is_read_through_its_surroundings(choice: str):
    """Braces in texts, stray braces, fences and thoughts do not hide it."""
    result, _ = autonomous([choice, "ana", step("synthesize"), "FINAL"])
    assert result.path == ["autonomous", "analyze", "synthesize"]


def test_check_71_a_step_ends_with_its_tool_rounds():
    """Two requests; the next choice sees the results."""
    result, model = autonomous(
        [step("reason"), call("look", k="a"), call("look", k="b"), step("synthesize"), "FINAL"], max_tool_rounds=2
    )
    assert result.path == ["autonomous", "reason", "reason", "synthesize"]
    assert "val-a-1" in text_of(model, 4)
    assert "val-b-2" in text_of(model, 4)


def test_check_71_a_step_of_ones_own_ends_with_its_rounds_too():
    """Chosen from a pool, a stage out of requests is no failure; the caller's object is unchanged."""
    tools = Tools()
    work = PromptNode("work", tools=tools.all, max_iterations=1)
    result, model = play(
        lambda model: Autonomous([work], model), [step("work"), call("look", k="a"), step("__done__"), "FINAL"]
    )
    assert (result.ok, result.answer, work.when_out) == (True, "FINAL", "raise")
    assert "val-a-1" in text_of(model, 4)


def test_check_72_a_pool_without_an_end_gets_one():
    """After done, the final answer is asked for; the entry runs first, and a repeat is a note."""
    pool = [PromptNode("a", "Do A.", answers=False), PromptNode("b", "Do B.", answers=False)]
    script = ["did a", step("a"), step("b"), "did b", step("__done__"), "FINAL"]
    result, model = play(lambda model: Autonomous(pool, model, entry_node="a", allow_repeat=False), script)
    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["autonomous", "a", "b", "autonomous answer"]
    assert "a has run before and may not run again" in last_of(model, 3)
    assert notes(result, "fallback") == ["a has run before and may not run again"]
    assert "final answer" in last_of(model, 6)


def test_check_73_routing_can_be_told_from_the_steps_in_the_stream():
    """Events of the choices carry a phase of their own; those of the steps carry the step's name."""
    model = ScriptedProvider(WHOLE)
    events = list(Autonomous(provider=model, tools=Tools().all).stream("TASK"))

    asked = [
        event.action.phase for event in events if isinstance(event, ActionStarted) and isinstance(event.action, Ask)
    ]
    route = "autonomous route"
    assert asked == [route, "reason", "reason", route, "analyze", route, "synthesize"]
    said = {event.step.text for event in events if isinstance(event, StepEnded) and event.step.phase != route}
    assert said == {"", "sum", "ana", "FINAL"}
