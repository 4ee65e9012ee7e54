"""The contract: its lifecycle, its defaults, what it is told and what it is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from brain.contract import DPAction, DPContract, DPPhase, DPState, as_contract, follow
from brain.errors import ConfigurationError, PolicyDenied, PolicyError, ProviderError, WrongType
from brain.patterns.contracts import ContractPattern
from brain.policy import Act, Ask, Policy, act, ask
from brain.runtime import Hook
from brain.testing import ScriptedProvider
from brain.types import Observation, Reply


class SingleStepAnswer(DPContract):
    """The smallest contract: whatever the model says is the answer."""

    @property
    def dp_id(self) -> str:
        return "dp:single-step@v1"

    def start(self, context: dict[str, Any]) -> DPState:
        return DPState(current_phase=DPPhase.DECIDE, step_id=0, memory={})

    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        return DPAction(action_type="finalize", phase=DPPhase.FINALIZE)

    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:
        return state

    def should_continue(self, state: DPState) -> bool:
        return False


class Told(SingleStepAnswer):
    """Calls a tool once, and keeps a list of all that it is asked."""

    def __init__(self, log: list[Any], tool: str = "look", then: str = "done") -> None:
        self.log, self.tool, self.then = log, tool, then

    def __deepcopy__(self, memo: Any) -> Told:
        return type(self)(self.log, self.tool, self.then)

    def start(self, context: dict[str, Any]) -> DPState:
        self.log.append(("start", context))
        return DPState()

    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        self.log.append(("next_action", input_data))
        state.step_id += 1
        if state.step_id == 1:
            return DPAction("tool_call", tool=self.tool, tool_input="x")
        return DPAction("finalize", answer=self.then)

    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:
        self.log.append(("on_action_result", action.tool, str(result)))
        return state

    def on_tool_error(self, state: DPState, tool_name: str, error: str, available_tools: list[str]) -> DPState:
        self.log.append(("on_tool_error", tool_name, error, available_tools))
        return state

    def should_continue(self, state: DPState) -> bool:
        self.log.append(("should_continue", state.step_id))
        return True

    def close(self) -> None:
        self.log.append(("close",))


def run(contract: Any, replies: Iterable[Any] = ("hm",), hooks: Iterable[Hook] = (), **tools: Any) -> Any:
    return ContractPattern(contract, tools, ScriptedProvider(list(replies))).run("t", hooks=hooks)


def test_a_contract_without_state_or_messages_answers_with_the_model_s_text() -> None:
    """The smallest contract defines neither ``__init__`` nor ``messages``."""
    model = ScriptedProvider(["  Paris\n"])
    result = ContractPattern(SingleStepAnswer(), provider=model).run("Capital of France?")
    assert (result.ok, result.answer, result.error) == (True, "Paris", None)
    assert list(model.requests[0].messages) == [{"role": "user", "content": "Capital of France?"}]
    assert [step.phase for step in result.steps] == ["decide"]


def test_nothing_said_is_no_answer() -> None:
    """A finalize without an answer after an empty reply, or after a failure, is no success."""
    assert run(SingleStepAnswer(), [""]).error == (
        "dp:single-step@v1 ended without an answer, and nothing was said before"
    )


def test_the_methods_are_called_in_the_order_of_the_lifecycle() -> None:
    """start, next_action with the reply, on_action_result, should_continue, next_action with the observation."""
    log: list[Any] = []
    result = run(Told(log), look=str.upper)
    assert (result.ok, result.answer) == (True, "done")
    assert log == [
        ("start", {"task": "t", "tools": ["look"]}),
        ("next_action", Reply("hm")),
        ("on_action_result", "look", "X"),
        ("should_continue", 1),
        ("next_action", Observation("X", value="X")),
        ("close",),
    ]


def test_a_failed_tool_call_goes_to_on_tool_error_and_then_to_next_action() -> None:
    """The contract is told which tools there are, and sees the failed observation."""
    log: list[Any] = []
    run(Told(log, tool="fly"), look=str.upper)
    assert log[2] == ("on_tool_error", "fly", "Unknown tool 'fly'. Available: look", ["look"])
    assert log[4][1].kind == "unknown_tool"


class NoLooking(Hook):
    def pre_tool_call(self, action: Act) -> None:
        raise PolicyDenied("no looking today", contract_id="rule 7", reason="it is night", details={"until": 6})


def test_a_refusal_is_raised_unless_the_contract_takes_it_as_a_signal() -> None:
    """By default it ends the run with the refusal itself; a contract may go on instead."""
    result = run(Told([]), hooks=[NoLooking()], look=str.upper)
    assert (result.ok, type(result.exception), str(result.exception)) == (False, PolicyDenied, "no looking today")

    class GoesOn(Told):
        def on_policy_denial(
            self, state: DPState, contract_id: str, reason: str, denied_action: DPAction, details: dict[str, Any]
        ) -> DPState:
            self.log.append(("denied", contract_id, reason, denied_action.tool, details))
            return state

    log: list[Any] = []
    result = run(GoesOn(log), hooks=[NoLooking()], look=str.upper)
    assert (result.ok, result.answer) == (True, "done")
    assert log[2:5] == [
        ("denied", "rule 7", "it is night", "look", {"until": 6}),
        ("should_continue", 1),
        ("next_action", Observation("no looking today", ok=False, kind="failed")),
    ]


def test_a_failed_model_call_is_raised_unless_the_contract_has_a_way_around_it() -> None:
    """``on_failure`` sees every error; here the second try succeeds."""
    fire = ProviderError("on fire", kind="server")
    assert run(SingleStepAnswer(), [fire]).exception is fire

    class Again(SingleStepAnswer):
        def on_failure(self, state: DPState, action: DPAction, error: Exception) -> DPState:
            state.memory["failed"] = True
            return state

        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            again = state.memory.pop("failed", False)
            return DPAction("llm_call") if again else DPAction("finalize")

        def should_continue(self, state: DPState) -> bool:
            return True

    assert run(Again(), [fire, "ok"]).answer == "ok"


def test_a_contract_that_should_not_continue_ends_with_its_closing() -> None:
    """By default with what was learned last; a failure is no answer."""

    class Stops(Told):
        def should_continue(self, state: DPState) -> bool:
            return False

    assert run(Stops([]), look=str.upper).answer == "X"
    assert "ended on a failure" in run(Stops([], tool="fly")).error

    class Says(Stops):
        def closing(self, state: DPState, input_data: Any) -> DPAction:
            return DPAction("finalize", answer="half", ok=False, error="out of steps")

    result = run(Says([]), look=str.upper)
    assert (result.ok, result.answer, result.error) == (False, "half", "out of steps")


def test_protocol_lines_join_the_first_system_message_of_each_request() -> None:
    """They depend on the state, and never get into the history."""

    class Lines(Told):
        def protocol_lines(self, state: DPState) -> list[str]:
            return [f"step {state.step_id}", "be brief"]

        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            state.step_id += 1
            return DPAction("llm_call") if state.step_id == 1 else DPAction("finalize")

    for history, first in (([], "step {}\nbe brief"), ([{"role": "system", "content": "S"}], "S\n\nstep {}\nbe brief")):
        contract, model = Lines([]), ScriptedProvider(["a", "b"])
        contract.messages.extend(history)

        def made(contract: Any = contract) -> Any:
            return contract

        ContractPattern(made, provider=model).run("t")
        assert [request.messages[0]["content"] for request in model.requests] == [first.format(0), first.format(1)]
        assert contract.messages == [*history, {"role": "user", "content": "t"}]


def test_a_contract_is_told_the_task_and_the_names_of_the_tools_and_nothing_else() -> None:
    """No provider, tool, sandbox, hook, budget or journal is within its reach."""
    seen: list[Any] = []

    class Looks(SingleStepAnswer):
        def start(self, context: dict[str, Any]) -> DPState:
            seen.append(context)
            return DPState()

    context = {"task": "t", "tools": ["look"], "provider": object(), "session": "s", "sandbox": 1}
    policy = follow(Looks(), context)
    next(policy)
    policy.close()
    assert json.dumps(seen) == '[{"task": "t", "tools": ["look"]}]'
    assert not {"provider", "model", "sandbox", "session", "budget", "hooks"} & set(DPAction.__dataclass_fields__)


def test_a_contract_object_is_configuration_and_each_run_has_its_own() -> None:
    """Two runs of one object share no message and no memory; the object stays as it was."""

    class Counts(SingleStepAnswer):
        def start(self, context: dict[str, Any]) -> DPState:
            self.runs = getattr(self, "runs", 0) + 1
            return DPState(memory={"runs": self.runs})

        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            return DPAction("finalize", answer=str(state.memory["runs"]))

    contract, model = Counts(), ScriptedProvider(["a", "b"])
    pattern = ContractPattern(contract, provider=model)
    assert [pattern.run("KELPIE").answer, pattern.run("other").answer] == ["1", "1"]
    assert "KELPIE" not in str(model.requests[1].messages)
    assert vars(contract) == {}


def test_mistakes_of_a_contract_are_named() -> None:
    """Unknown kinds of action, no action at all, a tool call without a tool, a batch in a batch."""

    class Wants(SingleStepAnswer):
        def __init__(self, action: Any) -> None:
            self.action = action

        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            return self.action  # type: ignore[no-any-return]

    batch = DPAction("batch", actions=(DPAction("batch"),))
    for action, said in (
        (DPAction("fly"), "wants 'fly'; there are llm_call, tool_call"),
        ("fly", "returned 'fly' where a DPAction was expected"),
        (DPAction("tool_call"), "does not say which"),
        (batch, "a batch within a batch"),
    ):
        with pytest.raises(PolicyError, match=said):
            run(Wants(action))
    with pytest.raises(WrongType, match="must be a DPContract or make one, not str"):
        ContractPattern("x")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="cannot be copied for a run of its own"):
        ContractPattern(Wants(threading.Lock()))


def test_a_history_that_is_changed_later_does_not_change_what_was_sent() -> None:
    """The messages are the contract's own; requests are copies, and those that only grow share their storage."""

    class Edits(SingleStepAnswer):
        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            state.step_id += 1
            if state.step_id == 1:
                self.messages.append({"role": "assistant", "content": "a"})
                return DPAction("llm_call")
            if state.step_id == 2:
                self.messages[0]["content"] = "changed"
                return DPAction("llm_call")
            return DPAction("finalize")

        def should_continue(self, state: DPState) -> bool:
            return True

    model = ScriptedProvider(["1", "2", "3"])
    result = ContractPattern(Edits(), provider=model).run("t")
    assert [[each["content"] for each in request.messages] for request in model.requests] == [
        ["t"],
        ["t", "a"],
        ["changed", "a"],
    ]
    storages = [entry.action.messages.storage for entry in result.journal or () if isinstance(entry.action, Ask)]
    assert storages[0] == storages[1] != storages[2]


