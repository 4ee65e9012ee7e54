"""Limits of cost, policies about tools, loops, redaction: each refuses before anything is done."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import BudgetExceeded, ConfigurationError, HookError, PolicyDenied
from brain.patterns import CodeAction, ReActAgent
from brain.policy import Act
from brain.providers import cost
from brain.runtime import Journal, Limits, LoopGuard, Redactor, ToolPolicy
from brain.testing import ScriptedProvider
from brain.types import PatternResult, Reply, Usage

ran: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def read(path: str, limit: int = 1) -> str:
    """Read a file."""
    ran.append((path, limit))
    return f"{path}: api_key=qx-key-123456789"


def went(*lines: Any, hooks: list[Any]) -> PatternResult:
    return ReActAgent({"read": read}, ScriptedProvider([*lines, "Final Answer: done"])).run("t", hooks=hooks)


READ = 'Action: read\nAction Input: {"path": "/tmp/a", "limit": 2}'


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        (ToolPolicy(allow=["read"]), True),
        (ToolPolicy(allow=[]), False),
        (ToolPolicy(allow=["read"], deny=["read"]), False),
        (ToolPolicy(deny=["write"]), True),
        (ToolPolicy(when={"read": lambda given: given["path"].startswith("/tmp/")}), True),
        (ToolPolicy(when={"read": lambda given: given["limit"] < 2}), False),
        (ToolPolicy(when={"read": lambda given: 1}), False),
        (ToolPolicy(when={"read": lambda given: None}), False),
        (ToolPolicy(when={"write": lambda given: False}), True),
    ],
)
def test_a_tool_policy_lets_through_what_it_allows(policy: ToolPolicy, allowed: bool) -> None:
    """A denial beats an allowance; a predicate must return True."""
    result = went(READ, hooks=[policy])
    assert (result.ok, bool(ran)) == (allowed, allowed)
    if not allowed:
        assert isinstance(result.exception, PolicyDenied)
        assert result.exception.contract_id == "tool-policy"
        assert result.exception.denied_action.tool == "read"


def test_a_predicate_may_say_why_not_and_fails_closed() -> None:
    """A text is the reason; a crash stops the run and names the hook."""
    said = went(READ, hooks=[ToolPolicy(when={"read": lambda given: "outside of the project"})])
    assert said.error == "ReActAgent: outside of the project"
    crashed = went(READ, hooks=[ToolPolicy(when={"read": lambda given: given["nothing"]})])
    assert isinstance(crashed.exception, HookError)
    assert ran == []


def test_a_tool_policy_governs_programs_and_their_calls() -> None:
    """A program is a call of the tool ``program``; the tools it calls are looked at one by one."""
    program = "```python\nfinal_answer(read(path='a'))\n```"
    for policy, ok in (
        (ToolPolicy(allow=["read"]), False),
        (ToolPolicy(allow=["program"]), False),
        (ToolPolicy(allow=["program", "read"]), True),
    ):
        ran.clear()
        pattern = CodeAction({"read": read}, ScriptedProvider([program]), max_repairs=0)
        assert (pattern.run("t", hooks=[policy]).ok, bool(ran)) == (ok, ok)


def test_a_loop_guard_refuses_the_same_call_with_the_same_result() -> None:
    """Three times by default; another argument, or another result, begins a new count."""
    same, other = 'Action: read\nAction Input: {"path": "a"}', 'Action: read\nAction Input: {"path": "b"}'
    result = went(same, same, other, same, same, hooks=[LoopGuard()])
    assert len(ran) == 4
    assert isinstance(result.exception, PolicyDenied)
    assert result.exception.contract_id == "loop-guard"
    assert "has come to the same result 3 times" in (result.error or "")
    results = iter("aabab")
    agent = ReActAgent({"read": lambda text: next(results)}, ScriptedProvider([same] * 5 + ["Final Answer: x"]))
    assert agent.run("t", hooks=[LoopGuard(2)]).ok is False
    results = iter("abab")
    agent = ReActAgent({"read": lambda text: next(results)}, ScriptedProvider([same] * 4 + ["Final Answer: x"]))
    assert agent.run("t", hooks=[LoopGuard(2)]).ok


def test_a_loop_guard_counts_each_run_for_itself_and_what_a_resumed_run_did_before() -> None:
    """One object serves many runs."""
    same, guard = 'Action: read\nAction Input: {"path": "a"}', LoopGuard(2)
    assert went(same, same, hooks=[guard]).ok
    whole = went(same, same, hooks=[guard])
    assert whole.ok
    assert whole.journal is not None
    agent = ReActAgent({"read": read}, ScriptedProvider([same]))
    half = Journal.from_lines(whole.journal.until(4).to_lines())
    assert isinstance(agent.resume(half, hooks=[guard]).exception, PolicyDenied)


def test_cost_is_limited_by_a_price_of_one_s_own() -> None:
    """Checked before each action; an unknown cost is more than any limit."""
    prices = {"m": {"input": 1.0, "output": 2.0}}

    def price(reply: Reply) -> float | None:
        return cost(reply.usage, reply.model, prices)

    def paid(text: str, tokens: int) -> Reply:
        return Reply(text, usage=Usage(tokens, 0), model="m")

    limits = Limits(cost=2.5, price=price)
    assert "Limits(cost=2.5)" in repr(limits)
    free = went(paid(READ, 1_000_000), paid("Final Answer: x", 2_000_000), hooks=[limits])
    assert (free.answer, free.warnings) == ("x", ["the run went over its limit of 2.5 cost: it took 3"])
    result = went(paid(READ, 1_000_000), paid(READ, 1_000_000), paid(READ, 1_000_000), hooks=[limits])
    assert isinstance(result.exception, BudgetExceeded)
    assert (result.exception.limit, result.exception.value, result.exception.pending) == ("cost", 2.5, ("read",))
    unknown = went(READ, hooks=[limits])
    assert "the cost of a call is not known" in (unknown.error or "")
    for options in ({"cost": 1}, {"price": price}, {"cost": 0, "price": price}, {"cost": True, "price": price}):
        with pytest.raises(ConfigurationError):
            Limits(**options)  # type: ignore[arg-type]


def test_a_redactor_masks_what_tools_return_before_the_model_is_told() -> None:
    """Text, value and traceback; further keys and texts by name."""
    model = ScriptedProvider(["Action: read\nAction Input: a", "Final Answer: x"])
    result = ReActAgent({"read": read}, model).run("t", hooks=[Redactor()])
    assert result.steps[0].observation == "a: api_key=[redacted]"
    assert "qx-key-123456789" not in str([request.messages for request in model.requests])
    assert "qx-key-123456789" not in str(list((result.journal or Journal()).to_lines()))
    model = ScriptedProvider(["Action: look\nAction Input: a", "Final Answer: x"])
    tools = {"look": lambda text: {"badge": "b-7", "note": "KELPIE sails"}}
    result = ReActAgent(tools, model).run("t", hooks=[Redactor(keys=["badge"], secrets=["KELPIE"])])
    assert "b-7" not in result.steps[0].observation
    assert "[redacted] sails" in result.steps[0].observation


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ToolPolicy(), "at least one of allow, deny, when"),
        (lambda: ToolPolicy(allow="read"), r"write \['read'\]"),
        (lambda: ToolPolicy(deny="read"), "deny must be names"),
        (lambda: ToolPolicy(when={"read": 3}), "must be callable"),  # type: ignore[dict-item]
        (lambda: LoopGuard(0), "times must be at least 1"),
    ],
)
def test_mistakes_are_told_at_once(make: Any, said: str) -> None:
    """Before any run."""
    with pytest.raises(ConfigurationError, match=said):
        make()


def test_a_denied_call_is_no_call() -> None:
    """The tool is not called, and the journal says who refused what."""
    result = went(READ, hooks=[ToolPolicy(deny=["read"])])
    assert result.journal is not None
    entry = result.journal[1]
    assert isinstance(entry.action, Act)
    assert isinstance(entry.outcome, PolicyDenied)
    assert (ran, entry.outcome.reason) == ([], "the tool read is not allowed")
