"""A model that needs no model: the default, offline and the same every time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brain.messages import Message
from brain.providers.wire import text_of
from brain.types import Reply, ToolSpec

__all__ = ["LocalEchoProvider"]


class LocalEchoProvider:
    """Replies with the last user message; given a schema, with the smallest valid instance of it.

    It never calls tools and holds no state, so that a program runs the same everywhere, without a key.
    """

    accepts_schema = True
    accepts_transcript = True

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),  # noqa: ARG002 - an echo calls no tools
        tool_choice: Any = "none",  # noqa: ARG002
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the echo of the last user message, or the smallest instance of ``schema`` as JSON."""
        if schema is not None:
            from brain.providers.smallest import smallest

            return Reply(json.dumps(smallest(schema), ensure_ascii=False), finish_reason="stop", model="echo")
        for index in range(len(messages) - 1, -1, -1):
            if messages[index].get("role") == "user":
                return Reply(text_of(messages[index].get("content")), finish_reason="stop", model="echo")
        return Reply("", finish_reason="stop", model="echo")

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Yield the words of the echo one by one, then the whole reply."""
        reply = self.generate(messages, tools, tool_choice, schema=schema)
        yield from re.findall(r"\s*\S+|\s+$", reply.text)
        yield reply

    def __repr__(self) -> str:
        return "LocalEchoProvider()"
