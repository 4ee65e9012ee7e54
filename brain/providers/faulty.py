"""A provider that fails when it is told to: for tests of what survives it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message
from brain.providers.wrap import Wrapper, ask
from brain.types import Reply, ToolSpec

__all__ = ["FaultyProvider"]

_PASSING = {"rate_limit", "server", "timeout", "connection", "malformed", "truncated", "api"}


class FaultyProvider(Wrapper):
    """Fails at the calls it is told to fail at, and passes the others on.

    Args:
        provider: the provider to ask at the other calls.
        faults: call number, from 1, to what happens then: the kind of a ``ProviderError`` (``"timeout"``),
            an exception to raise, or a ``Reply`` to give instead (a malformed text, one that is cut off).
    """

    stream = None  # type: ignore[assignment]  # it fails call by call, and has no chunks

    def __init__(self, provider: Any, faults: Mapping[int, Any]) -> None:
        super().__init__(provider)
        self.faults = dict(faults)
        self.calls = 0
        """How many calls there have been."""
        self._lock = threading.Lock()

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Fail if this call is to, else ask the model."""
        with self._lock:
            self.calls += 1
            number = self.calls
        fault = self.faults.get(number)
        if fault is None:
            return ask(self.inner, messages, tools, tool_choice, schema)
        if isinstance(fault, str):
            raise ProviderError(f"call {number} fails: {fault}", kind=fault, retryable=fault in _PASSING)
        if isinstance(fault, Reply):
            return fault
        raise fault

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
