"""The design-pattern contract: a way of reasoning whose state somebody outside can hold and look at.

A contract answers questions; it never performs anything and owns no loop:

    start             what is the state at the beginning?
    next_action       the model has replied, or an action has come to something: what now?
    on_action_result  what is learned from the result of an action?
    should_continue   is there more to do?
    on_tool_error     a tool call came to nothing: what is the state now?
    on_policy_denial  an action was refused: what is the state now?

It is told the task and the names of the tools, and nothing else: which model is asked, where programs run,
what a run may cost and where it is kept are not its business, and it has no way to them.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from brain.errors import BrainError, PolicyDenied
from brain.messages import Message
from brain.policy import Note
from brain.types import ToolSpec

__all__ = ["DPAction", "DPContract", "DPPhase", "DPState"]


class DPPhase(StrEnum):
    """Where in the reasoning a contract is; the machine of the runtime does not know."""

    PLAN = "plan"
    DECIDE = "decide"
    ACT = "act"
    OBSERVE = "observe"
    REFLECT = "reflect"
    FINALIZE = "finalize"


@dataclass(slots=True)
class DPState:
    """The state of a contract, in the open."""

    current_phase: DPPhase = DPPhase.DECIDE
    """Where in the reasoning it is."""
    step_id: int = 0
    """How many steps it has made."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What it keeps between steps."""


@dataclass(frozen=True, slots=True)
class DPAction:
    """What a contract wants done next."""

    action_type: str
    """``llm_call``, ``tool_call``, ``program``, ``batch`` or ``finalize``."""
    phase: DPPhase = DPPhase.ACT
    """Where in the reasoning this is."""
    tool: str = ""
    """The tool of a ``tool_call``."""
    tool_input: Any = None
    """What the tool is given: text, or a mapping of arguments."""
    messages: Iterable[Message] | None = None
    """What an ``llm_call`` asks; by default the messages of the contract."""
    answer: str | None = None
    """The answer of a ``finalize``; by default the text of what was learned last."""
    ok: bool = True
    """Whether a ``finalize`` is a success."""
    error: str | None = None
    """Why it is none."""
    thought: str = ""
    """The reasoning behind it, for the trace."""
    program: str = ""
    """The Python source of a ``program``."""
    timeout: float = 120.0
    """Seconds that a program may run."""
    max_tool_calls: int = 50
    """Calls that a program may make."""
    actions: tuple[DPAction, ...] = ()
    """The calls and programs of a ``batch``, which do not depend on each other."""
    notes: tuple[Note, ...] = ()
    """Remarks for the record, made before the action."""
    tools: Sequence[ToolSpec] = ()
    """The tools that an ``llm_call`` offers to be called natively."""
    tool_choice: Any = None
    """As for ``ask``."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply to an ``llm_call``."""
    silent: bool = False
    """Whether nobody is to see the reply to an ``llm_call`` being written."""
    id: str = ""
    """The native call that a ``tool_call`` answers."""
    label: str | None = None
    """What the record calls the phase; by default the phase's own value."""
    agent: str = ""
    """On whose behalf, in a run with several agents."""


class DPContract(ABC):
    """The lifecycle of a way of reasoning, one method per question.

    ``follow`` makes a policy of it. A contract object serves one run at a time; ``ContractPattern`` makes a
    copy of it for each.
    """

    @property
    @abstractmethod
    def dp_id(self) -> str:
        """The stable name of the pattern, such as ``dp:react@v1``."""

    @property
    def messages(self) -> list[Message]:
        """The conversation so far, to be added to; a run begins with what is in it and the task."""
        history: list[Message] = self.__dict__.setdefault("_messages", [])
        return history

    @abstractmethod
    def start(self, context: dict[str, Any]) -> DPState:
        """Return the state at the beginning.

        Args:
            context: ``task``, a text, and ``tools``, the list of their names.
        """

    @abstractmethod
    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        """Say what to do next.

        Args:
            state: the current state.
            input_data: what came last: a ``Reply`` of the model, an ``Observation`` of a tool (also for an action
                that failed or was refused), a program's report, or a tuple of these for a batch.
        """

    @abstractmethod
    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:
        """Return the state after an action that ``next_action`` wanted has come to its result."""

    @abstractmethod
    def should_continue(self, state: DPState) -> bool:
        """Return whether there is more to do; asked after each action that ``next_action`` wanted."""

    def on_tool_error(self, state: DPState, tool_name: str, error: str, available_tools: list[str]) -> DPState:  # noqa: ARG002
        """Return the state after a tool call that came to nothing; by default nothing changes.

        ``next_action`` is given the failed observation, so the model can be shown what happened.
        """
        return state

    def on_policy_denial(
        self,
        state: DPState,  # noqa: ARG002
        contract_id: str,
        reason: str,
        denied_action: DPAction,
        details: dict[str, Any],
    ) -> DPState:
        """Return the state after an action was refused; by default the refusal is raised and ends the run."""
        raise _being_handled() or PolicyDenied(
            reason, contract_id=contract_id, denied_action=denied_action, details=details
        )

    def on_failure(self, state: DPState, action: DPAction, error: BrainError) -> DPState:
        """Return the state after an action has failed; by default a refusal is handed on, and the rest raised."""
        if isinstance(error, PolicyDenied):
            return self.on_policy_denial(state, error.contract_id, error.reason, action, error.details)
        raise error

    def protocol_lines(self, state: DPState) -> Iterable[str]:  # noqa: ARG002
        """Return instructions for the current phase; they join the first system message of each request."""
        return ()

    def opening(self, state: DPState) -> DPAction:
        """Return the first action; by default the model is asked with the messages of the contract."""
        return DPAction("llm_call", state.current_phase)

    def closing(self, state: DPState, input_data: Any) -> DPAction:  # noqa: ARG002
        """Return the ``finalize`` of a contract that should not continue; by default without an answer of its own."""
        return DPAction("finalize", DPPhase.FINALIZE)

    def close(self) -> None:  # noqa: B027
        """Called when the run is over, however it ended; by default nothing happens."""


def _being_handled() -> PolicyDenied | None:
    error = sys.exception()
    return error if isinstance(error, PolicyDenied) else None
