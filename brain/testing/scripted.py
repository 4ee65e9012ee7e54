"""A provider that says what a script says, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.messages import Message, Transcript
from brain.testing.lines import Fails, Says
from brain.types import Reply, ToolSpec

__all__ = ["Request", "ScriptExhausted", "ScriptedProvider"]


class ScriptExhausted(BaseException):
    """The model was asked more often than its script has lines; the message shows what it was asked.

    It derives from ``BaseException`` so that nothing on the way makes a failed run of it: the test fails.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """What the model was asked."""

    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Any = "none"
    schema: Mapping[str, Any] | None = None


class ScriptedProvider:
    """A model for tests: its replies come from a script, its requests are recorded.

    Args:
        script: a list or generator of replies, or a callable that is given what the provider is given
            and returns one. A reply is a text, a ``Reply``, ``says(...)``, or an exception to raise.

    Raises:
        ScriptExhausted: it was asked beyond the end of its script.
    """

    accepts_schema = True
    accepts_transcript = True

    def __init__(self, script: Iterable[Any] | Callable[..., Any]) -> None:
        self._model = script if callable(script) else None
        self._lines: Iterator[Any] = iter(()) if callable(script) else iter(script)
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        """What was asked, in order; messages as they were then."""

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the next reply of the script, or raise the exception that stands there."""
        kept = messages if isinstance(messages, Transcript) else list(messages)
        with self._lock:
            self.requests.append(Request(kept, tuple(tools), tool_choice, schema))
            if self._model is None:
                try:
                    said = next(self._lines)
                except StopIteration:
                    raise ScriptExhausted(self._shown()) from None
        if self._model is not None:
            said = self._model(messages, tools=tools, tool_choice=tool_choice)
        return spoken(said)

    def _shown(self) -> str:
        request = self.requests[-1]
        lines = [f"the script has {len(self.requests) - 1} replies, and the model was asked once more:"]
        last = list(request.messages)[-6:]  # the end of the conversation says why
        lines += [f"  {message.get('role')}: {str(message.get('content'))[:500]}" for message in last]
        if request.tools:
            lines.append(f"  (tools: {', '.join(str(each['function']['name']) for each in request.tools)})")
        return "\n".join(lines)


def spoken(said: Any) -> Reply:
    """Return a line of a script as a reply, or raise what it raises."""
    if isinstance(said, Fails):
        raise said.error
    if isinstance(said, Says):
        return said.reply
    if isinstance(said, BaseException) or (isinstance(said, type) and issubclass(said, BaseException)):
        raise said
    if isinstance(said, str):
        return Reply(said)
    if isinstance(said, Reply):
        return said
    raise TypeError(f"a script holds texts, replies and exceptions, not {type(said).__name__} ({said!r:.80})")
