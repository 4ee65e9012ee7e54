"""Native tool calls: ask with tools until the model stops calling them.

    repeat
        ask the model, which is told of the tools
        it calls none: that reply is the end
        perform what it calls; give it one result per call, in the order of the calls

The conversation that comes of it can be sent to any server: each call has an id of its own, each result
bears the id of its call, what the model said beside its calls comes before their results, and arguments
are JSON. Arguments that cannot be read are explained to the model as the result of that call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from brain.errors import BrainError, BudgetExceeded, ConfigurationError
from brain.ledger import Ledger
from brain.messages import Message, Transcript, assistant, tool_result
from brain.policy import Act, Batch, Policy, act, ask, note
from brain.tools import Toolset
from brain.types import Observation, Reply, ToolCall

__all__ = ["ToolTalk", "tool_loop"]


_SHOWN = 500  # characters of unreadable arguments: enough to see what was meant


@dataclass(frozen=True, slots=True)
class ToolTalk:
    """What a tool loop came to."""

    reply: Reply
    """The model's last reply."""
    messages: Transcript
    """The conversation, grown by all that was said and done; the last reply is in it only if it called tools."""
    rounds: int
    """Requests made to the model."""
    spent: bool = False
    """Whether the limit ended the loop, and not the model."""

    @property
    def problem(self) -> str:
        """Why the last reply is no answer; ``""`` if it is one."""
        if self.reply.cut_off:
            return "the reply was cut off before it ended"
        if self.reply.tool_calls:
            names = ", ".join(call.name for call in self.reply.tool_calls)
            return f"the limit of {self.rounds} model calls was reached with {names} called last"
        return "" if self.reply.text.strip() else "empty answer: the model's last reply holds no text"


def tool_loop(
    messages: Iterable[Message],
    tools: Toolset,
    *,
    max_rounds: int,
    limit: str = "max_node_iterations",
    when_spent: str = "raise",
    view: Callable[[Transcript], Iterable[Message]] | None = None,
    ledger: Ledger | None = None,
    before_round: Callable[[], Policy[None]] | None = None,
    phase: str = "",
) -> Policy[ToolTalk]:
    """Ask with tools until the model stops calling them.

    Whether the last reply is an answer is for the caller to judge: see ``ToolTalk.problem``.

    Args:
        messages: the conversation so far.
        tools: what the model may call.
        max_rounds: requests that may be made to the model.
        limit: the name under which the caller's users know ``max_rounds``, for the error.
        when_spent: what to do when the last of them still calls tools. ``"raise"``: these calls are not
            performed. ``"return"``: they are, and ``spent`` is set. ``"answer"``: they are, and one more
            request goes out with the tools withheld, so that an answer is written.
        view: makes what the model is sent of the conversation; by default all of it.
        ledger: takes in every result, and may answer a call that was made before.
        before_round: a policy to run before each request but the first.
        phase: where in the reasoning this is.

    Raises:
        BudgetExceeded: ``max_rounds`` replies all called tools; ``pending`` names those of the last.
    """
    if when_spent not in ("raise", "return", "answer"):
        raise ConfigurationError(f"when_spent={when_spent!r}: expected 'raise', 'return' or 'answer'")
    if max_rounds < 1:
        raise ConfigurationError(f"{limit}={max_rounds}: the model has to be asked at least once")
    talk = Transcript(messages)
    taken = _ids(talk)
    for number in range(1, max_rounds + 1):
        shown = view(talk) if view else talk
        if before_round is not None and number > 1:
            yield from before_round()
        reply = yield from ask(shown, tools=tools.specs, phase=phase)
        if not reply.tool_calls:
            return ToolTalk(reply, talk, number)
        if number == max_rounds and when_spent == "raise":
            pending = tuple(call.name for call in reply.tool_calls)
            raise BudgetExceeded(
                f"{limit}={max_rounds} is used up, and the model still calls {', '.join(pending)}; "
                f"raise {limit}, or give it less to do",
                limit=limit,
                value=max_rounds,
                pending=pending,
            )
        calls = _with_ids(reply.tool_calls, taken)
        results = yield from _perform(calls, reply.text.strip(), ledger, phase)
        said = reply.text if reply.text.strip() else ""
        talk += [assistant(said, [_message_of(call, tools) for call in calls])]
        talk += [tool_result(call.id, text) for call, text in zip(calls, results, strict=True)]
    if when_spent == "answer":
        shown = view(talk) if view else talk
        if before_round is not None:
            yield from before_round()
        reply = yield from ask(shown, phase=phase)
        return ToolTalk(reply, talk, max_rounds + 1, spent=True)
    return ToolTalk(reply, talk, max_rounds, spent=True)


def _perform(calls: list[ToolCall], thought: str, ledger: Ledger | None, phase: str) -> Policy[list[str]]:
    """Make the calls of one turn; return the texts of their results in the same order."""
    if ledger is None:
        observations = yield from _made(calls, thought, phase)
        return [str(observation) for observation in observations]
    # What is known already, or asked for twice in this turn, is performed once where the tool's results are reused.
    fresh: dict[Any, ToolCall] = {}
    places: list[Any] = []
    for place, call in enumerate(calls):
        known = ledger.known(call.name, call.arguments)
        key = ledger.key(call.name, call.arguments) if ledger.compaction.reuses(call.name) else place
        places.append(known if known is not None else key)
        if known is None and key not in fresh:
            fresh[key] = call
        else:
            yield from note("reused", f"{call.name}: an earlier result of the same call", phase=phase)
    observed = dict(zip(fresh, (yield from _made(list(fresh.values()), thought, phase)), strict=True))
    texts = []
    for call, place in zip(calls, places, strict=True):
        observation = place if isinstance(place, Observation) else observed[place]
        ledger.record(call.name, call.arguments, observation)
        texts.append(ledger.shown(observation))
    return texts


def _made(calls: list[ToolCall], thought: str, phase: str) -> Policy[list[Observation]]:
    if len(calls) == 1:
        only = calls[0]
        return [(yield from act(only.name, only.arguments, thought=thought, id=only.id, phase=phase))]
    outcomes: Any = yield Batch(
        tuple(
            Act(call.name, call.arguments, thought="" if place else thought, id=call.id, phase=phase)
            for place, call in enumerate(calls)
        )
    )
    for outcome in outcomes:
        if isinstance(outcome, BrainError):  # denied, or a budget: for the policy, as with a single call
            raise outcome
    return list(outcomes)


def _ids(messages: Transcript) -> set[str]:
    """Return the ids of the calls that were made before."""
    return {call.get("id", "") for message in messages for call in message.get("tool_calls") or ()}


def _with_ids(calls: Iterable[ToolCall], taken: set[str]) -> list[ToolCall]:
    """Give an id to each call that has none, or one that was used before."""
    named = []
    for call in calls:
        name, number = call.id.strip(), len(taken)
        while not name or name in taken:
            number += 1
            name = f"call_{number}"
        taken.add(name)
        named.append(ToolCall(call.name, call.arguments, name))
    return named


def _message_of(call: ToolCall, tools: Toolset) -> dict[str, Any]:
    name, arguments = call.name, call.arguments
    if name not in tools:  # servers refuse a history with a name that could not be one
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    elif not _is_object(arguments):
        # Servers and chat templates that read the arguments of earlier calls fail on what is no JSON object.
        arguments = json.dumps({"unreadable": arguments[:_SHOWN]}, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
