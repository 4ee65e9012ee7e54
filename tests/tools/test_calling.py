"""Calls in two voices: with the text of the ReAct protocol, and with the arguments of a native call."""

from __future__ import annotations

import dataclasses
import datetime
import json
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional

import pytest

from brain.tools import Tool, Toolset
from brain.types import Observation


@dataclasses.dataclass
class Box:
    w: int
    label: str = "x"


def unannotated(text):  # type: ignore[no-untyped-def]
    return f"<{text}>"


def verbatim(text: str) -> str:
    return f"<{text}>"


def maybe(text: Optional[str] = None) -> str:  # noqa: UP045
    return f"<{text}>"


def marked(text: Annotated[str, "words"]) -> str:
    return f"<{text}>"


def by_name(*, text: str) -> str:
    return f"<{text}>"


def any_more(*texts: str) -> str:
    return f"<{','.join(texts)}>"


def nothing() -> str:
    return "ran"


def whole(n: int) -> str:
    return repr(n)


def whole_or_five(n: int = 5) -> str:
    return repr(n)


def day(at: datetime.date) -> str:
    return repr(at.day)


def names(names: list[str]) -> str:
    return repr(names)


def box(box: Box) -> str:
    return f"{box.w}{box.label}"


def mode(mode: Literal["1", "2"]) -> str:
    return repr(mode)


def move(x: int, y: int = 0, *, slow: bool = False) -> str:
    return repr((x, y, slow))


def search(query: str, limit: int = 5) -> str:
    return f"{query} {limit}"


def choose(a: str = "", b: str = "") -> str:
    return f"{a}|{b}"


def only_named(**more: Any) -> str:
    return json.dumps(more)


def and_named(x: int, **more: Any) -> str:
    return json.dumps([x, more])


def positional(a: int = 1, b: int = 2, /, c: int = 3) -> str:
    return repr((a, b, c))


def label(given: Any) -> str:
    return str(getattr(given, "__name__", repr(given)[:40]))


def call(function: Callable[..., Any], input: Any) -> Observation:
    return Toolset({"f": function}).call("f", input)


def raw(function: Callable[..., Any], text: str) -> Observation:
    return Toolset({"f": function}).call_raw("f", text)


@pytest.mark.parametrize("text", ["words", "", " 3 ", '{"text": "a"}', "[1]", "null", '"quoted"', "```\nx\n```", "{"])
@pytest.mark.parametrize(
    "function", [unannotated, verbatim, maybe, marked, by_name, any_more, lambda q: f"<{q}>"], ids=label
)
def test_one_parameter_that_takes_text_gets_it_verbatim(function: Callable[..., Any], text: str) -> None:
    """As ``callable(str) -> str`` on the page: not a character is changed, whatever it looks like."""
    assert call(function, text) == Observation(f"<{text}>", value=f"<{text}>")


@pytest.mark.parametrize(
    ("function", "text", "said"),
    [
        (nothing, "whatever", "ran"),
        (whole, " 3 ", "3"),
        (whole, '"3"', "3"),
        (whole, '{"n": 3}', "3"),
        (whole, "```json\n3\n```", "3"),
        (whole_or_five, "", "5"),
        (whole_or_five, "4", "4"),
        (day, "2020-01-02", "2"),
        (names, '["a", "b"]', "['a', 'b']"),
        (names, '```json\n["a"]\n```', "['a']"),
        (names, '{"names": ["a"]}', "['a']"),
        (box, '{"w": 2}', "2x"),
        (box, '{"box": {"w": 2}}', "2x"),
        (mode, "1", "'1'"),
        (mode, '"1"', "'1'"),
        (move, '{"x": "3"}', "(3, 0, False)"),
        (move, ' {"x": 3, "y": 4, "slow": "true"}\n', "(3, 4, True)"),
        (move, '```json\n{"x": 3}\n```', "(3, 0, False)"),
        (move, "3", "(3, 0, False)"),
        (search, "lamp oil", "lamp oil 5"),
        (search, "[1]", "[1] 5"),
        (search, '{"query": "a", "limit": 2}', "a 2"),
        (choose, "", "|"),
        (choose, '{"b": "x"}', "|x"),
        (only_named, '{"a": 1}', '{"a": 1}'),
        (only_named, "", "{}"),
        (and_named, "3", "[3, {}]"),
        (positional, '{"b": 5}', "(1, 5, 3)"),
        (str.upper, "a", "A"),
        (len, "abc", "3"),
        (int, "42", "42"),
    ],
    ids=label,
)
def test_text_becomes_what_the_parameters_take(function: Callable[..., Any], text: str, said: str) -> None:
    """One parameter: the text, converted; several: the JSON object in it; one required: either."""
    assert call(function, text).text == said
    assert call(function, text).ok


