"""What hostile arguments, names and results must not do: be misread, be dropped, or take the host's time and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from brain.tools import Toolset, plain, render, tool


def add(a: int, b: int = 2) -> str:
    return f"{a},{b}"


def echo(q: str) -> str:
    return q


def test_one_key_with_two_values_is_refused() -> None:
    """Which of two values was meant is not guessed, at any depth, in either voice."""
    native = Toolset([add]).call_raw("add", '{"a": 1, "a": 2}')
    assert native.text == (
        "Bad arguments for add: they are not JSON, they give 'a' twice. "
        "It takes required: a: a whole number (int); optional: b: a whole number (int)."
    )
    assert not Toolset([add]).call("add", '{"a": 1, "a": 2}').ok
    nested = tool(lambda box: box, name="keep")
    assert not Toolset([nested]).call_raw("keep", '{"box": [{"w": 1, "w": 2}]}').ok


def test_null_for_an_optional_argument_leaves_it_out() -> None:
    """Models say null for what they do not give; the default holds, and a required argument is missed."""
    tools = Toolset([add])
    assert tools.call("add", {"a": 1, "b": None}).text == "1,2"
    assert tools.call("add", '{"a": 1, "b": null}').text == "1,2"
    assert tools.call("add", {"a": None}).text.startswith("Bad arguments for add: a: expected a whole number")


def test_null_reaches_an_argument_that_takes_it() -> None:
    """Where null means something, it is passed on and not replaced by the default."""

    def find(n: int | None = 5) -> str:
        return repr(n)

    assert Toolset([find]).call("find", {"n": None}).text == "None"


def test_a_byte_order_mark_is_no_part_of_the_arguments() -> None:
    """Arguments that begin with a byte order mark are read."""
    assert Toolset([add]).call_raw("add", '\ufeff{"a": 1}').text == "1,2"


@pytest.mark.parametrize("name", [None, 5, ["add"], {}])
def test_a_name_that_is_no_text_is_an_unknown_tool(name: Any) -> None:
    """What a provider passes on unread does not raise."""
    seen = Toolset([add]).call(name, {"a": 1})
    assert (seen.ok, seen.kind) == (False, "unknown_tool")
    assert Toolset([add]).call_raw(name, "{}").kind == "unknown_tool"


def test_a_huge_unknown_name_is_not_repeated_whole() -> None:
    """A native call by a name of a megabyte is told in a few hundred characters."""
    assert len(Toolset([add]).call("x" * 1_000_000, {}).text) < 500


def test_long_texts_count_as_many_values() -> None:
    """A result of few but long texts is cut like one of many values."""
    long = ["x" * 1_000_000] * 50
    assert plain(long)[-1] == "[cut: the first 10 values]"
    assert render(long).endswith(" [cut: the first 100000 of more than 10000070 characters]")


def test_an_endless_iterator_of_large_rows_is_left_early() -> None:
    """Rows are bounded by their size, not by their number alone."""
    given = 0

    def rows() -> Iterator[list[str]]:
        nonlocal given
        while True:
            given += 1
            yield ["x" * 100_000]

    seen = Toolset([rows]).call("rows", {})
    assert seen.ok
    assert given == 100


LARGE: dict[str, Callable[[], str]] = {
    "brackets": lambda: "[" * 1_000_000,
    "objects": lambda: '{"a":' * 200_000,
    "quotes": lambda: '"' * 1_000_000,
    "backticks": lambda: "`" * 1_000_000,
    "fences": lambda: "```json\n" * 100_000,
    "backslashes": lambda: "\\" * 1_000_000,
    "digits": lambda: "1" * 1_000_000,
    "exponent": lambda: "1e" + "9" * 1_000_000,
    "spaces": lambda: " " * 1_000_000,
    "a long number inside": lambda: '{"a":' + "1" * 1_000_000 + "}",
    "keys": lambda: "{" + ",".join(f'"k{i}":1' for i in range(60_000)) + ',"k59999":2}',
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("call", [add, echo], ids=["typed", "text"])
def test_a_megabyte_of_arguments_is_an_observation_within_a_second(call: Callable[..., Any], kind: str) -> None:
    """Hostile arguments take linear time in both voices, and are never repeated whole."""
    given, tools, name = LARGE[kind](), Toolset([call]), call.__name__
    began = time.monotonic()
    seen = [tools.call(name, given), tools.call_raw(name, given), tools.call(name, {"a": given})]
    assert time.monotonic() - began < 15
    assert all(len(each.text) < 5_000 for each in seen if not each.ok)
