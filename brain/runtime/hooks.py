"""Hooks: what stands at the chokepoints of every run.

A hook sees each model call and each tool call, those of sub-policies, graphs and programs included,
and may watch, change, answer or refuse it. A hook that crashes stops the run and is named: a guard
that has fallen over guards nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from brain.errors import BrainError, HookError, WrongType
from brain.policy import Act, Ask
from brain.types import Observation, PatternResult, Reply

if TYPE_CHECKING:
    from brain.runtime.journal import Entry

__all__ = ["Hook", "Hooks"]


class Hook:
    """Base of all hooks; every method does nothing until it is overridden.

    A hook object may serve many runs at once. One that counts or remembers returns another object from
    ``for_run``, so that each run has its own.

    A ``pre_`` method may return ``None`` (go on), another action (do that instead) or an outcome
    (do nothing, that is the answer); it may raise ``PolicyDenied`` to refuse, any other ``BrainError``
    to fail the action, or ``Interrupt`` to stop the run so that it can be resumed. A ``post_`` method may
    return ``None`` or another outcome. ``pre_`` methods are called in the order of the hooks, the others in
    the reverse order, so that the first hook stands outermost.
    """

    def for_run(self, done: Sequence[Entry]) -> Hook:  # noqa: ARG002
        """Return the hook that serves one run; by default this one.

        Args:
            done: what the run had done before, when it is taken up from a journal; empty for a new run.
        """
        return self

    def decide(self, question: str, decision: Any) -> bool:  # noqa: ARG002
        """Take somebody's decision about a call; return whether this hook had asked.

        Args:
            question: the digest of the call that the run was interrupted for.
            decision: what ``resume(journal, approve=...)`` was given.
        """
        return False

    def pre_execution(self, pattern: str, task: str) -> None:
        """Called once, before a run starts."""

    def pre_llm_call(self, action: Ask) -> Ask | Reply | None:
        """Called before the model is asked."""

    def post_llm_call(self, action: Ask, reply: Reply) -> Reply | None:
        """Called when the model has replied."""

    def pre_tool_call(self, action: Act) -> Act | Observation | None:
        """Called before a tool is called."""

    def post_tool_call(self, action: Act, observation: Observation) -> Observation | None:
        """Called when a tool has returned."""

    def tool_call_error(self, action: Act, observation: Observation) -> Observation | None:
        """Called when a tool call came to nothing: unknown tool, bad arguments, an exception, a timeout."""

    def governance_denied(self, action: Ask | Act, denial: Exception) -> None:
        """Called when a hook has refused an action, before the policy hears of it."""

    def post_execution(self, result: PatternResult) -> None:
        """Called once, when a run has ended or was interrupted."""


_POINTS = tuple(name for name in vars(Hook) if not name.startswith("_") and name not in ("for_run", "decide"))


class Hooks:
    """The hooks of one run, by chokepoint; a method nobody overrides costs nothing."""

    __slots__ = ("listed", *_POINTS)

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self.listed = listed = list(hooks)
        for hook in listed:
            if not isinstance(hook, Hook):
                raise WrongType(f"hooks must hold Hook objects, not {type(hook).__name__} ({hook!r})")
        for name in _POINTS:
            ordered = listed if name.startswith("pre_") else listed[::-1]
            setattr(self, name, [getattr(hook, name) for hook in ordered if _overrides(hook, name)])

    def for_run(self, done: Sequence[Entry]) -> Hooks:
        """Return the hooks that serve one run."""
        if not any(_overrides(hook, "for_run") for hook in self.listed):
            return self
        return Hooks(_serving(hook, done) for hook in self.listed)

    def at(self, name: str) -> list[Callable[..., Any]]:
        """Return the methods to call at a chokepoint, in order."""
        methods: list[Callable[..., Any]] = getattr(self, name)
        return methods


def _serving(hook: Hook, done: Sequence[Entry]) -> Hook:
    try:
        own: Any = hook.for_run(done)
    except BrainError:
        raise
    except Exception as error:
        raise HookError(f"hook {named(hook.for_run)} raised {type(error).__name__}: {error}") from error
    if not isinstance(own, Hook):
        raise HookError(f"hook {named(hook.for_run)} returned {type(own).__name__}; expected a Hook")
    return own


def _overrides(hook: Hook, name: str) -> bool:
    method = getattr(hook, name)
    return getattr(method, "__func__", None) is not getattr(Hook, name)


def named(method: Callable[..., Any]) -> str:
    """Name a hook's method, for error messages."""
    owner = getattr(method, "__self__", None)
    return f"{type(owner).__name__}.{getattr(method, '__name__', 'hook')}"