def test_a_batch_is_performed_and_heard_of_as_one() -> None:
    """What failed stands as an error in its place."""

    class Both(SingleStepAnswer):
        def next_action(self, state: DPState, input_data: Any) -> DPAction:
            if isinstance(input_data, tuple):
                return DPAction("finalize", answer=" ".join(str(each) for each in input_data))
            calls = tuple(DPAction("tool_call", tool="look", tool_input=each) for each in "ab")
            return DPAction("batch", actions=calls)

        def should_continue(self, state: DPState) -> bool:
            return True

    assert run(Both(), look=str.upper).answer == "A B"


def test_the_page_s_table_of_correspondences_holds() -> None:
    """Each operation of a contract is called right after the chokepoint that the page names for it."""
    log: list[Any] = []

    class Points(Hook):
        def pre_execution(self, pattern: str, task: str) -> None:
            log.append("pre_execution")

        def post_llm_call(self, action: Ask, reply: Reply) -> None:
            log.append("post_llm_call")

        def post_tool_call(self, action: Act, observation: Observation) -> None:
            log.append("post_tool_call")

        def tool_call_error(self, action: Act, observation: Observation) -> None:
            log.append("tool_call_error")

        def governance_denied(self, action: Any, denial: Exception) -> None:
            log.append("governance_denied")

    class Names(Told):
        def on_policy_denial(self, state: DPState, *_: Any) -> DPState:
            self.log.append(("on_policy_denial",))
            return state

    def names() -> list[str]:
        return [each if isinstance(each, str) else each[0] for each in log]

    run(Names(log), hooks=[Points()], look=str.upper)
    assert sorted(names()[:2]) == ["pre_execution", "start"]
    assert names()[2:] == [
        *["post_llm_call", "next_action", "post_tool_call", "on_action_result", "should_continue"],
        *["next_action", "close"],
    ]
    log.clear()
    run(Names(log, tool="fly"), hooks=[Points()], look=str.upper)
    assert names()[4:7] == ["tool_call_error", "on_tool_error", "should_continue"]
    log.clear()
    run(Names(log), hooks=[Points(), NoLooking()], look=str.upper)
    assert names()[4:7] == ["governance_denied", "on_policy_denial", "should_continue"]


def test_any_policy_can_be_made_a_contract() -> None:
    """A function that returns a policy is enough; its phases and steps show in the state."""

    def thinks(task: str) -> Policy[str]:
        reply = yield from ask([{"role": "user", "content": task}], phase="plan")
        seen = yield from act("look", reply.text)
        return f"{task} {seen}"

    contract = as_contract(thinks)
    assert contract.dp_id == "thinks"
    state = contract.start({"task": "t", "tools": []})
    first = contract.opening(state)
    assert (first.action_type, first.label, state.step_id) == ("llm_call", "plan", 1)
    call = contract.next_action(state, Reply("r"))
    assert (call.action_type, call.tool, call.tool_input, state.step_id) == ("tool_call", "look", "r", 2)
    end = contract.next_action(state, Observation("o"))
    assert (end.action_type, end.answer, state.current_phase) == ("finalize", "t o", DPPhase.FINALIZE)
    with pytest.raises(PolicyError, match="int has no policy"):
        as_contract(3)
