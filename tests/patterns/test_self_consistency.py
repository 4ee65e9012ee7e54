"""Self-consistency: several samples, and a vote."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.patterns import ReActAgent, SelfConsistency
from brain.patterns.self_consistency import chain_answer
from brain.policy import Note
from brain.testing import ScriptedProvider, fails, play, says


def test_the_answer_most_samples_agree_on_wins() -> None:
    """In any spelling; each sample is asked the same and sees no other."""
    talk = play(
        SelfConsistency(samples=5), "6 * 7?", ["So\nAnswer: 42", "Answer: 41", "Answer: 42.", "hm", "answer: 41"]
    )
    assert talk.result.answer == "42"
    assert len({str(list(each)) for each in talk.asked}) == 1
    assert [step.phase for step in talk.result.steps] == [f"sample {number}" for number in range(1, 6)]
    votes = [each.action.text for each in talk.result.journal or () if isinstance(each.action, Note)]
    assert votes == ["2 for '42', 2 for '41' of 5 samples"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Let me see.\nAnswer: 42", "42"),
        ("**Answer:** 42", "42"),
        ("Answer: 1\nNo.\nFinal answer: 2", "2"),
        ("The answer is: Lyon.", "Lyon."),
        ("the answer is 42", ""),
        ("An answer: maybe", ""),
        ("Answer:", ""),
        ("", ""),
    ],
)
def test_the_answer_of_a_chain_is_read(text: str, answer: str) -> None:
    """The last line with the label counts."""
    assert chain_answer(text) == answer


def test_a_sample_that_fails_casts_no_vote() -> None:
    """When all fail, the run has failed and says why."""
    script = [fails(ProviderError("busy")), says("Answer: 1", finish_reason="length"), "Answer: 2"]
    assert play(SelfConsistency(samples=3), "t", script).result.answer == "2"
    result = play(SelfConsistency(samples=2), "t", [fails("busy"), fails("busy")]).result
    assert (result.ok, result.error) == (False, "none of 2 samples gave an answer; the last: busy")


def test_any_pattern_may_make_the_samples() -> None:
    """Its tools are the run's; with tools alone, it is ReAct."""
    tools = {"look": lambda text: "4"}
    look, final = "Action: look\nAction Input: a", "Final Answer: 4"
    for agent in (SelfConsistency(ReActAgent(tools), samples=2), SelfConsistency(tools=tools, samples=2)):
        result = agent.with_provider(ScriptedProvider([look, look, final, final])).run("t")
        assert (result.answer, result.report.tool_calls) == ("4", 2)


def test_how_answers_are_compared_can_be_chosen() -> None:
    """Those of one key are one answer; the first spelling is given."""

    def number(answer: str) -> Any:
        return float(answer.replace(",", ""))

    script = ["Answer: 7", "Answer: 1,000", "Answer: 1000.0"]
    assert play(SelfConsistency(samples=3, key=number), "t", script).result.answer == "1,000"


def test_what_cannot_be_used_is_refused() -> None:
    """At once."""
    with pytest.raises(WrongType, match="sampler must be a pattern"):
        SelfConsistency(str)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="key must be callable"):
        SelfConsistency(key=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="samples must be at least 1"):
        SelfConsistency(samples=0)
    with pytest.raises(ConfigurationError, match="give them to yours"):
        SelfConsistency(ReActAgent(), tools={"a": str})
