"""Asking a model the same thing only once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain.messages import Message
from brain.providers.record import request_key, request_record
from brain.providers.wire import positive
from brain.providers.wrap import Wrapper, ask, ask_streaming
from brain.types import Reply, ToolSpec, Usage

__all__ = ["Cached"]


class Cached(Wrapper):
    """Remembers replies, and gives an equal request the reply it got before, at no cost.

    Not for sampling: asking the same question five times is meant to give five replies, and gives one
    here. Failures are not remembered.

    Args:
        provider: the provider to ask.
        max_entries: how many replies to remember; the least recently used goes first.
    """

    def __init__(self, provider: Any, *, max_entries: int = 1024) -> None:
        super().__init__(provider)
        self.max_entries: int = positive("max_entries", max_entries, whole=True)
        self._replies: OrderedDict[str, Reply] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = 0
        """How many requests were answered from memory."""

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the remembered reply, or ask; a remembered one took no tokens, and its usage says so."""
        key = request_key(request_record(messages, tools, tool_choice, schema, str))
        reply = self._known(key)
        if reply is None:
            reply = self._learn(key, ask(self.inner, messages, tools, tool_choice, schema))
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Stream a reply; a remembered one comes in one chunk."""
        key = request_key(request_record(messages, tools, tool_choice, schema, str))
        reply = self._known(key)
        if reply is None:
            for each in ask_streaming(self.inner, messages, tools, tool_choice, schema):
                yield self._learn(key, each) if isinstance(each, Reply) else each
            return
        if reply.text:
            yield reply.text
        yield reply

    def _known(self, key: str) -> Reply | None:
        with self._lock:
            reply = self._replies.get(key)
            if reply is None:
                return None
            self._replies.move_to_end(key)
            self.hits += 1
        return replace(reply, usage=Usage())

    def _learn(self, key: str, reply: Reply) -> Reply:
        with self._lock:
            self._replies[key] = reply
            while len(self._replies) > self.max_entries:
                self._replies.popitem(last=False)
        return reply

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
