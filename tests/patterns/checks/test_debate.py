"""Checks 78 to 82: Debate."""

from __future__ import annotations

from typing import Any

import pytest

from brain.patterns import Debate
from brain.testing import ScriptedProvider
from tests.patterns.checks.helpers import last_of, notes, obj, play


def critique(severity: Any, *weaknesses: str) -> str:
    return obj(severity=severity, weaknesses=list(weaknesses), improvements=[])


def verdict(passes: Any, *issues: str) -> str:
    return obj(passes=passes, issues=list(issues))


def debate(script: list[Any], **options: Any) -> Any:
    return play(lambda model: Debate(provider=model, **options), script)


def test_check_78_severe_flaws_and_failed_verdicts_go_back_to_the_proposer():
    """Above 0.3 is severe, 0.3 is not; a revision sees what was held against the proposal."""
    script = ["p1", critique(0.9, "too vague"), "p2", critique(0.3, "a comma"), verdict(False, "no proof")]
    script += ["p3", critique(0.0), verdict(True), "FINAL"]
    result, model = debate(script)

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == [
        *["proposer", "critic", "proposer", "critic", "judge"],
        *["proposer", "critic", "judge", "answer"],
    ]
    assert "too vague" in last_of(model, 3)
    assert "a comma" in last_of(model, 6)
    assert "no proof" in last_of(model, 6)


def test_check_79_a_debate_without_end_ends_with_a_written_answer():
    """Critic and judge three times each."""

    def model(messages: Any, **_: Any) -> str:
        said = str(messages[-1]["content"])
        if '- "severity"' in said:
            return critique(0.9, "bad")
        if '- "passes"' in said:
            return verdict(False, "bad")
        return "FINAL" if "final answer" in said else "proposal"

    result = Debate(provider=ScriptedProvider(model)).run("TASK")

    assert (result.ok, result.answer, result.path[-1]) == (True, "FINAL", "answer")
    assert (result.path.count("critic"), result.path.count("judge")) == (3, 3)
    assert notes(result, "spent") == [
        *["critic has used its budget; judge is next"] * 4,
        "judge has used its budget; answer is next",
    ]


def test_check_80_a_proposer_out_of_steps_hands_over_with_the_critique():
    """The answer is written in its light."""
    result, model = debate(["p1", critique(0.9, "too vague"), "FINAL"], max_proposer_steps=1)

    assert (result.answer, result.path) == ("FINAL", ["proposer", "critic", "answer"])
    assert "too vague" in last_of(model, 3)


@pytest.mark.parametrize("severity", [7.5, "high", None, -0.1])
def test_check_81_a_severity_off_the_scale_is_asked_for_again(severity: Any):
    """It is not bent to fit; twice unreadable, it counts as severe."""
    result, model = debate(["p1", critique(severity), critique(0.1), verdict(True), "FINAL"])
    assert result.path == ["proposer", "critic", "judge", "answer"]
    assert "severity" in last_of(model, 3)
    assert "That cannot be used." in last_of(model, 3)

    result, _ = debate(["p1", critique(severity), critique(severity), "p2", critique(0), verdict(True), "FINAL"])
    assert result.path == ["proposer", "critic", "proposer", "critic", "judge", "answer"]
    assert len(notes(result, "fallback")) == 1


def test_check_81_a_verdict_in_quotes_is_asked_for_again():
    """``"false"`` is no truth value; twice unreadable, it counts as not passed."""
    start = ["p1", critique(0)]
    result, model = debate([*start, verdict("false"), verdict(True), "FINAL"])
    assert result.path == ["proposer", "critic", "judge", "answer"]
    assert "passes" in last_of(model, 4)
    assert "true or false, without quotes" in last_of(model, 4)

    result, _ = debate([*start, verdict("true"), verdict("true"), "p2", critique(0), verdict(True), "FINAL"])
    assert result.path == ["proposer", "critic", "judge", "proposer", "critic", "judge", "answer"]
    assert len(notes(result, "fallback")) == 1


def test_check_82_the_judge_sees_the_critique_of_the_latest_proposal_only():
    """An older one is not shown as if it still held."""
    script = ["p1", critique(0.9, "first flaw"), "p2", critique(0.2, "second flaw"), verdict(True), "FINAL"]
    _, model = debate(script)
    assert "second flaw" in last_of(model, 5)
    assert "first flaw" not in last_of(model, 5)

    script = ["p1", critique(0.9, "first flaw"), "p2", verdict(True), "FINAL"]
    _, model = debate(script, max_rounds=1)
    assert "first flaw" not in last_of(model, 4)