@pytest.mark.parametrize(
    ("function", "text", "told"),
    [
        (whole, "3.7", ["n: expected a whole number, got 3.7", "required: n: a whole number (int)"]),
        (whole, "three", ['n: expected a whole number, got "three"']),
        (whole, "", ['n: expected a whole number, got ""']),
        (names, "a", ["names: expected a list of text (str)"]),
        (box, '{"w": "wide"}', ['box.w: expected a whole number, got "wide"', "an object with w, label (optional)"]),
        (mode, "3", ["mode: expected '1' or '2', got 3"]),
        (move, "left", ['x: expected a whole number, got "left"', "optional: y: a whole number (int), slow"]),
        (move, '{"y": 1, "z": 2, "slow": "no"}', ["x: expected", "nothing", "z: there is no such argument", "slow"]),
        (choose, "x", ["expected a JSON object", "got 'x'", "optional: a: text (str), b: text (str)"]),
        (only_named, "x", ["expected a JSON object", "any others by name"]),
    ],
    ids=label,
)
def test_text_that_does_not_fit_is_explained(function: Callable[..., Any], text: str, told: list[str]) -> None:
    """Each wrong argument with what was expected and what came; and what the tool takes."""
    seen = call(function, text)
    assert (seen.ok, seen.kind) == (False, "bad_arguments")
    assert seen.text.startswith("Bad arguments for f: ")
    assert [each for each in told if each not in seen.text] == []


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (verbatim, {"text": "a"}, "<a>"),
        (verbatim, {"text": 3}, "<3>"),
        (unannotated, {"text": [1]}, "<[1]>"),
        (nothing, {}, "ran"),
        (nothing, None, "ran"),
        (whole, {"n": "3"}, "3"),
        (whole, {"n": 3.0}, "3"),
        (whole, 3, "3"),
        (names, {"names": '["a", "b"]'}, "['a', 'b']"),
        (names, ["a"], "['a']"),
        (box, {"box": {"w": 2}}, "2x"),
        (box, {"box": '{"w": 2}'}, "2x"),
        (maybe, {"text": None}, "<None>"),
        (move, {"x": 1, "slow": "false"}, "(1, 0, False)"),
        (only_named, {"a": [1]}, '{"a": [1]}'),
        (and_named, {"x": "1", "y": 2}, '[1, {"y": 2}]'),
        (any_more, {"input": "a"}, "<a>"),
        (any_more, {}, "<>"),
        (positional, {"b": "5"}, "(1, 5, 3)"),
        (positional, {"c": 4}, "(1, 2, 4)"),
        (len, {"obj": "abc"}, "3"),
        (int, {"input": "42"}, "42"),
        (int, {}, "0"),
    ],
    ids=label,
)
def test_a_native_call_has_its_arguments_fitted(function: Callable[..., Any], arguments: Any, said: str) -> None:
    """Converted where nothing is lost, passed by position where that must be."""
    assert call(function, arguments) == Observation(said, value=call(function, arguments).value)


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        (verbatim, {}, ["text: expected text (str), got nothing"]),
        (verbatim, {"text": None}, ["text: expected text, got null"]),
        (verbatim, {"text": "a", "verbose": True}, ["verbose: there is no such argument", "required: text"]),
        (verbatim, ["a"], ["expected a JSON object of its arguments, got a list"]),
        (whole, {"n": "3.7"}, ['n: expected a whole number, got "3.7"']),
        (whole, {"n": True}, ["n: expected a whole number, got true"]),
        (nothing, {"a": 1}, ["a: there is no such argument", "takes no arguments"]),
        (nothing, [1], ["expected a JSON object"]),
        (move, {"x": None, "y": "q"}, ["x: expected a whole number, got null", 'y: expected a whole number, got "q"']),
        (any_more, {"words": "a"}, ["words: there is no such argument", "input"]),
        (verbatim, {1: 2}, ["1: there is no such argument"]),
    ],
    ids=label,
)
def test_a_native_call_that_does_not_fit_is_explained(
    function: Callable[..., Any], arguments: Any, told: list[str]
) -> None:
    """Which argument, what was expected, what came, what is missing, what is unknown."""
    seen = call(function, arguments)
    assert (seen.ok, seen.kind) == (False, "bad_arguments")
    assert [each for each in told if each not in seen.text] == []


