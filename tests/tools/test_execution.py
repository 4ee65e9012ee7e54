"""Running tools: coroutines, generators, time limits."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from brain.tools import Tool, Toolset, tool
from brain.types import Observation


def call(function: Any, input: Any = None) -> Observation:
    return Toolset({"f": function}).call("f", input)


async def greet(name: str) -> str:
    await asyncio.sleep(0)
    return f"got {name}"


async def count(name: str) -> AsyncIterator[str]:
    for number in itertools.count():
        yield f"{name}{number}"


def test_a_coroutine_is_run_to_its_end() -> None:
    """In both voices, of a lambda as well, and what it raises is told."""

    async def fails() -> None:
        raise ValueError("kaput")

    assert call(greet, "a") == Observation("got a", value="got a")
    assert call(greet, {"name": "a"}).text == "got a"
    assert call(lambda name: greet(name), "a").text == "got a"
    assert call(fails).text == "f failed: ValueError: kaput"
    assert call(Tool("f", greet, timeout=5), "a").text == "got a"


def test_inside_a_running_loop_a_coroutine_is_an_error_that_says_what_to_do() -> None:
    """It is closed, so that Python does not warn of it; with a timeout it has a thread of its own, and runs."""

    async def inside() -> list[Observation]:
        return [call(greet, "a"), call(count, "a"), call(Tool("f", greet, timeout=5), "a"), call(str.upper, "a")]

    closed, drained, ran, plain = asyncio.run(inside())
    for seen in (closed, drained):
        assert (seen.ok, seen.kind) == (False, "raised")
        assert "an event loop is already running in this thread" in seen.text
        assert "asyncio.to_thread" in seen.text
    assert (ran.text, plain.text) == ("got a", "A")


def test_a_coroutine_that_cancels_itself_ends_no_run() -> None:
    """``CancelledError`` is no ``Exception``, but nobody has cancelled the agent."""

    async def cancels() -> None:
        raise asyncio.CancelledError

    seen = call(cancels)
    assert (seen.ok, seen.text) == (False, "f failed: RuntimeError: the coroutine was cancelled from within")


def test_a_generator_is_drained() -> None:
    """Texts become lines, other items a list; what it raises is told."""

    def rows(n: int) -> Iterator[str]:
        for number in range(n):
            yield f"row {number}"

    def fails() -> Iterator[int]:
        yield 1
        raise ValueError("kaput")

    assert call(rows, {"n": 3}) == Observation("row 0\nrow 1\nrow 2", value="row 0\nrow 1\nrow 2")
    assert call(rows, {"n": 0}).text == "[]"
    assert call(lambda: iter([1, "a"])).text == '[1, "a"]'
    assert call(lambda: map(str, range(2))).text == "0\n1"
    assert call(fails).text == "f failed: ValueError: kaput"


@pytest.mark.parametrize("item", [1, "", "x" * 1_000, {"a": [1]}, None], ids=["int", "empty", "long", "dict", "none"])
def test_an_endless_generator_is_cut_and_closed(item: Any) -> None:
    """Soon, and it is told; what the generator has opened is closed."""
    closed = []

    def endless() -> Iterator[Any]:
        try:
            while True:
                yield item
        finally:
            closed.append(True)

    began = time.monotonic()
    seen = call(endless)
    assert time.monotonic() - began < 5
    assert "[cut: the first " in seen.text[-100:] or "[cut: the first " in str(seen.value)[-100:]
    assert len(seen.text) <= 100_100
    assert closed == [True]
    assert seen.ok


def test_an_endless_asynchronous_generator_is_cut() -> None:
    """As others are."""
    seen = call(Tool("f", count, max_result_chars=50), "a")
    assert seen.text.startswith("a0\na1\n")
    assert "cut: the first" in seen.text
    assert seen.ok


def test_a_tool_that_takes_too_long_is_given_up() -> None:
    """The run goes on at once; what the tool does later changes nothing."""
    release, done = threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def slow() -> str:
        release.wait(10)
        done.set()
        return "late"

    began = time.monotonic()
    seen = call(slow)
    assert time.monotonic() - began < 5
    assert seen == Observation("f gave no result within its timeout of 0.05 seconds", ok=False, kind="timeout")
    release.set()
    assert done.wait(10)


def test_a_timeout_holds_for_generators_and_coroutines() -> None:
    """For all that it takes to have a result."""
    stop = threading.Event()

    def slow() -> Iterator[int]:
        while not stop.wait(0.01):
            yield 1

    async def sleeps() -> None:
        await asyncio.sleep(60)

    assert call(Tool("f", slow, timeout=0.05)).kind == "timeout"
    assert call(Tool("f", sleeps, timeout=0.05)).kind == "timeout"
    stop.set()


def test_within_its_timeout_a_tool_is_as_any_other() -> None:
    """Its value, what it raises, and the caller's context variables; any length of time may be given."""
    setting = contextvars.ContextVar("setting", default="unset")
    setting.set("set")

    def fails() -> None:
        raise ValueError("kaput")

    assert call(Tool("f", lambda: [1], timeout=5)) == Observation("[1]", value=[1])
    assert call(Tool("f", fails, timeout=5)).text == "f failed: ValueError: kaput"
    assert call(Tool("f", setting.get, timeout=5), {}).text == "set"
    assert call(Tool("f", str, timeout=float("inf")), "a").text == "a"


def test_what_a_tool_prints_is_not_its_result(capsys: pytest.CaptureFixture[str]) -> None:
    """It goes where the program prints."""

    def noisy() -> str:
        print("noise")
        return "value"

    assert call(noisy).text == "value"
    assert capsys.readouterr().out == "noise\n"


def test_the_whole_value_is_kept_beside_what_is_shown() -> None:
    """For the trace."""
    seen = call(Tool("f", lambda: "x" * 3_012, max_result_chars=20))
    assert seen.text == "x" * 20 + " [cut: the first 20 of 3012 characters]"
    assert seen.value == "x" * 3_012
    assert call(lambda: {"a": 1}).value == {"a": 1}
