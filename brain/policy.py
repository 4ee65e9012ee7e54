"""The verbs. A policy is a generator that yields actions and is sent their outcomes.

``yield from`` is this library's ``await``: it hands an action to whoever is driving the policy, and
evaluates to what came of it.

    reply       = yield from ask(messages)           # a Reply
    observation = yield from act("search", "Paris")  # an Observation
    verdict     = yield from judge(proposal)         # another policy
    return Finish(answer)                            # the end

A policy performs nothing itself: no input, no output, no clock, no random numbers. That is what lets
one kernel give every pattern budgets, hooks, traces, interruption, resumption and replay.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from brain.errors import BrainError
from brain.messages import Message, Transcript
from brain.types import Observation, Reply, ToolSpec

if TYPE_CHECKING:
    from brain.sandbox.base import ProgramReport

__all__ = [
    "Act",
    "Action",
    "Ask",
    "Batch",
    "Execute",
    "Finish",
    "Note",
    "Policy",
    "Work",
    "act",
    "ask",
    "delegate",
    "execute",
    "note",
    "together",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model. The outcome is a ``Reply``."""

    messages: Transcript
    tools: tuple[ToolSpec, ...] = ()
    """The tools the model may call natively."""
    tool_choice: Any = "none"
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply; reaches the providers that declare ``accepts_schema``."""
    phase: str = ""
    """Where in the reasoning: ``plan``, ``critique``, ..."""
    agent: str = ""
    """On whose behalf, in a run with several agents."""
    silent: bool = field(default=False, compare=False)
    """Whether the reply is no text for a reader, such as a choice of the next step, and is not streamed."""


@dataclass(frozen=True, slots=True)
class Act:
    """Call a tool. The outcome is an ``Observation``.

    ``input`` is the text after ``Action Input`` in a text protocol, and a mapping of arguments in a
    native tool call.
    """

    tool: str
    input: Any
    thought: str = ""
    """The reasoning that led here, for the trace."""
    id: str = ""
    """The native call this answers, if it answers one."""
    phase: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Execute:
    """Run a program that a model wrote, in a sandbox, over the tools of the run. The outcome is a ``ProgramReport``."""

    program: str
    timeout: float = 120.0
    """Seconds of wall time."""
    max_tool_calls: int = 50
    """Calls it may make, failed ones included."""
    phase: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Say something for the record. Performs nothing; the outcome is ``None``, at once.

    Notes of kind ``observation`` become the observation of the step under way. Others tell what a
    trace should show: a route taken, a fallback used, a budget spent.
    """

    kind: str
    text: str = ""
    thought: str = ""
    """Reasoning to show in the step under way."""
    data: Mapping[str, Any] | None = None
    phase: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Do several things that do not depend on each other. The outcome is a tuple of theirs, in order.

    What failed is a ``BrainError`` in its place. Whoever drives the policy may go about them one after
    another or all at once; the record is the same either way.
    """

    actions: tuple[Work, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run. Returned by a pattern's policy, never yielded."""

    answer: str
    ok: bool = True
    error: str | None = None
    thought: str = ""
    """The reasoning that led to the answer, for the trace."""


Work = Ask | Act | Execute
"""What somebody has to perform."""

Action = Ask | Act | Execute | Note | Batch
"""What a policy may yield."""

Policy = Generator[Action, Any, T]
"""``Policy[Finish]`` for a pattern, ``Policy[float]`` for a part that comes to a number."""


def ask(
    messages: Iterable[Message],
    *,
    tools: Iterable[ToolSpec] = (),
    tool_choice: Any = None,
    schema: Mapping[str, Any] | None = None,
    phase: str = "",
    silent: bool = False,
) -> Policy[Reply]:
    """Ask the model and return its reply.

    Args:
        messages: the whole conversation; a ``Transcript`` is passed on without being copied.
        tools: tools the model may call natively.
        tool_choice: ``"none"``, ``"auto"``, ``"required"`` or a provider's own form; by default
            ``"auto"`` with tools and ``"none"`` without.
        schema: JSON schema the reply should follow.
        phase: where in the reasoning this is.
        silent: whether the reply is no text for a reader, and is not streamed.
    """
    specs = tuple(tools)
    if tool_choice is None:
        tool_choice = "auto" if specs else "none"
    reply: Reply = yield Ask(Transcript(messages), specs, tool_choice, schema, phase, silent=silent)
    return reply


