"""Asking no faster than a server allows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from brain.errors import ConfigurationError
from brain.messages import Message
from brain.providers.wire import positive
from brain.providers.wrap import Wrapper, ask, ask_streaming
from brain.types import Reply, ToolSpec

__all__ = ["RateLimited"]


class RateLimited(Wrapper):
    """Spaces requests out and bounds how many are under way, over all threads that share it.

    Args:
        provider: the provider to ask.
        per_minute: requests a minute.
        burst: requests that may go out at once after a quiet time.
        max_concurrent: requests under way at the same time.
        sleep: waits; for tests.
        clock: monotonic seconds; for tests.
    """

    def __init__(
        self,
        provider: Any,
        *,
        per_minute: float | None = None,
        burst: int = 1,
        max_concurrent: int | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(provider)
        if per_minute is None and max_concurrent is None:
            raise ConfigurationError("RateLimited needs per_minute=, max_concurrent= or both")
        self.per_minute: float | None = None if per_minute is None else positive("per_minute", per_minute)
        self.burst: int = positive("burst", burst, whole=True)
        self.max_concurrent: int | None = (
            None if max_concurrent is None else positive("max_concurrent", max_concurrent, whole=True)
        )
        self._sleep = sleep
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self.max_concurrent) if self.max_concurrent else None
        self._due: float | None = None

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model when its turn has come."""
        with self._turn():
            return ask(self.inner, messages, tools, tool_choice, schema)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Stream a reply when its turn has come; its place is taken until the stream ends."""
        with self._turn():
            yield from ask_streaming(self.inner, messages, tools, tool_choice, schema)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._places is not None:
            self._places.acquire()
        try:
            if (wait := self._reserve()) > 0:
                self._sleep(wait)
            yield
        finally:
            if self._places is not None:
                self._places.release()

    def _reserve(self) -> float:
        """Book the next free moment and return how far away it is (the generic cell rate algorithm)."""
        if self.per_minute is None:
            return 0.0
        interval = 60.0 / self.per_minute
        with self._lock:
            now = self._clock()
            due = now if self._due is None else max(self._due, now)
            self._due = due + interval
        return max(due - (self.burst - 1) * interval - now, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_places": None, "_due": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()  # another process counts for itself
