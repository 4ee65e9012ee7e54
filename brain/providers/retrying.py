"""Asking again when that may help."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from brain.errors import ConfigurationError
from brain.messages import Message
from brain.providers.wrap import Wrapper, ask, ask_streaming
from brain.types import Reply, ToolSpec

__all__ = ["Retrying"]

# As the official clients of OpenAI and Anthropic have it: half a second, doubled each time, 8 s at most,
# up to a quarter less at random so that clients that failed together do not come back together.
_FIRST, _MOST, _JITTER = 0.5, 8.0, 0.25


class Retrying(Wrapper):
    """Asks again after a failure that may pass, as the server asks to wait, or longer each time.

    What cannot succeed is not tried again: only errors that are ``retryable`` are, and none whose server
    asks for a longer wait than ``longest_wait``. A stream is asked for again only as long as none of it
    has been handed on.

    Args:
        provider: the provider to ask.
        max_retries: how many times to ask again.
        longest_wait: seconds beyond which a wait is not worth it.
        budget: seconds to spend waiting in one call.
        sleep: waits; for tests.
        random: returns a number from 0 to 1; for tests.
        on_retry: called with the error, the seconds to wait, and the number of the coming retry.
    """

    def __init__(
        self,
        provider: Any,
        *,
        max_retries: int = 2,
        longest_wait: float = 120.0,
        budget: float = 300.0,
        sleep: Callable[[float], object] = time.sleep,
        random: Callable[[], float] | None = None,
        on_retry: Callable[[Exception, float, int], object] | None = None,
    ) -> None:
        super().__init__(provider)
        if isinstance(max_retries, bool) or max_retries != int(max_retries) or max_retries < 0:
            raise ConfigurationError(f"max_retries must be a whole number from 0, got {max_retries!r}")
        self.max_retries = max_retries
        self.longest_wait = longest_wait
        self.budget = budget
        self._sleep = sleep
        self._random = random
        self._on_retry = on_retry

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model until it replies or there is no point in asking again."""
        waited = 0.0
        for attempt in range(self.max_retries + 1):
            try:
                return ask(self.inner, messages, tools, tool_choice, schema)
            except Exception as error:
                wait = self._wait(error, attempt, waited)
                if wait is None:
                    raise
                waited += self._pause(error, wait, attempt)
        raise AssertionError("the last attempt returns or raises")

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Stream a reply; ask again as long as nothing of it has come."""
        waited = 0.0
        for attempt in range(self.max_retries + 1):
            begun = False
            try:
                for each in ask_streaming(self.inner, messages, tools, tool_choice, schema):
                    begun = True
                    yield each
                return
            except Exception as error:
                wait = None if begun else self._wait(error, attempt, waited)
                if wait is None:
                    raise
                waited += self._pause(error, wait, attempt)

    def _wait(self, error: Exception, attempt: int, waited: float) -> float | None:
        """Return the seconds to wait before asking again; ``None`` if that is no use."""
        if not getattr(error, "retryable", isinstance(error, ConnectionError | TimeoutError)):
            return None
        asked = getattr(error, "retry_after", None)
        if asked:  # a little more than asked for, so that not everybody comes back at once
            wait = asked * (1 + _JITTER / 2 * self._chance())
        else:
            wait = min(_FIRST * 2.0**attempt, _MOST) * (1 - _JITTER * self._chance())
        if attempt >= self.max_retries:
            why = f"gave up after {attempt + 1} attempts"
        elif (asked or wait) > self.longest_wait:
            why = f"gave up: the server asks to wait {asked or wait:g} s"
        elif waited + wait > self.budget:
            why = f"gave up: {waited:g} s of waiting are enough"
        else:
            return float(wait)
        if attempt or asked:
            error.add_note(why)
        return None

    def _pause(self, error: Exception, wait: float, attempt: int) -> float:
        import logging

        logging.getLogger("brain").info("retry %d in %.2f s after %s", attempt + 1, wait, error)
        if self._on_retry is not None:
            self._on_retry(error, wait, attempt + 1)
        self._sleep(wait)
        return wait

    def _chance(self) -> float:
        if self._random is not None:
            return self._random()
        import random

        return random.random()
