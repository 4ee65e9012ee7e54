"""What can go wrong, sorted by whose fault it is.

1. Should the model see it? An unknown tool, bad arguments, a tool that raised: that is an
   ``Observation`` with ``ok=False``, a value and not an exception.
2. Can the policy do something about it? A provider failed, an action was denied, a budget is
   spent: the error is thrown in at the policy's ``yield from``. Uncaught, it ends the run as
   ``ok=False`` with the steps made so far.
3. Is it the programmer's mistake? It is raised to the caller at once, before any model call.

Every class takes its message first and everything else by keyword, so that it survives
``pickle`` with its fields.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BrainError",
    "BudgetExceeded",
    "CodeActionBudgetError",
    "ConfigurationError",
    "GraphError",
    "GraphExecutionError",
    "HookError",
    "Interrupt",
    "Interrupted",
    "PolicyDenied",
    "PolicyError",
    "ProviderError",
    "ReplayMismatch",
    "SandboxError",
    "SandboxGuaranteeMissing",
    "SandboxTimeout",
    "SandboxUnavailable",
    "StructureError",
    "TransitionError",
    "UnknownKeyword",
    "UnknownPattern",
    "WrongType",
]


class BrainError(Exception):
    """The root of everything this library raises on purpose."""


class ConfigurationError(BrainError, ValueError):
    """An agent, tool, graph or call was set up wrongly; raised at once."""


class WrongType(ConfigurationError, TypeError):
    """An argument has the wrong type; raised at once, naming the argument and what was expected."""


class UnknownKeyword(ConfigurationError, TypeError):
    """A keyword that does not exist; the message lists the known ones."""


class UnknownPattern(ConfigurationError):
    """A pattern name that does not exist; the message lists the known ones."""


class GraphError(ConfigurationError):
    """A graph that cannot be run: unknown stages, no way to the end; raised before the first model call."""


class GraphExecutionError(BrainError):
    """A run of a graph cannot go on: a condition raised, no edge fits, a budget has no hand-over."""


class CodeActionBudgetError(GraphExecutionError):
    """A program needs more tool calls than it may make, and no attempt is left."""

    def __init__(self, message: str, *, max_tool_calls: int = 0, attempts: int = 0) -> None:
        super().__init__(message)
        self.max_tool_calls = max_tool_calls
        self.attempts = attempts


class PolicyError(BrainError, TypeError):
    """A bug in a policy: it yielded or returned something that is not an action."""


class TransitionError(BrainError, RuntimeError):
    """A bug in a driver: it did something the table of the machine does not allow."""


class ReplayMismatch(BrainError):
    """The journal belongs to another run: the policy asked for something else than it recorded."""

    def __init__(self, message: str, *, index: int = -1, recorded: str = "", asked: str = "") -> None:
        super().__init__(message)
        self.index = index
        """Position of the entry in the journal, from 0."""
        self.recorded = recorded
        """What the journal has, described."""
        self.asked = asked
        """What the policy wanted instead, described."""


class ProviderError(BrainError):
    """A model call failed.

    Args:
        message: what happened, in the server's own words where it had any; never a secret.
        kind: ``auth``, ``bad_request``, ``not_found``, ``rate_limit``, ``quota``, ``server``,
            ``timeout``, ``connection``, ``malformed``, ``truncated``, ``content_filter``,
            ``refusal``, ``redirect``, ``config``, ``api`` or ``unknown``.
        status: the HTTP status, where there was one.
        retryable: whether the same request may succeed later.
        request_id: the server's name for the request, where it gave one.
        retry_after: the seconds the server asks to wait before another try, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "unknown",
        status: int | None = None,
        retryable: bool = False,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.request_id = request_id
        self.retry_after = retry_after


class PolicyDenied(BrainError):
    """A hook refused an action.

    Args:
        message: the refusal, as a sentence.
        contract_id: which rule refused.
        reason: why.
        denied_action: the action that was not performed.
        details: anything else the rule wants to tell.
    """

    def __init__(
        self,
        message: str,
        *,
        contract_id: str = "",
        reason: str = "",
        denied_action: Any = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.contract_id = contract_id
        self.reason = reason or message
        self.denied_action = denied_action
        self.details = details or {}


class BudgetExceeded(BrainError):
    """A limit is used up; says which, its value, and what was about to happen."""

    def __init__(self, message: str, *, limit: str = "", value: Any = None, pending: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.limit = limit
        self.value = value
        self.pending = pending


class HookError(BrainError):
    """A hook crashed; the run stops, and the hook is named. The crash itself is the ``__cause__``."""


class StructureError(BrainError, ValueError):
    """Model text does not hold the value that was asked for; the message says what did not fit."""


class Interrupted(BrainError):
    """The run was interrupted between two actions and can be resumed from its journal."""


class Interrupt(BaseException):
    """Raised by a hook to stop a run before the next action, so that it can be resumed.

    It derives from ``BaseException`` because it is not an error and no policy should catch it.
    """


class SandboxError(BrainError):
    """A program failed, or could not be run; the message says why."""


class SandboxTimeout(SandboxError):
    """A program was ended because it ran past its time."""


class SandboxUnavailable(SandboxError):
    """No program can be run here; the message says what is missing and what would bring it."""


class SandboxGuaranteeMissing(SandboxUnavailable):
    """A guarantee that the caller requires does not hold here; the program was not run.

    Args:
        message: what is missing, why, and what would bring it.
        missing: the names of the guarantees.
        notes: for each layer that is not in force, why.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = (), notes: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.missing = missing
        self.notes = notes or {}


def whole_number(where: str, name: str, value: Any, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``; raise an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType(f"{where}: {name} must be a whole number, not {type(value).__name__} ({value!r:.80})")
    if value < least:
        raise ConfigurationError(f"{where}: {name} must be at least {least}, not {value}")
    return value
