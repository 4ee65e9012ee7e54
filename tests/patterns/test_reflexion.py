"""Reflexion: an attempt, a verdict, a lesson, and another attempt."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import ConfigurationError, WrongType
from brain.patterns import ReActAgent, Reflexion
from brain.patterns.reflexion import Evaluation
from brain.policy import act
from brain.runtime.governors import Limits
from brain.testing import ScriptedProvider, play, returns, says

TOOLS = {"look": lambda text: f"saw {text}"}
LOOK = "Thought: t\nAction: look\nAction Input: a"


def is_b(task: str, answer: str) -> bool:
    return answer == "b"


def test_a_lesson_is_given_to_the_next_attempt() -> None:
    """The reflection sees the attempt, its answer and the verdict; the next attempt sees the reflection."""
    talk = play(
        Reflexion(ReActAgent(TOOLS), evaluator=lambda _, answer: (answer == "b", "not b")),
        "Find it.",
        [LOOK, returns("saw a"), "Final Answer: a", "I looked\nin the wrong place.", "Final Answer: b"],
    )
    assert (talk.result.ok, talk.result.answer) == (True, "b")
    assert talk.asked[0][1]["content"] == "Find it."
    reflecting = talk.asked[2][0]["content"]
    assert LOOK in reflecting
    assert "Observation: look(a): saw a" in reflecting
    assert "Its answer: a\nThe verdict: not b" in reflecting
    assert talk.asked[3][1]["content"].startswith("Find it.\n\nYou have attempted this before")
    assert talk.asked[3][1]["content"].endswith("\n- I looked in the wrong place.")
    assert [step.agent for step in talk.result.steps] == ["actor", "actor", "", "actor"]
    assert talk.result.path == ["trial 1", "trial 2"]


def test_the_default_actor_sees_the_system_prompt() -> None:
    """Before the protocol that it speaks."""
    talk = play(Reflexion(tools=TOOLS, evaluator=is_b, system_prompt="Be brief."), "t", ["Final Answer: b"])
    prompt = talk.asked[0][0]["content"]
    assert prompt.startswith("Be brief.\n\n")
    assert "Tools you may use: look" in prompt


def test_memory_is_bounded_and_may_come_from_an_earlier_run() -> None:
    """The latest reflections are kept."""
    script = ["Final Answer: a", "second", "Final Answer: a", "third", "Final Answer: b"]
    talk = play(Reflexion(evaluator=is_b, memory_size=2, reflections=["zeroth", "first"]), "t", script)
    assert talk.asked[0][1]["content"].endswith("\n- zeroth\n- first")
    assert talk.asked[2][1]["content"].endswith(":\n- first\n- second")
    assert talk.asked[4][1]["content"].endswith(":\n- second\n- third")


def test_when_no_attempt_passes_the_run_has_failed() -> None:
    """The last answer is shown, and that it did not pass; nothing is written down after the last attempt."""
    result = play(Reflexion(evaluator=is_b, max_trials=2), "t", ["Final Answer: a", "l", "Final Answer: c"]).result
    assert (result.ok, result.answer, result.error) == (False, "c", "none of 2 trials passed")


def test_an_attempt_without_an_answer_is_never_judged() -> None:
    """It has failed, the evaluator is not asked, and its last text is not the answer."""
    asked: list[str] = []
    agent = Reflexion(
        ReActAgent(TOOLS, max_steps=1), evaluator=lambda _, answer: asked.append(answer) or True, max_trials=1
    )
    result = play(agent, "t", [LOOK, returns("saw a")]).result
    assert (result.ok, result.answer, asked) == (False, "", [])
    assert "max_steps reached" in (result.error or "")


def test_the_model_judges_where_no_evaluator_is_given() -> None:
    """A verdict that cannot be read, twice, has not passed."""
    yes, no = '{"passes": true}', '{"passes": false, "feedback": "too short"}'
    talk = play(Reflexion(), "t", ["Final Answer: a", no, "lesson", "Final Answer: b", yes])
    assert talk.result.answer == "b"
    assert "Answer: a" in talk.asked[1][0]["content"]
    assert "The verdict: too short" in talk.asked[2][0]["content"]
    unread = play(Reflexion(max_trials=1), "t", ["Final Answer: a", "fine!", "really fine!"]).result
    assert (unread.ok, unread.answer) == (False, "a")


def test_an_evaluator_may_be_a_policy() -> None:
    """What it does is part of the run: it calls a tool, is recorded, and not done again on replay."""

    def tested(task: str, answer: str) -> Any:
        seen = yield from act("look", answer)
        return Evaluation(seen.text == "saw b", seen.text)

    model = ScriptedProvider(["Final Answer: a", "lesson", "Final Answer: b"])
    result = Reflexion(ReActAgent(TOOLS), model, evaluator=tested).run("t")
    assert (result.answer, result.report.tool_calls) == ("b", 2)


def test_a_shared_budget_ends_the_run() -> None:
    """What the actor uses counts."""
    model = ScriptedProvider(["Final Answer: a", "lesson", "Final Answer: a"])
    result = Reflexion(provider=model, evaluator=is_b).run("t", hooks=[Limits(model_calls=2)])
    assert not result.ok
    assert "model_calls=2 is used up" in (result.error or "")


def test_the_end_of_a_long_attempt_is_what_the_reflection_sees() -> None:
    """At most ``trajectory_chars`` of it."""
    script = [says("Final Answer: " + "x" * 500 + "END"), "lesson", "Final Answer: b"]
    talk = play(Reflexion(evaluator=is_b, trajectory_chars=50), "t", script)
    assert f"The attempt:\n{'x' * 47}END\n" in talk.asked[1][0]["content"]


def test_what_cannot_be_used_is_refused() -> None:
    """At once, or, for what an evaluator returns, when it does."""
    with pytest.raises(WrongType, match="actor must be a pattern, not str"):
        Reflexion("react")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="give them to the actor"):
        Reflexion(ReActAgent(), tools=TOOLS)
    with pytest.raises(WrongType, match="evaluator must be callable"):
        Reflexion(evaluator=True)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="max_trials must be at least 1"):
        Reflexion(max_trials=0)
    with pytest.raises(WrongType, match=r"must return a bool, \(bool, str\) or Evaluation, not 0.7"):
        Reflexion(provider=ScriptedProvider(["Final Answer: a"]), evaluator=lambda *_: 0.7).run("t")