@pytest.mark.parametrize(
    ("function", "text", "said"),
    [
        (nothing, "", "ran"),
        (nothing, " null\n", "ran"),
        (nothing, "{}", "ran"),
        (nothing, '""', "ran"),
        (verbatim, "lamp oil price", "<lamp oil price>"),
        (verbatim, "42", "<42>"),
        (verbatim, "1.10", "<1.10>"),
        (verbatim, "true", "<true>"),
        (verbatim, '"lamp oil"', "<lamp oil>"),
        (verbatim, '{"text": "a"}', "<a>"),
        (verbatim, '"{\\"text\\": \\"a\\"}"', "<a>"),
        (verbatim, '```json\n{"text": "a"}\n```', "<a>"),
        (unannotated, "words", "<words>"),
        (search, "lamp oil", "lamp oil 5"),
        (whole, "3", "3"),
        (whole, '"3"', "3"),
        (names, '["a"]', "['a']"),
        (move, '"{\\"x\\": 1}"', "(1, 0, False)"),
        (any_more, "words", "<words>"),
    ],
    ids=label,
)
def test_raw_arguments_are_read_where_there_is_no_doubt(function: Callable[..., Any], text: str, said: str) -> None:
    """A bare text for a tool that takes one, JSON in JSON, in a fence, or nothing at all."""
    assert raw(function, text).text == said
    assert raw(function, text).ok


@pytest.mark.parametrize(
    ("function", "text", "told"),
    [
        (verbatim, "[1, 2]", ["expected a JSON object of its arguments, got [1, 2]", "required: text"]),
        (unannotated, "[1, 2]", ["expected a JSON object of its arguments, got [1, 2]"]),
        (verbatim, '{text: "a"}', ["not JSON", "character 1", "required: text"]),
        (verbatim, '{"text": "a', ["not JSON", "character 9", "Unterminated string"]),
        (verbatim, "{'text': 'a'}", ["not JSON", "character 1"]),
        (move, "{a:1", ["not JSON", "character 1", "required: x: a whole number (int)", "optional: y"]),
        (move, "words", ["not JSON", "character 0"]),
        (move, '{"x": NaN}', ["not JSON", "NaN"]),
        (move, "[" * 100_000, ["not JSON", "too deeply nested"]),
        (move, '{"x": ' + "9" * 5_000 + "}", ["not JSON", "digits"]),
        (whole, "[3]", ["n: expected a whole number, got [3]"]),
        (choose, '"x"', ["expected a JSON object"]),
        (nothing, '"x"', ["expected a JSON object"]),
    ],
    ids=label,
)
def test_raw_arguments_that_cannot_be_read_are_explained(
    function: Callable[..., Any], text: str, told: list[str]
) -> None:
    """Where parsing failed, and what is required."""
    seen = raw(function, text)
    assert (seen.ok, seen.kind) == (False, "bad_arguments")
    assert [each for each in told if each not in seen.text] == []


