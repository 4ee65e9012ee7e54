"""Checks 10 to 12, 16 to 18, 20 and 21: Verify and Managed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain.errors import BudgetExceeded
from brain.ledger import ContextCompaction
from brain.patterns import Managed, Verify
from brain.policy import Act
from brain.runtime import Hook
from brain.testing import ScriptedProvider, calls, says
from tests.patterns.checks.helpers import Tools, call, last_of, messages_of, notes, play, results_of, text_of


def test_check_10_verify_asks_once_for_plan_solution_and_check():
    """One request holds the whole of it."""
    result, model = play(lambda model: Verify(provider=model), ["PLAN: add. CHECK: ok. ANSWER: 4"])

    assert (result.ok, result.answer, len(model.requests)) == (True, "PLAN: add. CHECK: ok. ANSWER: 4", 1)
    said = last_of(model, 1).lower()
    assert all(word in said for word in ("task", "plan", "solve", "check"))


def test_check_11_verify_may_ask_six_times():
    """Six rounds of calls end with the limit."""
    tools = Tools()
    script = [call("look", k=str(number)) for number in range(6)]
    result, model = play(lambda model: Verify(tools.all, model), script)

    assert isinstance(result.exception, BudgetExceeded)
    assert (result.ok, len(model.requests), result.exception.value) == (False, 6, 6)


def test_check_12_managed_is_shown_question_facts_and_latest_exchange():
    """The ledger has one entry for each call; no other tool messages are sent."""
    tools = Tools()
    script = [call("look", k="a"), call("look", k="b"), call("look", k="a"), "ANSWER"]
    result, model = play(lambda model: Managed(tools.all, model), script, "What is a?")

    assert (result.answer, tools.looked) == ("ANSWER", ["a", "b", "a"])
    said, asked, answered = messages_of(model, 4)
    assert said["content"] == (
        "What is a?\n\n"
        "Facts gathered so far, one a line; the latest results follow below.\n"
        '1. look(k="a") -> val-a-3\n'
        '2. look(k="b") -> val-b-2'
    )
    assert asked["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"k": "a"}'}
    assert (answered["role"], answered["content"]) == ("tool", "val-a-3")


def reusing(**options: Any) -> ContextCompaction:
    return ContextCompaction(reuse_results=["look"], **options)


def test_check_16_a_repeated_lookup_is_answered_from_the_ledger():
    """Where the tool's results are reused: it runs twice for three calls, and the trace says so."""
    tools = Tools()
    script = [call("look", k="a"), call("look", k="b"), call("look", k="a"), "ANSWER"]
    result, model = play(lambda model: Managed(tools.all, model, context_compaction=reusing()), script)

    assert tools.looked == ["a", "b"]
    assert results_of(model, 4) == results_of(model, 2) == ["val-a-1"]
    assert notes(result, "reused") == ["look: an earlier result of the same call"]


def test_check_17_a_lookup_asked_twice_in_one_turn_runs_once():
    """Both calls have the one result."""
    tools = Tools()
    turn = says("", calls("look", k="a"), calls("look", k="a"))
    _, model = play(lambda model: Managed(tools.all, model, context_compaction=reusing()), [turn, "ANSWER"])

    assert tools.looked == ["a"]
    assert results_of(model, 2) == ["val-a-1", "val-a-1"]


class Lowercase(Hook):
    """Puts arguments into one form before they are used."""

    def pre_tool_call(self, action: Act) -> Act:
        return replace(action, input={"k": str(action.input["k"]).lower()})


def test_check_18_a_hook_that_changes_arguments_does_not_defeat_reuse():
    """What the model asked for is what is remembered."""
    tools = Tools()
    script = [call("look", k="A"), call("look", k="A"), "ANSWER"]
    make = lambda model: Managed(tools.all, model, context_compaction=reusing())  # noqa: E731
    _, model = play(make, script, hooks=[Lowercase()])

    assert tools.looked == ["a"]
    assert results_of(model, 3) == ["val-a-1"]


def test_check_20_without_compaction_managed_sends_the_transcript():
    """The baseline to measure against."""
    tools = Tools()
    script = [call("look", k="a"), call("look", k="b"), "ANSWER"]
    off = ContextCompaction(enabled=False)
    _, model = play(lambda model: Managed(tools.all, model, context_compaction=off), script)

    assert [each["role"] for each in messages_of(model, 3)] == ["user", *["assistant", "tool"] * 2]
    assert results_of(model, 3) == ["val-a-1", "val-b-2"]
    assert "Facts" not in text_of(model, 3)


def test_check_21_a_hundred_and_fifty_facts_are_all_listed():
    """None is lost to a cap on messages."""
    tools = Tools()
    script = [*(call("look", k=f"key{number}") for number in range(150)), "ANSWER"]
    result, model = play(lambda model: Managed(tools.all, model, max_node_iterations=151), script)

    assert result.ok
    said = text_of(model, 151)
    assert [
        number for number in range(150) if f'look(k="key{number}") -> val-key{number}-{number + 1}' not in said
    ] == []


def sent(compaction: ContextCompaction, steps: int) -> list[int]:
    """Return the characters of each request of a run whose tool returns 2,400 characters each time."""
    model = ScriptedProvider([*(call("read", n=number) for number in range(steps)), "ANSWER"])
    tools = {"read": lambda n: f"{n}:" + "x" * 2_400}
    assert Managed(tools, model, max_node_iterations=steps + 1, context_compaction=compaction).run("TASK").ok
    return [sum(len(str(each.get("content") or "")) for each in request.messages) for request in model.requests]


def test_a_managed_run_of_200_steps_sends_less_than_a_tenth_of_the_transcript():
    """Its requests stay bounded, so that the total grows linearly."""
    managed, plain = sent(ContextCompaction(), 200), sent(ContextCompaction(enabled=False), 200)

    assert sum(managed) * 10 < sum(plain)
    assert max(managed) <= 24_000, "about 6,000 tokens of four characters"


@pytest.mark.parametrize("scope", ["ledger", "auto"])
def test_facts_of_earlier_stages_and_their_texts_reach_a_ledger_stage(scope: str):
    """A stage that is shown facts misses nothing that was found or written before it."""
    from brain.graph import PromptGraph, PromptNode

    tools = Tools()
    graph = PromptGraph("two")
    graph.add_node(PromptNode("first", tools=tools.all))
    graph.add_node(PromptNode("second", "Go on.", tools=tools.all, context_scope=scope))
    graph.always("first", "second")
    graph.context_compaction = ContextCompaction(after_tool_results=2)
    model = ScriptedProvider([call("look", k="a"), "the plan", call("look", k="b"), "done"])

    assert graph.run("TASK", provider=model).answer == "done"
    said = text_of(model, 4)
    assert "the plan" in said
    assert "val-a-1" in said
    assert "val-b-2" in said
    assert [each["role"] for each in messages_of(model, 4)] == ["user", "assistant", "tool"]
