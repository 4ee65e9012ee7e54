"""Checks 58 to 64: Research."""

from __future__ import annotations

from typing import Any

from brain.errors import ProviderError
from brain.graph import PromptBlock
from brain.patterns import Research
from brain.testing import calls, says
from tests.patterns.checks.helpers import Tools, call, last_of, messages_of, notes, obj, play, text_of

PASS = obj(passes=True, issues=[])


def fail(*issues: str) -> str:
    return obj(passes=False, issues=list(issues))


def research(script: list[Any], **options: Any) -> Any:
    tools = Tools()
    return play(lambda model: Research(tools.all, model, **options), script)


def test_check_58_findings_that_fail_are_searched_for_again():
    """The searcher sees the issues; the verdicts stay out of the conversation."""
    result, model = research(["f1", fail("i1"), "f2", PASS, "FINAL"])

    assert (result.ok, result.answer) == (True, "FINAL")
    assert result.path == ["search", "verify", "search", "verify", "synthesize"]
    assert "i1" in last_of(model, 3)
    assert [each["content"] for each in messages_of(model, 5)[:-1]] == ["TASK", "f1\n\nf2"]
    assert "passes" not in "".join(str(each["content"]) for each in messages_of(model, 5)[:-1])


def test_check_59_after_the_last_check_the_answer_is_written_with_its_issues():
    """Two checks, no third."""
    result, model = research(["f1", fail("i1"), "f2", fail("i2"), "f3", "FINAL"], max_verify_rounds=2)

    assert (result.answer, result.path.count("verify"), result.path[-1]) == ("FINAL", 2, "synthesize")
    assert "i2" in last_of(model, 6)


def test_check_60_without_checks_and_out_of_steps():
    """Two requests without verify; two searches at most with ``max_search_steps=2``."""
    result, model = research(["f1", "FINAL"], verify=False)
    assert (result.path, len(model.requests)) == (["search", "synthesize"], 2)

    result, model = research([call("look", k="a"), call("look", k="b"), "FINAL"], max_search_steps=2)
    assert (result.answer, result.path) == ("FINAL", ["search", "search", "synthesize"])
    assert "val-b-2" in text_of(model, 3)


def test_check_61_a_verdict_in_prose_is_no_pass():
    """It is asked for again; still prose, it counts as not passed, and the trace says so."""
    result, model = research(["f1", "Looks fine to me.", "Really fine.", "f2", PASS, "FINAL"])

    assert result.path == ["search", "verify", "search", "verify", "synthesize"]
    assert "That cannot be used." in last_of(model, 3)
    (fallback,) = notes(result, "fallback")
    assert fallback.startswith("verify: No ResearchVerdict in two replies.")
    assert "The check could not be read." in last_of(model, 4)


def test_check_62_a_search_that_fails_fails_the_run():
    """It does not answer as if it had searched."""
    cause = OSError("down")
    result, model = research([cause])

    assert isinstance(result.exception, ProviderError)
    assert result.exception.__cause__ is cause
    assert (result.ok, result.answer, len(model.requests)) == (False, "", 1)
    assert str(result.error).startswith("Research, model call 1 (search): ")


def test_check_63_every_stage_sees_system_prompt_and_blocks():
    """First, in the same order, marked as the stable prefix."""
    blocks = [PromptBlock("tone", "Be kind."), "Be exact."]
    _, model = research(["f1", PASS, "FINAL"], system_prompt="You are S.", blocks=blocks)

    first = {"role": "system", "content": "You are S.\n\nBe kind.\n\nBe exact.", "cache_stable": True}
    assert [messages_of(model, number)[0] for number in (1, 2, 3)] == [first] * 3


def test_check_64_a_writer_that_keeps_calling_tools_has_them_withheld():
    """So that an answer is written in the end."""
    tools = Tools()
    script = ["f1", PASS, *[says("", calls("look", k="x"))] * 15, "FINAL"]
    result, model = play(lambda model: Research(None, model, synthesis_tools=[tools.look]), script)

    assert (result.ok, result.answer) == (True, "FINAL")
    assert [len(request.tools) for request in model.requests] == [0, 0, *[1] * 15, 0]
