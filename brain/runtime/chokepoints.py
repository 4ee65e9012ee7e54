"""The chokepoints: where hooks stand before and after everything a run does.

Rules:

- What a hook raises is either meant for the policy (a ``BrainError``) or a crash, which becomes a
  ``HookError`` that names the hook and ends the run.
- Hooks know model calls and tool calls. A program that is to be executed is shown to them as a call of a tool
  named ``program``; each call that the program makes is shown like any other.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brain.errors import BrainError, ConfigurationError, HookError, PolicyDenied
from brain.policy import Act, Ask, Execute, Work
from brain.runtime.hooks import Hooks, named
from brain.runtime.journal import Entry, digest_of
from brain.types import Observation, PatternResult, Reply

if TYPE_CHECKING:
    from brain.runtime.journal import Outcome

__all__ = ["PROGRAM", "Chokepoints", "as_call"]

PROGRAM = "program"
"""The name under which hooks see the execution of a program as a tool call."""


def as_call(action: Execute) -> Act:
    """Return the tool call that hooks are shown for the execution of a program."""
    return Act(PROGRAM, {"program": action.program}, phase=action.phase, agent=action.agent)


class Chokepoints:
    """The hooks of one run, at their places.

    Args:
        hooks: the hooks.
        done: what the run had done before, when it is taken up from a journal.
    """

    __slots__ = ("_hooks", "_lock")

    def __init__(self, hooks: Hooks, done: Sequence[Entry]) -> None:
        self._hooks = hooks.for_run(done)

        self._lock = RLock()

    def decide(self, question: str, decision: Any) -> None:
        """Hand a decision to the hooks that ask."""
        if not question:
            raise ConfigurationError("approve= is given, but the run was not interrupted to ask about a call")
        asked = [hook.decide(question, decision) for hook in self._hooks.listed]  # every one of them is told
        if not any(asked):
            raise ConfigurationError("approve= is given, but none of the hooks asks; pass the ApprovalGate here too")

    def under_way(self, programs: Iterable[Execute]) -> None:
        """Tell the hooks that these programs were let through before the run was taken up."""
        for program in programs:
            for hook in self._hooks.listed:
                hook.decide(digest_of(as_call(program)), True)

    def open(self, pattern: str, task: str) -> BrainError | None:
        """Tell the hooks that a run begins; return the error of the first that refuses."""
        return self._told("pre_execution", pattern, task)

    def close(self, result: PatternResult) -> BrainError | None:
        """Tell the hooks that a run has ended; return the error of the first that fails."""
        return self._told("post_execution", result)

    def _told(self, point: str, *arguments: Any) -> BrainError | None:
        first: BrainError | None = None
        for tell in self._hooks.at(point):
            try:
                self._call(tell, *arguments)
            except BrainError as error:
                first = first or error
        return first

    def before(self, action: Work) -> tuple[Work, Outcome | None]:
        """Ask the hooks; return the action to perform, or the outcome that makes performing it needless."""
        with self._lock:  # programs on several threads make calls at the same time, and hooks count
            return self._before_program(action) if isinstance(action, Execute) else self._before(action)

    def _before(self, action: Work) -> tuple[Work, Outcome | None]:
        kind, answer = (Ask, Reply) if isinstance(action, Ask) else (Act, Observation)
        for check in self._hooks.at("pre_llm_call" if kind is Ask else "pre_tool_call"):
            try:
                said = self._call(check, action)
            except PolicyDenied as denial:
                if denial.denied_action is None:
                    denial.denied_action = action
                for tell in self._hooks.at("governance_denied"):
                    self._call(tell, action, denial)
                raise
            if isinstance(said, answer):
                return action, said
            if isinstance(said, kind):
                action = said
            elif said is not None:
                self._wrong(check, said, f"None, {kind.__name__} or {answer.__name__}")
        return action, None

    def _before_program(self, action: Execute) -> tuple[Work, Outcome | None]:
        if not self._hooks.at("pre_tool_call"):
            return action, None
        call = as_call(action)
        allowed, answer = self.before(call)
        if answer is not None:
            raise HookError("a hook answered the execution of a program itself; it may change or refuse it")
        if isinstance(allowed, Act) and allowed is not call:
            return replace(action, program=str(allowed.input["program"])), None
        return action, None

    def after(self, action: Work, outcome: Outcome) -> Outcome:
        """Let the hooks see the outcome, and change it."""
        if isinstance(action, Execute):
            return outcome
        if isinstance(outcome, Reply):
            point = "post_llm_call"
        else:
            point = "post_tool_call" if getattr(outcome, "ok", True) else "tool_call_error"
        with self._lock:
            for look in self._hooks.at(point):
                said = self._call(look, action, outcome)
                if isinstance(said, type(outcome)):
                    outcome = said
                elif said is not None:
                    self._wrong(look, said, f"None or {type(outcome).__name__}")
        return outcome

    def _call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except BrainError:
            raise
        except Exception as error:
            raise HookError(f"hook {named(method)} raised {type(error).__name__}: {error}") from error

    def _wrong(self, method: Callable[..., Any], said: Any, expected: str) -> None:
        problem = TypeError(f"{named(method)} returned {type(said).__name__}; expected {expected}")
        raise HookError(f"hook {problem}") from problem
