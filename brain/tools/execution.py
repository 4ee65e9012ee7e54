"""Running a tool: coroutines, generators, time limits and exceptions, down to an observation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import AsyncGeneratorType
from typing import Any

from brain.tools.render import DEFAULT_LIMIT, render, shortened
from brain.tools.tool import Tool
from brain.types import Observation

__all__ = ["execute"]

_MOST_ITEMS = 10_000
"""Items drained from a generator: with the limit on characters, what keeps an endless one from running on."""


def execute(tool: Tool, call: Callable[[], Any], failure: Callable[[Tool, Exception], str]) -> Observation:
    """Call, and return what came of it; exceptions that are not ``Exception`` get through.

    Args:
        tool: whose limits hold.
        call: the call, its arguments bound.
        failure: says to the model what was raised.
    """
    limit = tool.max_result_chars or DEFAULT_LIMIT
    try:
        value = _timed(tool, lambda: _settled(call(), limit)) if tool.timeout else _settled(call(), limit)
    except _TimedOut:
        text = f"{tool.name} gave no result within its timeout of {tool.timeout:g} seconds"
        return Observation(text, ok=False, kind="timeout")
    except Exception as error:
        return Observation(shortened(failure(tool, error), limit), ok=False, kind="raised", detail=_traceback(error))
    return Observation(value if type(value) is str and len(value) <= limit else render(value, limit), value=value)


class _TimedOut(Exception):
    pass


def _settled(value: Any, limit: int) -> Any:
    """Await what must be awaited, and drain what must be drained."""
    if hasattr(value, "__await__"):
        value = _awaited(value)
    if isinstance(value, AsyncGeneratorType):
        value = _awaited(_collected(value, limit))
    if isinstance(value, Iterator):
        return _drained(value, limit)
    return value


def _awaited(awaitable: Any) -> Any:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:

        async def wait() -> Any:
            return await awaitable

        return asyncio.run(wait())
    if hasattr(awaitable, "close"):
        awaitable.close()
    raise RuntimeError(
        "this tool is asynchronous and an event loop is already running in this thread; "
        "run the agent in a thread of its own (asyncio.to_thread), or give it a synchronous tool"
    )


async def _collected(source: Any, limit: int) -> list[Any]:
    items, size = [], 0
    async for item in source:
        items.append(item)
        size += len(str(item))
        if len(items) >= _MOST_ITEMS or size >= limit:
            items.append(f"[cut after {len(items)} items]")
            break
    return items


def _drained(source: Iterator[Any], limit: int) -> Any:
    """Take the items of an iterator up to a bound; texts are joined to lines."""
    items: list[Any] = []
    size = 0
    for item in source:
        items.append(item)
        size += len(item) if isinstance(item, str) else 8  # the length of other items is bounded by their number
        if len(items) >= _MOST_ITEMS or size >= limit:
            items.append(f"[cut after {len(items)} items]")
            break
    return "\n".join(items) if items and all(isinstance(item, str) for item in items) else items


def _timed(tool: Tool, call: Callable[[], Any]) -> Any:
    """Call in a thread of its own and give up after the timeout; the thread cannot be stopped, only left."""
    import threading

    outcome: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # carried over to the caller's thread
            raised.append(error)

    thread = threading.Thread(target=work, name=f"brain tool {tool.name}", daemon=True)
    thread.start()
    thread.join(tool.timeout)
    if raised:
        raise raised[0]
    if outcome:
        return outcome[0]
    raise _TimedOut


def _traceback(error: Exception) -> str:
    """Return the traceback, for the trace; the model never sees it."""
    import traceback

    lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-8)  # where it happened
    try:
        return "".join(lines)[-10_000:]
    finally:
        if sys.exc_info()[0] is None:
            error.__traceback__ = None