def test_an_unknown_tool_is_told_with_the_words_of_the_page() -> None:
    """In the text protocol: nothing more than the names there are."""
    tools = Toolset({"search": str, "天气": str})
    seen = tools.call("Search", "x")
    assert seen == Observation("Unknown tool 'Search'. Available: search, 天气", ok=False, kind="unknown_tool")
    assert Toolset().call("a", "x").text == "Unknown tool 'a'. Available: none"


def test_an_unknown_tool_is_told_with_the_nearest_name() -> None:
    """In a native call, however it came."""
    tools = Toolset({"add": str, "boom": str})
    told = "Unknown tool 'addd'. Available: add, boom. Did you mean 'add'?"
    assert [tools.call("addd", {}).text, tools.call("addd", None).text, tools.call_raw("addd", "{").text] == [told] * 3
    assert tools.call("zzz", {}).text == "Unknown tool 'zzz'. Available: add, boom"
    began = time.monotonic()
    tools.call("a" * 1_000_000, {})
    assert time.monotonic() - began < 15


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "text", "native"),
    [
        (ValueError("kaput"), "Tool error: kaput", "f failed: ValueError: kaput"),
        (ValueError(), "Tool error: ValueError", "f failed: ValueError"),
        (KeyError("k"), "Tool error: 'k'", "f failed: KeyError: 'k'"),
        (LookupError("a\nb"), "Tool error: a\nb", "f failed: LookupError: a\nb"),
        (
            Silent(),
            "Tool error: Silent without a text (RuntimeError)",
            "f failed: Silent: Silent without a text (RuntimeError)",
        ),
        (StopIteration(3), "Tool error: 3", "f failed: StopIteration: 3"),
        (RecursionError("deep"), "Tool error: deep", "f failed: RecursionError: deep"),
        (ExceptionGroup("two", [ValueError("a")]), "Tool error: two (1 sub-exception)", None),
    ],
    ids=["text", "empty", "key", "lines", "silent", "stop", "deep", "group"],
)
def test_a_tool_that_raises_is_an_observation(error: Exception, text: str, native: str | None) -> None:
    """In the words of the page, or with type and message; the traceback is for the trace only."""

    def f(text: str = "") -> None:
        raise error

    seen = call(f, "x")
    assert (seen.text, seen.ok, seen.kind) == (text, False, "raised")
    assert "Traceback" in seen.detail
    assert "raise error" in seen.detail
    told = call(f, {})
    assert told.text == native or native is None
    assert "Traceback" not in told.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_gets_through(error: type[BaseException]) -> None:
    """In both voices, and out of the thread of a timeout."""

    def f(text: str = "") -> None:
        raise error("stop")

    for given in (f, Tool("f", f, timeout=5)):
        for input in ("x", {"text": "x"}):
            with pytest.raises(error):
                call(given, input)


def test_what_a_failing_tool_says_is_bounded() -> None:
    """As results are."""

    def f() -> None:
        raise ValueError("x" * 1_000_000)

    assert call(f, {}).text.endswith("[cut: the first 100000 of 1000022 characters]")
    assert len(call(Tool("f", f, max_result_chars=10), "").text) < 100


def test_an_explanation_is_bounded_whatever_the_model_wrote() -> None:
    """Ten thousand unknown arguments with long names are a short message."""
    seen = call(verbatim, {"n" * 10_000 + str(number): 1 for number in range(10_000)})
    assert len(seen.text) < 5_000
    assert "and 9991 more" in seen.text


def test_one_simple_call_costs_little() -> None:
    """Some microseconds: what takes time is worked out once."""
    tools = Toolset({"f": lambda text: text})
    tools.call("f", "x")
    best = min(_seconds(tools) for _ in range(20))
    assert best < 50e-6


def _seconds(tools: Toolset) -> float:
    began = time.perf_counter()
    for _ in range(200):
        tools.call("f", "x")
    return (time.perf_counter() - began) / 200
