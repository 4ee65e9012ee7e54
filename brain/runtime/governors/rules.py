"""Rules about tools: which may be called, with what, and how often for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from brain.errors import ConfigurationError, PolicyDenied, WrongType, whole_number
from brain.policy import Act
from brain.runtime.hooks import Hook
from brain.runtime.journal import Entry, described, digest_of
from brain.types import Observation

__all__ = ["LoopGuard", "ToolPolicy"]


class ToolPolicy(Hook):
    """Refuses calls of tools that are not allowed, are denied, or are given what they may not be given.

    Args:
        allow: the only tools that may be called; by default all.
        deny: tools that may not be called, whatever ``allow`` says.
        when: for a tool, a predicate on its arguments: only ``True`` lets the call through, and a text says why
            not. It is given a mapping where the model gave one or wrote a JSON object, otherwise the text.

    A program that is to be executed is a call of the tool ``program``.
    """

    def __init__(
        self,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        when: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        for name, given in (("allow", allow), ("deny", deny)):
            if isinstance(given, str):
                raise WrongType(f"ToolPolicy: {name} must be names of tools, not a text; write [{given!r}]")
        self.allow = None if allow is None else frozenset(allow)
        self.deny = frozenset(deny)
        self.when = dict(when or {})
        for name, predicate in self.when.items():
            if not callable(predicate):
                raise WrongType(f"ToolPolicy: when[{name!r}] must be callable, not {type(predicate).__name__}")
        if self.allow is None and not self.deny and not self.when:
            raise ConfigurationError("ToolPolicy: give at least one of allow, deny, when")

    def pre_tool_call(self, action: Act) -> None:
        """Refuse what the rules do not let through."""
        if action.tool in self.deny or (self.allow is not None and action.tool not in self.allow):
            raise _refusal(action, "tool-policy", f"the tool {action.tool} is not allowed")
        predicate = self.when.get(action.tool)
        if predicate is None:
            return
        said = predicate(_arguments(action.input))
        if said is not True:
            reason = said if isinstance(said, str) and said else f"{action.tool} may not be called with these arguments"
            raise _refusal(action, "tool-policy", reason)


class LoopGuard(Hook):
    """Refuses a call that was made before, again and again, with the same result.

    Args:
        times: how many times in one run the same call may come to the same result; the next is refused.
    """

    def __init__(self, times: int = 3) -> None:
        self.times = whole_number("LoopGuard", "times", times)

    def for_run(self, done: Sequence[Entry]) -> Hook:
        """Return a guard for one run, which remembers what the run has done before."""
        guard = _Counting(self.times)
        for entry in done:
            if isinstance(entry.action, Act) and isinstance(entry.outcome, Observation):
                guard.post_tool_call(
                    entry.performed if isinstance(entry.performed, Act) else entry.action, entry.outcome
                )
        return guard


class _Counting(Hook):
    """The calls of one run: the last result of each, and how often in a row it was that."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.seen: dict[str, tuple[str, int]] = {}

    def pre_tool_call(self, action: Act) -> None:
        result, count = self.seen.get(_call(action), ("", 0))
        if count >= self.times:
            reason = f"{described(action)} has come to the same result {count} times ({result[:80]!r})"
            raise _refusal(action, "loop-guard", reason)

    def post_tool_call(self, action: Act, observation: Observation) -> None:
        call = _call(action)
        result, count = self.seen.get(call, ("", 0))
        self.seen[call] = (observation.text, count + 1 if result == observation.text else 1)

    tool_call_error = post_tool_call


def _call(action: Act) -> str:
    """Return what two calls have in common that do the same: thought, phase and native id do not count."""
    return digest_of(Act(action.tool, action.input))


def _arguments(given: Any) -> Any:
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            return given
        return value if isinstance(value, dict) else given
    return given


def _refusal(action: Act, rule: str, reason: str) -> PolicyDenied:
    return PolicyDenied(reason, contract_id=rule, reason=reason, denied_action=action)