def act(tool: str, input: Any, *, thought: str = "", id: str = "", phase: str = "") -> Policy[Observation]:
    """Call a tool and return what it observed."""
    observation: Observation = yield Act(tool, input, thought, id, phase)
    return observation


def execute(
    program: str, *, timeout: float = 120.0, max_tool_calls: int = 50, phase: str = ""
) -> Policy[ProgramReport]:
    """Run a program in a sandbox and return what came of it."""
    report: ProgramReport = yield Execute(program, timeout, max_tool_calls, phase)
    return report


def note(
    kind: str, text: str = "", *, thought: str = "", phase: str = "", data: Mapping[str, Any] | None = None
) -> Policy[None]:
    """Put a remark into the record."""
    yield Note(kind, text, thought, data, phase)


def delegate(agent: str, policy: Policy[T]) -> Policy[T]:
    """Run a policy under a name, which all its actions carry; names of nested agents are joined by ``/``."""
    return (yield from relay(policy, change=lambda action: _under(agent, action)))


def relay(
    policy: Policy[T],
    *,
    change: Callable[[Action], Action] | None = None,
    look: Callable[[Action, Any], None] | None = None,
) -> Policy[T]:
    """Pass on what a policy wants and what comes of it, errors included.

    Args:
        policy: the policy.
        change: makes another action of each before it is passed on.
        look: told of each action, as the policy wanted it, and of its outcome or error.
    """
    outcome: Any = None
    resume = policy.send
    try:
        while True:
            try:
                action = resume(outcome)
            except StopIteration as stop:
                result: T = stop.value
                return result
            try:
                outcome = yield action if change is None else change(action)
                resume = policy.send
            except BrainError as error:
                outcome, resume = error, policy.throw
            if look is not None:
                look(action, outcome)
    finally:
        policy.close()


def _under(agent: str, action: Action) -> Action:
    if isinstance(action, Batch):
        return Batch(tuple(replace(each, agent=_joined(agent, each.agent)) for each in action.actions))
    if isinstance(action, Ask | Act | Execute | Note):
        return replace(action, agent=_joined(agent, action.agent))
    return action  # not an action: the run says so


def _joined(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if inner else outer


def together(*policies: Policy[T]) -> Policy[list[T]]:
    """Run policies side by side and return their results in order.

    In each round every policy that has not ended says what it wants next; all of that is one
    ``Batch``. A failed action is thrown into the policy that wanted it. An error that a policy lets
    through ends them all, as an exception in a loop would.
    """
    results: list[Any] = [None] * len(policies)
    try:
        # Each waiting policy: its place, what it wants, and whether it wants several things at once.
        waiting = []
        for place, policy in enumerate(policies):
            action = yield from _advance(policy, policy.send, None, results, place)
            if action is not None:
                waiting.append((place, action))
        while waiting:
            wanted: list[Work] = []
            for _, action in waiting:
                wanted += action.actions if isinstance(action, Batch) else (action,)
            outcomes: Sequence[Any] = yield Batch(tuple(wanted))
            going_on, position = [], 0
            for place, action in waiting:
                policy = policies[place]
                if isinstance(action, Batch):
                    outcome: Any = tuple(outcomes[position : position + len(action.actions)])
                    position += len(action.actions)
                else:
                    outcome = outcomes[position]
                    position += 1
                resume = policy.throw if isinstance(outcome, BrainError) else policy.send
                following = yield from _advance(policy, resume, outcome, results, place)
                if following is not None:
                    going_on.append((place, following))
            waiting = going_on
    finally:
        for policy in policies:
            policy.close()
    return results


def _advance(
    policy: Policy[T], resume: Any, outcome: Any, results: list[Any], place: int
) -> Generator[Action, Any, Work | Batch | None]:
    """Advance one of several policies to its next action; pass its notes on; keep its result if it ended."""
    while True:
        try:
            action = resume(outcome)
        except StopIteration as stop:
            results[place] = stop.value
            return None
        if isinstance(action, Ask | Act | Execute | Batch):
            return action
        outcome = yield action  # a note, or a mistake that the run will name
        resume = policy.send
