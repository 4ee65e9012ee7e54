"""Limits: counted for each run on its own, before each action; and hooks that have a state for each run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from brain.errors import BudgetExceeded, ConfigurationError, HookError
from brain.patterns import React, ReActAgent
from brain.policy import Ask
from brain.runtime import Hook, Limits
from brain.runtime.journal import Entry
from brain.testing import ScriptedProvider, calls, says
from brain.types import PatternResult, Usage


def look(k: str) -> str:
    return f"saw {k}"


def turn(k: str, **options: Any) -> Any:
    return says("", calls("look", k=k), **options)


def run(script: list[Any], *hooks: Hook) -> tuple[PatternResult, ScriptedProvider]:
    model = ScriptedProvider(script)
    return React([look], model).run("TASK", hooks=hooks), model


@pytest.mark.parametrize(
    ("limits", "pending", "asked"),
    [
        ({"model_calls": 2}, ("the model",), 2),
        ({"tool_calls": 1}, ("look",), 2),
        ({"tool_calls": 0}, ("look",), 1),
    ],
)
def test_a_limit_is_checked_before_the_action(limits: dict[str, Any], pending: tuple[str, ...], asked: int):
    """The error carries which limit, its value, and what was about to happen."""
    result, model = run([turn("a"), turn("b"), "ANSWER"], Limits(**limits))

    error = result.exception
    assert isinstance(error, BudgetExceeded)
    assert ({error.limit: error.value}, error.pending) == (limits, pending)
    assert (result.ok, result.answer, len(model.requests)) == (False, "", asked)


def test_a_run_within_its_limits_knows_nothing_of_them():
    """Exactly as many as are allowed."""
    result, _ = run([turn("a"), "ANSWER"], Limits(model_calls=2, tool_calls=1, tokens=1_000, seconds=60))
    assert (result.ok, result.answer, result.warnings) == (True, "ANSWER", [])


def test_seconds_are_counted_by_the_clock_given():
    """Each look at the clock is a second here: the start, the model, the tool, and no more."""
    now = iter(range(1_000))
    result, model = run([turn("a"), turn("b"), "ANSWER"], Limits(seconds=3, clock=lambda: next(now)))
    assert isinstance(result.exception, BudgetExceeded)
    assert (result.exception.limit, len(model.requests)) == ("seconds", 1)


def test_tokens_are_estimated_where_the_provider_tells_none():
    """Four characters are one, of all that was sent and said."""
    result, _ = run(["A" * 400], Limits(tokens=100))
    assert result.warnings == ["the run went over its limit of 100 tokens: it took 101"]
    result, _ = run(["A" * 396], Limits(tokens=100))
    assert result.warnings == []


def test_text_protocols_are_stopped_too():
    """What is pending is the tool about to be called."""
    script = [says("Action: look\nAction Input: a", usage=Usage(60, 60))]
    result = ReActAgent([look], ScriptedProvider(script)).run("TASK", hooks=[Limits(tokens=100)])
    assert isinstance(result.exception, BudgetExceeded)
    assert result.exception.pending == ("look",)


def test_calls_of_one_turn_are_counted_one_by_one():
    """Side by side as well."""
    both = says("", calls("look", k="a"), calls("look", k="b"))
    for workers in (1, 2):
        model = ScriptedProvider([both])
        result = React([look], model).run("TASK", hooks=[Limits(tool_calls=1)], max_workers=workers)
        assert isinstance(result.exception, BudgetExceeded)
        assert result.steps[0].observation == "saw a"


def test_one_object_counts_each_run_for_itself():
    """One after the other, and four at once."""
    limits = Limits(model_calls=2)
    agent = React([look], ScriptedProvider(lambda messages, **_: turn("a") if len(messages) == 1 else "ANSWER"))
    assert [agent.run("TASK", hooks=[limits]).ok for _ in range(3)] == [True] * 3

    results: list[PatternResult] = []
    threads = [threading.Thread(target=lambda: results.append(agent.run("TASK", hooks=[limits]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(each.ok, each.error) for each in results] == [(True, None)] * 4


def test_what_a_resumed_run_had_used_counts():
    """Two of three calls before the interruption leave one."""
    from brain.errors import Interrupt

    class Stop(Hook):
        def pre_llm_call(self, action: Ask) -> None:
            if len(action.messages) == 5:
                raise Interrupt

    script = [turn("a"), turn("b"), turn("c"), "ANSWER"]
    agent = React([look], ScriptedProvider(script))
    half = agent.run("TASK", hooks=[Limits(model_calls=3), Stop()])
    assert half.state == "INTERRUPTED"
    assert half.journal is not None
    rest = agent.resume(half.journal, hooks=[Limits(model_calls=3)])
    assert isinstance(rest.exception, BudgetExceeded)
    assert len([entry for entry in rest.journal or () if isinstance(entry.action, Ask) and entry.outcome]) == 4


class Counts(Hook):
    """Counts the model calls of its run."""

    def __init__(self) -> None:
        self.runs: list[Counts] = []
        self.count = 0

    def for_run(self, done: Sequence[Entry]) -> Hook:
        own = Counts()
        self.runs.append(own)
        return own

    def pre_llm_call(self, action: Ask) -> None:
        self.count += 1


def test_a_hook_may_have_an_object_for_each_run():
    """What one run does is not on the other's."""
    hook = Counts()
    run([turn("a"), "ANSWER"], hook)
    run(["ANSWER"], hook)
    assert (hook.count, [own.count for own in hook.runs]) == (0, [2, 1])


class Broken(Hook):
    def for_run(self, done: Sequence[Entry]) -> Hook:
        raise ValueError("kaput")


class Nothing(Hook):
    def for_run(self, done: Sequence[Entry]) -> Any:
        return None


@pytest.mark.parametrize("hook", [Broken(), Nothing()])
def test_a_hook_that_cannot_serve_a_run_stops_it(hook: Hook):
    """A guard that is not there guards nothing."""
    result, model = run(["ANSWER"], hook)
    assert isinstance(result.exception, HookError)
    assert type(hook).__name__ in str(result.error)
    assert (result.ok, model.requests) == (False, [])


@pytest.mark.parametrize(
    "limits", [{}, {"model_calls": 0}, {"tool_calls": -1}, {"tokens": 1.5}, {"seconds": 0}, {"seconds": "1"}]
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]):
    """At once, by name."""
    with pytest.raises(ConfigurationError, match=next(iter(limits), "at least one of")):
        Limits(**limits)


def test_limits_say_themselves():
    """Those that are given."""
    assert repr(Limits(3, tokens=5)) == "Limits(model_calls=3, tokens=5)"
