"""Approval: a person, or whoever stands for one, decides about tool calls before they are made."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brain.errors import ConfigurationError, Interrupt, PolicyDenied, WrongType
from brain.policy import Act
from brain.runtime.hooks import Hook
from brain.runtime.journal import Entry, described, digest_of
from brain.types import Observation

__all__ = ["ApprovalGate", "Approve", "Deny", "Question", "decided"]


@dataclass(frozen=True, slots=True)
class Approve:
    """The call may be made."""

    arguments: Mapping[str, Any] | str | None = None
    """What the tool is given instead; by default what the model gave."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not be made."""

    reason: str = "not approved"


class Question(Interrupt):
    """Stops a run to ask about a call; ``resume(journal, approve=...)`` answers."""

    def __init__(self, message: str, call: Act) -> None:
        super().__init__(message)
        self.call = call


class ApprovalGate(Hook):
    """Asks before tools are called; nothing but ``True`` or an ``Approve`` approves.

    Calls inside of graphs, of delegated agents and of programs are asked about too; a program itself is a call of
    the tool ``program``. Without a callable the run is interrupted at the first such call, and
    ``resume(journal, approve=decision)`` goes on with it.

    Args:
        ask: given the call (an ``Act``), returns the decision. A ``Deny`` says why not; any other value denies.
        tools: the names of the tools to ask about, or a callable that is given the call and says whether; by
            default all.
        timeout: after how many seconds without a decision the call is denied.
    """

    def __init__(
        self,
        ask: Callable[[Act], Any] | None = None,
        *,
        tools: Collection[str] | Callable[[Act], bool] | None = None,
        timeout: float | None = None,
    ) -> None:
        if ask is not None and not callable(ask):
            raise WrongType(f"ApprovalGate: ask must be callable, not {type(ask).__name__} ({ask!r:.80})")
        if isinstance(tools, str):
            raise WrongType(f"ApprovalGate: tools must be a collection of names, not a text; write [{tools!r}]")
        if timeout is not None and not (type(timeout) in (int, float) and timeout > 0):
            raise ConfigurationError(f"ApprovalGate: timeout must be a number of seconds above 0, not {timeout!r}")
        self.ask, self.tools, self.timeout = ask, tools, timeout
        self._decisions: dict[str, Any] = {}

    def for_run(self, done: Sequence[Entry]) -> Hook:  # noqa: ARG002
        """Return a gate of this run's own, which a decision can be handed to."""
        own = copy.copy(self)
        own._decisions = {}
        return own

    def decide(self, question: str, decision: Any) -> bool:
        """Keep the decision about the call that the run was interrupted for."""
        self._decisions[question] = decision
        return True

    def pre_tool_call(self, action: Act) -> Act | Observation | None:
        """Ask, and let the call through, change it or refuse it."""
        if not self._concerns(action):
            return None
        for question, decision in self._decisions.items():
            given = decision.arguments if isinstance(decision, Approve) else None
            if question == digest_of(action) or (given is not None and given == action.input):
                del self._decisions[question]  # a decision is about one call, not about all that are like it
                return decided(action, decision)
        if self.ask is None:
            raise Question(f"approve {described(action)}? Resume with approve=True, Approve(...) or Deny(...)", action)
        return decided(action, self._asked(self.ask, action))

    def _concerns(self, action: Act) -> bool:
        if self.tools is None:
            return True
        return bool(self.tools(action)) if callable(self.tools) else action.tool in self.tools

    def _asked(self, ask: Callable[[Act], Any], action: Act) -> Any:
        if self.timeout is None:
            return ask(action)
        import threading

        said: list[Any] = []
        raised: list[BaseException] = []

        def work() -> None:
            try:
                said.append(ask(action))
            except BaseException as error:  # carried over to the run's thread
                raised.append(error)

        thread = threading.Thread(target=work, name="brain approval", daemon=True)
        thread.start()
        thread.join(min(self.timeout, threading.TIMEOUT_MAX))
        if raised:
            raise raised[0]
        return said[0] if said else Deny(f"no decision within {self.timeout:g} seconds")


def decided(action: Act, decision: Any) -> Act | Observation | None:
    """Return what a decision makes of a call; raise the refusal that it is otherwise."""
    if decision is True:
        return None
    if isinstance(decision, Approve):
        given = decision.arguments
        if given is None:
            return None
        if not isinstance(given, str | Mapping):
            raise WrongType(f"Approve: arguments must be a mapping or a text, not {type(given).__name__}")
        return replace(action, input=given if isinstance(given, str) else dict(given))
    if isinstance(decision, Observation):
        return decision
    reason = decision.reason if isinstance(decision, Deny) else "not approved"
    raise PolicyDenied(
        f"{action.tool} was not approved: {reason}", contract_id="approval", reason=reason, denied_action=action
    )
