"""The kernel API for plugins: a state ``q`` that events change, and an egress that is worked out from it.

    q = handle_event(q, run, event, config)   the world has spoken: the user, the model, a tool, a hook
    egress = evaluate_next(q, run, config)    what now: LLM_CALL, TOOL_CALL or CLIENT_RESPONSE

Rules:

- All that a plugin knows of a run is in ``q`` and ``run``; the object itself is shared by all runs.
- ``InterruptRequested`` and ``ResumeRequested`` are announcements. They come with copies of ``q`` and ``run``, and
  the state that is returned for them is dropped: a run that was stopped and taken up is the run that was not,
  and a journal replays to the same end whether it was ever interrupted or not.
- A failed model call is no event: it ends the run.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from brain.contract.adapters import Requests
from brain.errors import PolicyDenied, PolicyError
from brain.messages import Message, user
from brain.policy import Act, Ask, Finish, Policy
from brain.types import Observation, Reply, ToolSpec

__all__ = [
    "Egress",
    "EgressKind",
    "GovernanceDenied",
    "InterruptRequested",
    "ModelReplied",
    "PluginEvent",
    "PluginRun",
    "ReactPlugin",
    "ResumeRequested",
    "ToolFailed",
    "ToolReturned",
    "UserInputReceived",
    "follow_plugin",
]


@dataclass(frozen=True, slots=True)
class UserInputReceived:
    """The user has given a task; a run begins with it."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model has replied to an ``LLM_CALL``."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool has returned."""

    tool: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool call came to nothing: unknown tool, bad arguments, an exception, a timeout."""

    tool: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class GovernanceDenied:
    """A hook has refused what was scheduled."""

    contract_id: str
    reason: str
    denied: Egress
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class InterruptRequested:
    """The run is being stopped before what is scheduled."""


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    """The run has been taken up again from its journal, and goes on with what is scheduled."""


PluginEvent = (
    UserInputReceived
    | ModelReplied
    | ToolReturned
    | ToolFailed
    | GovernanceDenied
    | InterruptRequested
    | ResumeRequested
)


class EgressKind(Enum):
    """What the kernel is to do."""

    LLM_CALL = "LLM_CALL"
    TOOL_CALL = "TOOL_CALL"
    CLIENT_RESPONSE = "CLIENT_RESPONSE"


@dataclass(frozen=True, slots=True)
class Egress:
    """What the kernel is to do, with all that it needs for it."""

    kind: EgressKind
    tool: str = ""
    """The tool of a ``TOOL_CALL``."""
    tool_input: Any = None
    messages: Iterable[Message] | None = None
    """What an ``LLM_CALL`` asks; by default the messages of the run."""
    tools: Sequence[ToolSpec] = ()
    """Tools that an ``LLM_CALL`` offers to be called natively."""
    answer: str = ""
    """The answer of a ``CLIENT_RESPONSE``."""
    ok: bool = True
    error: str | None = None
    """Why a ``CLIENT_RESPONSE`` is no success."""
    thought: str = ""
    phase: str = ""
    id: str = ""
    """The native call that a ``TOOL_CALL`` answers."""


@dataclass(slots=True)
class PluginRun:
    """What a plugin may know of a run."""

    task: str
    tools: tuple[str, ...] = ()
    """The names of the tools."""
    messages: list[Message] = field(default_factory=list)
    """The conversation; the plugin adds to it."""


class ReactPlugin(ABC):
    """A way of reasoning as a machine: events change a state, and the state says what to do next."""

    @property
    @abstractmethod
    def plugin_id(self) -> str:
        """The stable name of the plugin."""

    def initial(self, config: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """Return the state before the first event; by default ``None``."""
        return None

    @abstractmethod
    def handle_event(self, q: Any, run: PluginRun, event: PluginEvent, config: Mapping[str, Any]) -> Any:
        """Return the state after an event."""

    @abstractmethod
    def evaluate_next(self, q: Any, run: PluginRun, config: Mapping[str, Any]) -> Egress | EgressKind:
        """Return what to do next; a bare ``EgressKind.LLM_CALL`` asks with the messages of the run."""

    def protocol_lines(self, q: Any) -> Iterable[str]:  # noqa: ARG002
        """Return instructions for the current state; they join the first system message of each request."""
        return ()


def follow_plugin(
    plugin: ReactPlugin,
    context: Mapping[str, Any],
    config: Mapping[str, Any] | None = None,
    *,
    resumed_after: int = -1,
) -> Policy[Finish]:
    """Carry out a plugin as a policy.

    Args:
        plugin: the plugin.
        context: ``task`` and the names of the ``tools``.
        config: handed to each method of the plugin.
        resumed_after: after how many outcomes ``ResumeRequested`` is announced; -1: the run is new.
    """
    config, requests, heard = dict(config or {}), Requests(), 0
    task = str(context.get("task", ""))
    run = PluginRun(task, tuple(str(name) for name in context.get("tools", ())), [user(task)])
    q = plugin.handle_event(plugin.initial(config), run, UserInputReceived(task), config)
    try:
        while True:
            said: Any = plugin.evaluate_next(q, run, config)
            egress = Egress(said) if isinstance(said, EgressKind) else said
            if not isinstance(egress, Egress):
                raise PolicyError(f"{plugin.plugin_id}.evaluate_next returned {egress!r:.200}, which is no Egress")
            if egress.kind is EgressKind.CLIENT_RESPONSE:
                error = egress.error or f"{plugin.plugin_id} failed and did not say why"
                return Finish(egress.answer, egress.ok, None if egress.ok else error, egress.thought)
            if heard == resumed_after:
                _announce(plugin, q, run, ResumeRequested(), config)
            event: PluginEvent
            try:
                outcome = yield _wanted(plugin, q, run, egress, requests)
            except PolicyDenied as denial:
                event = GovernanceDenied(denial.contract_id, denial.reason, egress, denial.details)
            else:
                if isinstance(outcome, Reply):
                    event = ModelReplied(outcome)
                else:
                    event = (ToolReturned if outcome.ok else ToolFailed)(egress.tool, outcome)
            heard += 1
            q = plugin.handle_event(q, run, event, config)
    except GeneratorExit:
        _announce(plugin, q, run, InterruptRequested(), config)
        raise


def _announce(plugin: ReactPlugin, q: Any, run: PluginRun, event: PluginEvent, config: Mapping[str, Any]) -> None:
    plugin.handle_event(copy.deepcopy(q), copy.deepcopy(run), event, config)


def _wanted(plugin: ReactPlugin, q: Any, run: PluginRun, egress: Egress, requests: Requests) -> Ask | Act:
    if egress.kind is EgressKind.TOOL_CALL:
        if not egress.tool:
            raise PolicyError(f"{plugin.plugin_id} scheduled a TOOL_CALL without a tool")
        return Act(egress.tool, egress.tool_input, egress.thought, egress.id, egress.phase)
    given = run.messages if egress.messages is None else egress.messages
    messages = requests.of(given, tuple(plugin.protocol_lines(q)))
    return Ask(messages, tuple(egress.tools), "auto" if egress.tools else "none", None, egress.phase)
