"""Checks 1 to 9 and 25: the native tool loop, through ``React``."""

from __future__ import annotations

import threading

import pytest

from brain.errors import BudgetExceeded, GraphExecutionError, ProviderError
from brain.patterns import React
from brain.testing import calls, says
from brain.tools import Tool
from brain.types import ToolCall
from tests.patterns.checks.helpers import Tools, call, messages_of, notes, play, results_of


def test_check_01_a_tool_is_called_and_its_result_answers():
    """One call, its result bound to it, the answer."""
    tools = Tools()
    result, model = play(lambda model: React(tools.all, model), [call("add", a=1, b=2), "3"])

    assert (result.ok, result.answer, len(model.requests)) == (True, "3", 2)
    asked, answered = messages_of(model, 2)[1:]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"]
    assert answered["content"] == "3"
    assert [step.action for step in result.steps] == ["add", None]


def test_check_02_each_call_of_a_turn_gets_its_own_result():
    """Unknown, failing, misfit and unreadable calls are told to the model; the run goes on."""
    tools = Tools()
    turn = says(
        "",
        calls("add", a=1, b=2),
        calls("addd", a=1, b=2),
        calls("boom"),
        calls("add", a="zzz", b=1),
        ToolCall("add", "{a:1", "raw"),
    )
    result, model = play(lambda model: React(tools.all, model), [turn, "done"])

    assert (result.ok, result.answer, tools.added) == (True, "done", [(1, 2)])
    asked = messages_of(model, 2)[1]
    answered = messages_of(model, 2)[2:]
    assert [each["id"] for each in asked["tool_calls"]] == [each["tool_call_id"] for each in answered]
    good, unknown, failed, misfit, unreadable = results_of(model, 2)
    assert good == "3"
    assert all(word in unknown for word in ("addd", "add, look, boom", "Did you mean 'add'?"))
    assert "ValueError" in failed
    assert "kaput" in failed
    assert "zzz" in misfit
    assert "parsing failed at character 1" in unreadable
    assert all(word in unreadable for word in ("required", "a", "b"))


def test_check_03_the_limit_of_requests_is_exact_and_gives_no_answer():
    """Two requests, then an error that carries the limit and what was pending."""
    tools = Tools()
    script = [call("look", k="a"), call("look", k="b"), call("look", k="c")]
    result, model = play(lambda model: React(tools.all, model, max_node_iterations=2), script)

    error = result.exception
    assert isinstance(error, BudgetExceeded)
    assert (error.limit, error.value, error.pending) == ("max_node_iterations", 2, ("look",))
    assert (result.ok, result.answer, len(model.requests), tools.looked) == (False, "", 2, ["a"])


def test_check_04_a_failing_provider_is_named_with_pattern_and_stage():
    """The error has the original as its cause."""
    cause = OSError("the line is dead")
    result, _ = play(React(provider=None).with_provider, [cause])

    assert isinstance(result.exception, ProviderError)
    assert result.exception.__cause__ is cause
    assert not result.ok
    assert result.error == "React, model call 1 (reason): OSError: the line is dead"


def test_check_05_an_empty_reply_is_no_answer():
    """It is asked for once more; then the run says that it was empty."""
    result, model = play(lambda model: React(provider=model), ["", " \n"])

    assert (result.ok, result.answer, len(model.requests)) == (False, "", 2)
    assert isinstance(result.exception, GraphExecutionError)
    assert "was empty" in str(result.error)
    assert notes(result, "repair") == ["reason: the reply was empty"]


def test_check_06_what_is_said_beside_a_call_comes_before_its_result():
    """The text stays in the conversation."""
    tools = Tools()
    _, model = play(lambda model: React(tools.all, model), [says("I will", calls("look", k="a")), "done"])

    assert [(each["role"], each["content"]) for each in messages_of(model, 2)] == [
        ("user", "TASK"),
        ("assistant", "I will"),
        ("tool", "val-a-1"),
    ]


def test_check_07_calls_that_share_an_id_get_results_of_their_own():
    """The ids are made different; each result bears that of its call."""
    tools = Tools()
    turn = says("", ToolCall("look", {"k": "a"}, "same"), ToolCall("look", {"k": "b"}, "same"))
    _, model = play(lambda model: React(tools.all, model), [turn, "done"])

    asked, first, second = messages_of(model, 2)[1:]
    ids = [each["id"] for each in asked["tool_calls"]]
    assert len(set(ids)) == 2
    assert [first["tool_call_id"], second["tool_call_id"]] == ids
    assert [first["content"], second["content"]] == ["val-a-1", "val-b-2"]


def test_check_08_a_tool_that_takes_too_long_is_given_up():
    """The model is told of the timeout, and the run goes on."""
    done = threading.Event()
    slow = Tool("slow", lambda: str(done.wait(30)), timeout=0.05)
    try:
        result, model = play(lambda model: React([slow], model), [call("slow"), "went on"])
    finally:
        done.set()

    assert (result.ok, result.answer) == (True, "went on")
    assert "timeout" in results_of(model, 2)[0]


def test_check_09_results_stand_in_the_order_of_the_calls():
    """Also when the second call ends first."""
    second_is_done = threading.Event()

    def first() -> str:
        assert second_is_done.wait(30)
        return "one"

    def second() -> str:
        second_is_done.set()
        return "two"

    turn = says("", calls("first"), calls("second"))
    _, model = play(lambda model: React([first, second], model), [turn, "done"], max_workers=2)

    assert results_of(model, 2) == ["one", "two"]


@pytest.mark.parametrize("results", [5, 6])
def test_check_25_react_shows_facts_from_the_sixth_result_on(results: int):
    """Five results are a transcript; with the sixth, the view is a ledger."""
    tools = Tools()
    script = [*(call("look", k=str(number)) for number in range(results)), "done"]
    _, model = play(lambda model: React(tools.all, model), script)

    roles = [message["role"] for message in messages_of(model, results + 1)]
    if results < 6:
        assert roles == ["user", *["assistant", "tool"] * 5]
    else:
        assert roles == ["user", "assistant", "tool"]
        assert '1. look(k="0") -> val-0-1' in str(messages_of(model, 7)[0]["content"])
