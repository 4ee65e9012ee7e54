"""Asking another model when one fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brain.errors import ConfigurationError, ProviderError
from brain.messages import Message
from brain.providers.wrap import ask, ask_streaming, check_provider
from brain.types import Reply, ToolSpec

__all__ = ["Fallback"]


class Fallback:
    """Asks the first provider, on failure the second, and so on.

    Any failure leads on, the bad request included: what is too long for one model may fit another.
    ``Reply.model`` tells who answered. A stream that fails after its first chunk is not started over.

    Args:
        providers: whom to ask, in this order.
    """

    accepts_transcript = True

    def __init__(self, *providers: Any) -> None:
        if not providers:
            raise ConfigurationError("Fallback needs at least one provider")
        self.providers = tuple(check_provider(each) for each in providers)

    @property
    def accepts_schema(self) -> bool:
        """Whether any of the providers takes a schema; the others are asked without it."""
        return any(getattr(each, "accepts_schema", False) for each in self.providers)

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the reply of the first provider that gives one."""
        failures: list[Exception] = []
        for provider in self.providers:
            try:
                return ask(provider, messages, tools, tool_choice, schema)
            except Exception as error:
                failures.append(error)
        raise self._all_failed(failures)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Stream the reply of the first provider that begins one."""
        failures: list[Exception] = []
        for provider in self.providers:
            begun = False
            try:
                for each in ask_streaming(provider, messages, tools, tool_choice, schema):
                    begun = True
                    yield each
                return
            except Exception as error:
                if begun:
                    raise
                failures.append(error)
        raise self._all_failed(failures)

    def _all_failed(self, failures: list[Exception]) -> Exception:
        last = failures[-1]
        if len(failures) == 1:
            return last
        said = "; ".join(
            f"{_named(provider)}: {error}" for provider, error in zip(self.providers, failures, strict=True)
        )
        problem = ProviderError(
            f"all {len(failures)} providers failed: {said}",
            kind=getattr(last, "kind", "unknown"),
            status=getattr(last, "status", None),
            retryable=any(getattr(error, "retryable", False) for error in failures),
        )
        problem.__cause__ = last
        return problem

    def __repr__(self) -> str:
        return f"Fallback({', '.join(map(repr, self.providers))})"


def _named(provider: Any) -> str:
    kind: Any = type(provider)
    return kind.__name__ if kind.__repr__ is object.__repr__ else repr(provider)
