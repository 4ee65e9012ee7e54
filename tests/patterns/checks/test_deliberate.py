"""Checks 74 to 77: Deliberate."""

from __future__ import annotations

from typing import Any

from brain.patterns import Deliberate
from tests.patterns.checks.helpers import Tools, call, last_of, messages_of, notes, obj, play, text_of

PLAN = obj(subgoals=["find a"], quality_score=3)
DONE, ON, REPLAN = obj(route="answer"), obj(route="continue"), obj(route="replan")


def deliberate(script: list[Any], **options: Any) -> Any:
    tools = Tools()
    return play(lambda model: Deliberate(tools.all, model, **options), script)


def test_check_74_the_whole_way():
    """Six stages, the acting one in two rounds."""
    script = ["I think", PLAN, call("look", k="a"), "found a", "it shows a", DONE, "FINAL"]
    result, model = deliberate(script)

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["think", "plan", "act", "act", "observe", "reflect", "answer"]
    assert "I think" in last_of(model, 2)
    assert "it shows a" in last_of(model, 6)
    assert "it shows a" in last_of(model, 7)
    assert "val-a-1" in text_of(model, 7)


def test_check_75_every_stage_sees_the_system_prompt():
    """All six of them, first."""
    script = ["I think", PLAN, "found a", "it shows a", DONE, "FINAL"]
    _, model = deliberate(script, system_prompt="You are S.")

    first = {"role": "system", "content": "You are S.", "cache_stable": True}
    assert [messages_of(model, number)[0] for number in range(1, 7)] == [first] * 6


def test_check_76_a_route_where_none_is_declared_is_talk():
    """What observe says leads to reflect, whatever it is."""
    script = ["I think", PLAN, "found a", obj(route="answer", _next="answer"), DONE, "FINAL"]
    result, _ = deliberate(script)

    assert result.path == ["think", "plan", "act", "observe", "reflect", "answer"]


def test_check_77_reflection_chooses_its_way_four_times_at_most():
    """Replan leads to the planner, continue to the worker; the fifth time the answer is next."""
    script = ["I think", PLAN, "a", "o", REPLAN, PLAN, "a", "o", ON, *["a", "o", ON] * 2, "a", "o", "FINAL"]
    result, _ = deliberate(script)

    work = ["act", "observe"]
    assert result.path == [
        *["think", "plan", *work, "reflect"],
        *["plan", *work, "reflect"],
        *[*work, "reflect"] * 2,
        *work,
        "answer",
    ]
    assert notes(result, "spent") == ["reflect has used its budget; answer is next"]
    assert result.answer == "FINAL"
