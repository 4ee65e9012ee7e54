"""What the checks share: structured replies, native calls, and the tools add, look and boom."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from brain.messages import Message
from brain.patterns import BasePattern
from brain.runtime import Noted
from brain.testing import ScriptedProvider, calls, says
from brain.testing.lines import Says
from brain.types import PatternResult


def obj(**fields: Any) -> str:
    """A structured reply."""
    return json.dumps(fields)


def call(tool: str, /, **arguments: Any) -> Says:
    """A reply that is one native tool call."""
    return says("", calls(tool, **arguments))


class Tools:
    """The tools of the checks, and how often each was called."""

    def __init__(self) -> None:
        self.looked: list[Any] = []
        self.added: list[tuple[int, int]] = []

    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        self.added.append((a, b))
        return a + b

    def look(self, k: str) -> str:
        """Look something up."""
        self.looked.append(k)
        return f"val-{k}-{len(self.looked)}"

    def boom(self) -> str:
        """Fail."""
        raise ValueError("kaput")

    @property
    def all(self) -> dict[str, Any]:
        """All of them, by name."""
        return {"add": self.add, "look": self.look, "boom": self.boom}


def play(
    make: Any, script: Iterable[Any], task: str = "TASK", **options: Any
) -> tuple[PatternResult, ScriptedProvider]:
    """Run ``make(provider)`` on a script to its end; return the result and the model with its requests."""
    model = ScriptedProvider(list(script))
    pattern: BasePattern = make(model)
    return pattern.run(task, **options), model


def text_of(model: ScriptedProvider, request: int) -> str:
    """All that was said in a request (counted from 1)."""
    return "\n".join(str(message.get("content") or "") for message in model.requests[request - 1].messages)


def last_of(model: ScriptedProvider, request: int) -> str:
    """The last message of a request (counted from 1)."""
    return str(model.requests[request - 1].messages[-1]["content"])


def messages_of(model: ScriptedProvider, request: int) -> list[Message]:
    """The messages of a request (counted from 1)."""
    return list(model.requests[request - 1].messages)


def results_of(model: ScriptedProvider, request: int) -> list[str]:
    """The tool results in a request (counted from 1), in order."""
    return [str(each["content"]) for each in messages_of(model, request) if each["role"] == "tool"]


def notes(result: PatternResult, kind: str) -> list[str]:
    """The texts of the notes of one kind, in order."""
    assert result.journal is not None
    return [entry.action.text for entry in result.journal if getattr(entry.action, "kind", None) == kind]  # type: ignore[union-attr]


def told(events: Iterable[Any]) -> list[str]:
    """Events as words: notes by kind and text, all else by type."""
    return [
        f"{event.entry.action.kind}: {event.entry.action.text}" if isinstance(event, Noted) else type(event).__name__
        for event in events
    ]
