"""Approval: a tool runs exactly when it was allowed, wherever the call comes from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from brain.errors import ConfigurationError, HookError, PolicyDenied
from brain.patterns import BasePattern, CodeAction, MultiAgentOrchestrator, React, ReActAgent
from brain.policy import Act, Finish, Policy, act, together
from brain.runtime import ApprovalGate, Approve, Deny, Journal
from brain.testing import ScriptedProvider, calls, says
from brain.types import Observation, PatternResult

ran: list[Any] = []


def drop(table: str) -> str:
    """Drop a table."""
    ran.append(table)
    return f"dropped {table}"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


PROGRAM = "```python\nfinal_answer(drop(table='users'))\n```"
LOOK = "Action: drop\nAction Input: users"


def team(messages: Any, **_: Any) -> str:
    """Speak for the orchestrator, which gives out one subtask, and for its worker, which calls the tool."""
    text = messages[-1]["content"]
    if "Reply with one JSON object" in text:
        return '{"assignments": []}' if "- one: s" in text else '{"assignments": [{"worker": "one", "subtask": "s"}]}'
    if "Answer the task from" in text:
        return "done"
    return "Final Answer: w" if "Observation" in text else LOOK


MAKERS: dict[str, Callable[[], BasePattern]] = {
    "react": lambda: ReActAgent({"drop": drop}, ScriptedProvider([LOOK, "Final Answer: done"])),
    "graph": lambda: React({"drop": drop}, ScriptedProvider([says("", calls("drop", table="users")), "done"])),
    "sub-agent": lambda: MultiAgentOrchestrator({"one": ReActAgent({"drop": drop})}, ScriptedProvider(team)),
    "program": lambda: CodeAction({"drop": drop}, ScriptedProvider([PROGRAM, PROGRAM]), max_repairs=0),
}


class Went:
    """A pattern whose model goes on from where it was: its provider is shared by the run and its resumption."""

    def __init__(self, name: str) -> None:
        self.pattern = MAKERS[name]()

    def run(self, gate: ApprovalGate) -> PatternResult:
        return self.pattern.run("t", hooks=[gate])

    def resume(self, half: PatternResult, gate: ApprovalGate, decision: Any) -> PatternResult:
        assert half.journal is not None
        read = Journal.from_lines(half.journal.to_lines())
        return self.pattern.resume(read, approve=decision, hooks=[gate])


every = pytest.mark.parametrize("name", MAKERS)


@every
def test_approved_it_runs_once(name: str) -> None:
    """The callable is given the call, with its arguments."""
    asked: list[Act] = []

    def ask(call: Act) -> bool:
        asked.append(call)
        return True

    result = Went(name).run(ApprovalGate(ask, tools=["drop"]))
    assert (result.ok, ran) == (True, ["users"])
    assert [call.tool for call in asked] == ["drop"]


@every
@pytest.mark.parametrize(
    "decision", [False, None, 1, "yes", "True", object(), {"approve": True}, Deny("no"), [True]], ids=repr
)
def test_anything_but_true_and_approve_denies(name: str, decision: Any) -> None:
    """A value that is merely truthy approves nothing."""
    result = Went(name).run(ApprovalGate(lambda call: decision, tools=["drop"]))
    assert ran == []
    assert not result.ok or name == "sub-agent"  # the orchestrator lives with a worker that failed


@every
def test_edited_arguments_are_what_the_tool_is_given(name: str) -> None:
    """The journal keeps what was wanted and what was done."""
    edited = "temp" if name in ("react", "sub-agent") else {"table": "temp"}
    result = Went(name).run(ApprovalGate(lambda call: Approve(edited), tools=["drop"]))
    assert (result.ok, ran) == (True, ["temp"])


@every
def test_without_a_decision_in_time_it_is_denied(name: str) -> None:
    """A decision that comes later changes nothing."""
    late = threading.Event()

    def slow(call: Act) -> bool:
        late.wait(20)
        return True

    result = Went(name).run(ApprovalGate(slow, tools=["drop"], timeout=0.02))
    late.set()
    assert ran == []
    assert not result.ok or name == "sub-agent"
    if name == "react":
        assert "drop was not approved: no decision within 0.02 seconds" in (result.error or "")
        assert isinstance(result.exception, PolicyDenied)


@every
def test_without_a_callable_the_run_stops_and_goes_on_with_a_decision(name: str) -> None:
    """Interrupted before the call, resumed from the written journal: approved, edited, answered or denied."""
    gate = ApprovalGate(tools=["drop"])
    for decision, expected in (
        (True, ["users"]),
        (Approve("temp" if name in ("react", "sub-agent") else {"table": "temp"}), ["temp"]),
        (Observation("as if"), []),
        (Deny("never"), []),
        ("yes", []),
    ):
        ran.clear()
        went = Went(name)
        half = went.run(gate)
        assert (half.ok, half.state, ran) == (False, "INTERRUPTED", [])
        assert "approve act" in (half.error or "")
        whole = went.resume(half, gate, decision)
        assert (ran, whole.state) == (expected, "TERMINATED")
        if decision is True:
            assert whole.ok


@every
def test_resumed_without_a_decision_it_asks_again(name: str) -> None:
    """Nothing is approved by accident."""
    gate = ApprovalGate(tools=["drop"])
    went = Went(name)
    half = went.run(gate)
    assert half.journal is not None
    again = went.pattern.resume(half.journal, hooks=[gate])
    assert (again.state, ran) == ("INTERRUPTED", [])


def test_a_program_itself_is_asked_about_and_its_calls_one_by_one() -> None:
    """What was let through and what was called before an interruption is neither asked nor called again."""
    program = "```python\na = drop(table='a')\nb = drop(table='b')\nfinal_answer(a + ' ' + b)\n```"
    pattern = CodeAction({"drop": drop}, ScriptedProvider([program]))
    gate, questions = ApprovalGate(), []
    result = pattern.run("t", hooks=[gate])
    while result.state == "INTERRUPTED":
        questions.append((result.error or "").replace("(run) ", ""))
        assert result.journal is not None
        assert len(questions) < 9
        result = pattern.resume(Journal.from_lines(result.journal.to_lines()), approve=True, hooks=[gate])
    assert [question.split("(")[0].split()[-1] for question in questions] == ["program", "drop", "drop"]
    assert (ran, result.answer) == (["a", "b"], "dropped a dropped b")


def test_in_a_batch_on_threads_each_call_is_asked_about_once() -> None:
    """What comes before the question in the batch is done; the rest waits."""

    def one(table: str) -> Policy[str]:
        return str((yield from act("drop", table)))

    class Both(BasePattern):
        def policy(self, task: str) -> Policy[Finish]:
            return Finish(" ".join((yield from together(one("a"), one("b"), one("c")))))

    pattern, gate = Both({"drop": drop}, ScriptedProvider([])), ApprovalGate()
    result, asked = pattern.run("t", hooks=[gate], max_workers=3), 0
    while result.state == "INTERRUPTED":
        asked += 1
        assert asked < 9
        assert result.journal is not None
        result = pattern.resume(result.journal, approve=True, hooks=[gate], max_workers=3)
    assert (asked, ran, result.answer) == (3, ["a", "b", "c"], "dropped a dropped b dropped c")


def test_a_decision_is_about_one_call() -> None:
    """The same call a second time is a new question."""
    pattern = ReActAgent({"drop": drop}, ScriptedProvider([LOOK, LOOK, "Final Answer: done"]))
    gate = ApprovalGate()
    half = pattern.run("t", hooks=[gate])
    assert half.journal is not None
    again = pattern.resume(half.journal, approve=True, hooks=[gate])
    assert (again.state, ran) == ("INTERRUPTED", ["users"])


def test_a_decision_that_nobody_asked_for_is_a_mistake() -> None:
    """Also when the gate was left out of the resumption: the call is not made unasked."""
    went = Went("react")
    half = went.run(ApprovalGate())
    assert half.journal is not None
    with pytest.raises(ConfigurationError, match="none of the hooks asks; pass the ApprovalGate"):
        went.pattern.resume(half.journal, approve=True)
    whole = Went("react").run(ApprovalGate(lambda call: True))
    assert whole.journal is not None
    with pytest.raises(ConfigurationError, match="was not interrupted to ask"):
        went.pattern.resume(whole.journal, approve=True, hooks=[ApprovalGate()])


def test_a_callable_that_crashes_stops_the_run() -> None:
    """It fails closed, and is named; with a timeout too."""
    for timeout in (None, 5.0):
        gate = ApprovalGate(lambda call: 1 / 0, timeout=timeout)  # type: ignore[arg-type,return-value]
        result = Went("react").run(gate)
        assert (ran, type(result.exception)) == ([], HookError)
        assert "ApprovalGate.pre_tool_call raised ZeroDivisionError" in (result.error or "")


def test_a_gate_is_asked_about_the_tools_it_is_for() -> None:
    """By name, or by a callable on the call."""
    for tools in ([], ["other"], lambda call: False):
        assert Went("react").run(ApprovalGate(tools=tools)).ok  # type: ignore[arg-type]
    assert ran == ["users"] * 3
    assert not Went("react").run(ApprovalGate(lambda call: False, tools=lambda call: True)).ok


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ask": 3}, "ask must be callable"),
        ({"tools": "drop"}, r"write \['drop'\]"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"timeout": True}, "timeout must be"),
    ],
)
def test_mistakes_are_told_at_once(options: dict[str, Any], said: str) -> None:
    """Before any run."""
    with pytest.raises(ConfigurationError, match=said):
        ApprovalGate(**options)
