"""Running a tool: coroutines, generators, time limits and exceptions, down to an observation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from brain.tools.render import DEFAULT_LIMIT, render, shortened
from brain.tools.tool import Tool
from brain.types import Observation

__all__ = ["execute"]

_MOST_ITEMS = 10_000
"""Items drained from a generator: with the limit on characters, what keeps an endless one from running on."""
_SPARSE = 100
"""Of items that are no texts, programs may want more than a model is shown; this many times more are drained."""
_MOST_DETAIL = 10_000
"""Characters of a traceback that are kept, from its end."""


def execute(
    tool: Tool, positional: Sequence[Any], named: Mapping[str, Any], failure: Callable[[Tool, Exception], str]
) -> Observation:
    """Call, and return what came of it; exceptions that are not ``Exception`` get through.

    Args:
        tool: what is called, and whose limits hold.
        positional: arguments by position.
        named: arguments by name.
        failure: says to the model what was raised.
    """
    limit = tool.max_result_chars or DEFAULT_LIMIT
    try:
        if tool.timeout is None:
            value = tool.call(*positional, **named)
            if type(value) is not str:
                value = _settled(value, limit)
        else:
            value = _timed(tool, lambda: _settled(tool.call(*positional, **named), limit))
    except _TimedOut:
        text = f"{tool.name} gave no result within its timeout of {tool.timeout:g} seconds"
        return Observation(text, ok=False, kind="timeout")
    except Exception as error:
        return Observation(shortened(failure(tool, error), limit), ok=False, kind="raised", detail=_traceback(error))
    if type(value) is str and len(value) <= limit and value.isascii():
        return Observation(value, value=value)
    return Observation(render(value, limit), value=value)


class _TimedOut(Exception):
    pass


def _settled(value: Any, limit: int) -> Any:
    """Await what must be awaited, and drain what must be drained."""
    if hasattr(type(value), "__await__"):
        value = _awaited(value)
    if isinstance(value, AsyncIterator):
        return _awaited(_collected(value, _Drain(limit)))
    if isinstance(value, Iterator):
        return _drained(value, _Drain(limit))
    return value


def _awaited(awaitable: Any) -> Any:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:

        async def wait() -> Any:
            return await awaitable

        try:
            return asyncio.run(wait())
        except asyncio.CancelledError as error:  # the tool's own doing: nobody has cancelled this thread
            raise RuntimeError("the coroutine was cancelled from within") from error
    if hasattr(awaitable, "close"):
        awaitable.close()
    raise RuntimeError(
        "this tool is asynchronous and an event loop is already running in this thread; "
        "run the agent in a thread of its own (asyncio.to_thread), or give it a synchronous tool"
    )


class _Drain:
    """Items taken from an iterator, up to a bound."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.items: list[Any] = []
        self.size = 0

    def takes(self, item: Any) -> bool:
        """Keep an item; return whether there is room for another."""
        self.items.append(item)
        self.size += len(item) + 1 if isinstance(item, str) else 8 + len(render(item)) // _SPARSE
        if self.size < self.limit and len(self.items) < _MOST_ITEMS:
            return True
        self.items.append(f"[cut: the first {len(self.items)} items; there may be more]")
        return False

    def value(self) -> Any:
        """Return the items; texts are joined to lines."""
        texts = self.items and all(isinstance(item, str) for item in self.items)
        return "\n".join(self.items) if texts else self.items


def _drained(source: Iterator[Any], drain: _Drain) -> Any:
    try:
        for item in source:
            if not drain.takes(item):
                break
    finally:
        if isinstance(source, Generator):
            source.close()  # what it has opened is not left open until the garbage is collected
    return drain.value()


async def _collected(source: AsyncIterator[Any], drain: _Drain) -> Any:
    async for item in source:
        if not drain.takes(item):
            break
    return drain.value()


def _timed(tool: Tool, call: Callable[[], Any]) -> Any:
    """Call in a thread of its own and give up after the timeout; the thread cannot be stopped, only left."""
    import contextvars
    import threading

    outcome: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # carried over to the caller's thread
            raised.append(error)

    within = contextvars.copy_context()
    thread = threading.Thread(target=within.run, args=(work,), name=f"brain tool {tool.name}", daemon=True)
    thread.start()
    thread.join(min(tool.timeout or 0, threading.TIMEOUT_MAX))
    if raised:
        raise raised[0]
    if outcome:
        return outcome[0]
    raise _TimedOut


def _traceback(error: Exception) -> str:
    """Return the traceback, for the trace; the model never sees it."""
    import traceback

    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-8)  # where it happened
    except Exception as worse:  # an exception that cannot be told
        return f"{type(error).__name__} (no traceback: {type(worse).__name__})"
    return "".join(lines)[-_MOST_DETAIL:]
