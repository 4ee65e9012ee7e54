"""What wrappers share: a provider made of another one has what the other has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brain.errors import ProviderError, WrongType
from brain.messages import Message
from brain.types import Reply, ToolCall, ToolSpec, Usage

__all__ = ["Wrapper", "ask", "ask_streaming", "check_provider"]


def check_provider(provider: Any) -> Any:
    """Return the provider; refuse what is none."""
    if not callable(getattr(provider, "generate", None)):
        raise WrongType(f"a provider has a method generate(messages, tools, tool_choice); got {provider!r:.80}")
    return provider


def ask(provider: Any, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any) -> Reply:
    """Ask any provider, in the form it takes, and return a ``Reply``."""
    given, extra = _form(provider, messages, schema)
    return _as_reply(provider.generate(given, tools=list(tools), tool_choice=tool_choice, **extra))


def ask_streaming(
    provider: Any, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
) -> Iterator[str | Reply]:
    """Ask any provider and yield chunks and the reply; one that does not stream gives its text in one chunk."""
    if not callable(getattr(provider, "stream", None)):
        reply = ask(provider, messages, tools, tool_choice, schema)
        if reply.text:
            yield reply.text
        yield reply
        return
    given, extra = _form(provider, messages, schema)
    yield from provider.stream(given, tools=list(tools), tool_choice=tool_choice, **extra)


def _form(provider: Any, messages: Sequence[Message], schema: Any) -> tuple[Any, dict[str, Any]]:
    given = messages if getattr(provider, "accepts_transcript", False) else list(messages)
    takes_schema = schema is not None and getattr(provider, "accepts_schema", False)
    return given, {"schema": schema} if takes_schema else {}


def _as_reply(said: Any) -> Reply:
    if isinstance(said, Reply):
        return said
    text = said if isinstance(said, str) else getattr(said, "text", said)
    if text is not None and not isinstance(text, str):
        raise ProviderError(
            f"the provider returned {type(said).__name__}; expected a Reply or an object whose text is a str",
            kind="malformed",
        )
    calls, usage = getattr(said, "tool_calls", None) or (), getattr(said, "usage", None)
    reason = getattr(said, "finish_reason", None)
    return Reply(
        text or "",
        tuple(call for call in calls if isinstance(call, ToolCall)),
        usage if isinstance(usage, Usage) else None,
        reason if isinstance(reason, str) else None,
    )


class Wrapper:
    """A provider that passes requests on to another one; subclasses do something on the way."""

    accepts_transcript = True

    def __init__(self, provider: Any) -> None:
        self.inner = check_provider(provider)

    @property
    def accepts_schema(self) -> bool:
        """Whether the provider inside takes a schema."""
        return bool(getattr(self.inner, "accepts_schema", False))

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model once."""
        return ask(self.inner, messages, tools, tool_choice, schema)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Ask the model once and yield its text as it comes, then the whole reply."""
        yield from ask_streaming(self.inner, messages, tools, tool_choice, schema)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"
