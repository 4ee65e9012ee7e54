"""What a run of a graph remembers, and what a stage comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brain.ledger import ContextCompaction, Ledger
from brain.messages import Message, Transcript, system, user
from brain.normalise import legal

__all__ = ["END", "GraphState", "NodeResult"]

END = "__end__"
"""The name of the end, as the target of an edge or a route."""


@dataclass(slots=True)
class NodeResult:
    """What one execution of a stage came to; conditions of edges look at it."""

    node: str
    text: str = ""
    """What the stage wrote."""
    output: Any = None
    """A structured value, the JSON object that the text holds, or else the text."""
    ok: bool = True
    """Whether the stage achieved what it is for: a check passed, a plan is good enough."""
    route: str | None = None
    """The route the stage chose, one of those it declares."""
    spent: bool = False
    """Whether the stage ran out of its budget in the middle."""
    error: str = ""
    """What went wrong in the stage, where the run goes on all the same."""


@dataclass(slots=True)
class GraphState:
    """The state of one run of a graph. Every run has its own."""

    task: str
    system_prompt: str = ""
    """The system prompt with the shared blocks: the stable beginning of every request."""
    compaction: ContextCompaction = field(default_factory=ContextCompaction)
    conversation: Transcript = field(default_factory=Transcript)
    """What all stages see: the question, tool calls and their results, what stages wrote."""
    context: dict[str, Any] = field(default_factory=dict)
    """Values that stages leave for others under their ``output_key``: a plan, a critique, a verdict."""
    visits: Counter[str] = field(default_factory=Counter)
    """Executions of each stage; every round of a tool loop counts."""
    results: dict[str, NodeResult] = field(default_factory=dict)
    """The latest result of each stage."""
    path: list[str] = field(default_factory=list)
    """The stages executed, in order; every round of a tool loop counts."""
    answer: str = ""
    """The latest text that may be the answer."""
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.compaction)
        if not self.conversation:
            self.conversation = Transcript([user(self.task)])

    def request(self, instructions: str, *, scope: str = "full") -> Transcript:
        """Return the messages of a stage's request: the stable prefix, the conversation, the instructions.

        The instructions are for this request only; they do not become part of the conversation.
        """
        messages: list[Message] = []
        if self.system_prompt:
            messages.append(system(self.system_prompt, cache_stable=True))
        messages += [user(self.task)] if scope == "scoped" else self.conversation
        if instructions:
            messages.append(user(instructions))
        return Transcript(legal(messages))

    def keep(self, *messages: Message) -> None:
        """Add to the conversation that all stages see."""
        self.conversation += messages

    def shown(self, keys: Mapping[str, str]) -> str:
        """Write values of the context as paragraphs, each under its title; what is not there is left out."""
        parts = []
        for key, title in keys.items():
            value = self.context.get(key)
            if value not in (None, "", [], {}):
                parts.append(f"{title}:\n{as_text(value)}")
        return "\n\n".join(parts)


def as_text(value: Any) -> str:
    """Write a value for a model to read: dataclasses and containers as JSON."""
    if isinstance(value, str):
        return value
    from brain.tools import render

    return render(value)
