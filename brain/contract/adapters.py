"""Between contracts and policies: ``follow`` makes a policy of a contract, ``as_contract`` a contract of a policy.

start -> the model is asked -> next_action -> the action is performed -> on_action_result,
on_tool_error or on_policy_denial -> should_continue -> next_action -> ...
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from brain.contract.contract import DPAction, DPContract, DPPhase, DPState
from brain.errors import BrainError, PolicyError
from brain.messages import Message, Transcript, user
from brain.policy import Act, Action, Ask, Batch, Execute, Finish, Note, Policy
from brain.types import Observation

__all__ = ["advanced", "as_contract", "follow"]


def follow(contract: DPContract, context: Mapping[str, Any]) -> Policy[Finish]:
    """Carry out a contract as a policy.

    Args:
        contract: the contract; a history that does not end with a user's message gets the task at its end.
        context: ``task`` and the names of the ``tools``; nothing else reaches the contract.
    """
    task, tools = str(context.get("task", "")), [str(name) for name in context.get("tools", ())]
    history = contract.messages
    if not history or history[-1].get("role") != "user":
        history.append(user(task))
    requests = Requests()
    try:
        state = contract.start({"task": task, "tools": list(tools)})
        action, first, data = _checked(contract, contract.opening(state)), True, None
        while action.action_type != "finalize":
            for remark in action.notes:
                yield remark
            try:
                data = yield _wanted(contract, state, action, requests)
            except BrainError as error:
                state = contract.on_failure(state, action, error)
                data = Observation(str(error), ok=False, kind="failed")
            else:
                if not first:
                    state = _learned(contract, state, action, data, tools)
            if not first and not contract.should_continue(state):
                action = _checked(contract, contract.closing(state, data))
                if action.action_type != "finalize":
                    raise PolicyError(f"{contract.dp_id}: closing must return a finalize, not {action.action_type!r}")
            else:
                action, first = _checked(contract, contract.next_action(state, data)), False
        for remark in action.notes:
            yield remark
        return _finish(contract, action, data)
    finally:
        contract.close()


def _learned(contract: DPContract, state: DPState, action: DPAction, data: Any, tools: list[str]) -> DPState:
    if isinstance(data, Observation) and not data.ok:
        return contract.on_tool_error(state, action.tool, data.text, list(tools))
    return contract.on_action_result(state, action, data)


def _checked(contract: DPContract, action: Any) -> DPAction:
    if not isinstance(action, DPAction):
        raise PolicyError(f"{contract.dp_id} returned {action!r:.200} where a DPAction was expected")
    return action


def _wanted(contract: DPContract, state: DPState, action: DPAction, requests: Requests) -> Action:
    """Return what a policy would yield for an action of a contract."""
    label = action.phase.value if action.label is None else action.label
    if action.action_type == "llm_call":
        given = contract.messages if action.messages is None else action.messages
        messages = requests.of(given, tuple(contract.protocol_lines(state)))
        choice = action.tool_choice if action.tool_choice is not None else "auto" if action.tools else "none"
        return Ask(messages, tuple(action.tools), choice, action.schema, label, action.agent, silent=action.silent)
    if action.action_type == "tool_call":
        if not action.tool or not isinstance(action.tool, str):
            raise PolicyError(f"{contract.dp_id} wants a tool called, but does not say which: {action!r:.200}")
        return Act(action.tool, action.tool_input, action.thought, action.id, label, action.agent)
    if action.action_type == "program":
        return Execute(action.program, action.timeout, action.max_tool_calls, label, action.agent)
    if action.action_type == "batch":
        parts = tuple(_wanted(contract, state, each, requests) for each in action.actions)
        work = tuple(each for each in parts if isinstance(each, Ask | Act | Execute))
        if len(work) == len(parts):
            return Batch(work)
        raise PolicyError(f"{contract.dp_id} wants a batch within a batch; list all actions in one")
    raise PolicyError(
        f"{contract.dp_id} wants {action.action_type!r}; there are llm_call, tool_call, program, batch and finalize"
    )


def _finish(contract: DPContract, action: DPAction, data: Any) -> Finish:
    if action.answer is not None or not action.ok:
        error = None if action.ok else action.error or f"{contract.dp_id} ended without success and did not say why"
        return Finish(action.answer or "", action.ok, error, action.thought)
    text = str(getattr(data, "text", "") or "").strip()
    if not text:
        return Finish("", ok=False, error=f"{contract.dp_id} ended without an answer, and nothing was said before")
    if not getattr(data, "ok", True):
        return Finish(text, ok=False, error=f"{contract.dp_id} ended on a failure: {text}")
    return Finish(text, thought=action.thought)


class Requests:
    """Makes transcripts of a history that its owner may change at will.

    As long as a history only grows, what is sent shares its storage, so each message is copied, hashed and
    journalled once. What was sent before does not change when the owner changes it.
    """

    def __init__(self) -> None:
        self._sent = Transcript()

    def of(self, messages: Iterable[Message], lines: tuple[str, ...] = ()) -> Transcript:
        """Return what is sent: the messages, with ``lines`` in the first system message."""
        if lines:
            messages = _instructed(list(messages), "\n".join(lines))
        elif isinstance(messages, Transcript):
            return messages
        listed = list(messages)
        before = self._sent
        if len(before) > len(listed) or before.to_list() != listed[: len(before)]:
            before = Transcript()
        self._sent = before + copy.deepcopy(listed[len(before) :])
        return self._sent


def _instructed(messages: list[Message], lines: str) -> list[Message]:
    for place, message in enumerate(messages):
        if message.get("role") == "system":
            messages[place] = {**message, "content": f"{message.get('content') or ''}\n\n{lines}".strip()}
            return messages
    return [{"role": "system", "content": lines}, *messages]


def as_contract(pattern: Any) -> DPContract:
    """Return a contract that reasons as a pattern does; ``follow`` of it makes the same run as the pattern.

    The state of the pattern stays in its generator; ``DPState`` tells the phase and the number of actions.

    Args:
        pattern: anything with ``policy(task)``, or a callable that returns a policy for a task.
    """
    make = getattr(pattern, "policy", pattern)
    if not callable(make):
        raise PolicyError(f"as_contract: {type(pattern).__name__} has no policy(task)")
    name = getattr(pattern, "name", None) or getattr(pattern, "__name__", type(pattern).__name__)
    return _PolicyContract(str(name), make)


class _PolicyContract(DPContract):
    """A policy behind the methods of a contract."""

    def __init__(self, name: str, make: Callable[[str], Policy[Any]]) -> None:
        self._name, self._make = name, make
        self._policy: Policy[Any] | None = None
        self._error: BrainError | None = None

    def __deepcopy__(self, memo: Any) -> _PolicyContract:
        return _PolicyContract(self._name, self._make)

    @property
    def dp_id(self) -> str:
        return self._name

    def start(self, context: dict[str, Any]) -> DPState:
        self._policy = self._make(context["task"])
        return DPState(DPPhase.DECIDE)

    def opening(self, state: DPState) -> DPAction:
        return self._following(state, None)

    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        return self._following(state, input_data)

    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:  # noqa: ARG002
        return state

    def on_failure(self, state: DPState, action: DPAction, error: BrainError) -> DPState:  # noqa: ARG002
        self._error = error
        return state

    def should_continue(self, state: DPState) -> bool:  # noqa: ARG002
        return True  # the policy says so itself, by its end

    def close(self) -> None:
        if self._policy is not None:
            self._policy.close()

    def _following(self, state: DPState, data: Any) -> DPAction:
        assert self._policy is not None, "start() comes first"
        error, self._error = self._error, None
        action, end, notes = advanced(self._name, self._policy, data if error is None else error)
        if action is None:
            end = Finish(end) if isinstance(end, str) else end
            if not isinstance(end, Finish):
                raise PolicyError(f"{self._name} returned {end!r:.200}: a policy returns Finish(answer) or a str")
            said: dict[str, Any] = {"answer": end.answer, "ok": end.ok, "error": end.error, "thought": end.thought}
            action = DPAction("finalize", DPPhase.FINALIZE, notes=notes, **said)
        state.current_phase, state.step_id = action.phase, state.step_id + 1
        return action


def advanced(name: str, policy: Policy[Any], data: Any) -> tuple[DPAction | None, Any, tuple[Note, ...]]:
    """Let a policy go on to its next action or its end.

    Args:
        name: the policy's name, for error messages.
        policy: the policy.
        data: what came of its last action; an error is thrown in.

    Returns:
        The action that stands for what it wants, with the notes before it; or ``None``, its result, and its last notes.
    """
    notes: list[Note] = []
    resume: Callable[[Any], Any] = policy.throw if isinstance(data, BrainError) else policy.send
    try:
        wanted = resume(data)
        while isinstance(wanted, Note):
            notes.append(wanted)
            wanted = policy.send(None)
    except StopIteration as stop:
        return None, stop.value, tuple(notes)
    return _described(name, wanted, tuple(notes)), None, ()


def _described(name: str, wanted: Any, notes: tuple[Note, ...] = ()) -> DPAction:
    """Return the action of a contract that stands for one of a policy."""
    if isinstance(wanted, Batch):
        return DPAction("batch", actions=tuple(_described(name, each) for each in wanted.actions), notes=notes)
    common: dict[str, Any] = {
        "notes": notes,
        "label": getattr(wanted, "phase", ""),
        "agent": getattr(wanted, "agent", ""),
    }
    if isinstance(wanted, Ask):
        asked: dict[str, Any] = {
            "messages": wanted.messages,
            "tools": wanted.tools,
            "tool_choice": wanted.tool_choice,
            "silent": wanted.silent,
        }
        return DPAction("llm_call", DPPhase.DECIDE, schema=wanted.schema, **asked, **common)
    if isinstance(wanted, Act):
        return DPAction(
            "tool_call", tool=wanted.tool, tool_input=wanted.input, thought=wanted.thought, id=wanted.id, **common
        )
    if isinstance(wanted, Execute):
        limits: dict[str, Any] = {"timeout": wanted.timeout, "max_tool_calls": wanted.max_tool_calls}
        return DPAction("program", program=wanted.program, **limits, **common)
    raise PolicyError(f"{name} yielded {wanted!r:.200}, which is not an action")
