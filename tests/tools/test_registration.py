"""Callables, and objects that look like tools, become tools."""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
import subprocess
import sys
import time
from typing import Annotated, Any

import pytest

from brain.errors import ConfigurationError, UnknownKeyword, WrongType
from brain.tools import Toolset, tool


def depth(place: str, unit: str = "m") -> str:
    """Return the depth of a harbour.

    Args:
        place: Its name.
        unit: What to measure in.
    """
    return f"{place}: 7 {unit}"


@dataclasses.dataclass
class Search:
    """Searches."""

    hits: int = 3

    def __call__(self, query: str) -> str:
        """Search for words."""
        return query * self.hits

    def near(self, query: str, at: tuple[int, int]) -> str:
        """Search near a place."""
        return f"{query} {at}"


@dataclasses.dataclass
class Invoking:
    """The shape that LangChain's tools have."""

    name: str = "look_up"
    description: str = "Look a word up."
    args: dict[str, Any] = dataclasses.field(default_factory=lambda: {"word": {"type": "string"}})

    def invoke(self, input: Any) -> Any:
        return ["invoked", input]


class Running:
    name = "runner"
    description = "Runs."

    def run(self, input: Any) -> Any:
        return ["ran", input]


def test_a_function_becomes_a_tool() -> None:
    """Name, description, schema: from what it says of itself."""
    made = tool(depth)
    assert made.spec == {
        "type": "function",
        "function": {
            "name": "depth",
            "description": "Return the depth of a harbour.",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "Its name."},
                    "unit": {"type": "string", "description": "What to measure in.", "default": "m"},
                },
                "required": ["place"],
                "additionalProperties": False,
            },
        },
    }
    assert made("Kiel") == "Kiel: 7 m"


def test_a_tool_is_made_by_decorators_and_by_options() -> None:
    """With and without arguments; the options of an existing tool are changed in a copy."""

    @tool
    def one(text: str) -> str:
        return text

    @tool(name="zwei", timeout=3, idempotent=True, max_result_chars=10)
    def two(text: str) -> str:
        return text

    assert (one.name, one.timeout, one.idempotent) == ("one", None, False)
    assert (two.name, two.timeout, two.idempotent, two.max_result_chars) == ("zwei", 3, True, 10)
    three = tool(two, name="drei", description="Says.", idempotent=False)
    assert (three.name, three.description, three.timeout, three.idempotent) == ("drei", "Says.", 3, False)
    assert (two.name, two.description) == ("zwei", "")
    assert tool(two) is two


@pytest.mark.parametrize(
    ("call", "name", "properties"),
    [
        (Search(), "Search", {"query"}),
        (Search().near, "near", {"query", "at"}),
        (functools.partial(depth, "Kiel"), "depth", {"unit"}),
        (functools.lru_cache(depth), "depth", {"place", "unit"}),
        (str, "str", {"input"}),
        (len, "len", {"obj"}),
        (Search, "Search", {"hits"}),
    ],
    ids=["object", "method", "partial", "cached", "type", "builtin", "class"],
)
def test_whatever_can_be_called_is_a_tool(call: Any, name: str, properties: set[str]) -> None:
    """Bound methods, callable objects, partials, classes, builtins: each has a name and a schema."""
    made = tool(call)
    assert made.name == name
    assert set(made.schema["properties"]) == properties
    json.dumps(made.spec, allow_nan=False)


def test_hints_come_from_where_they_are_written() -> None:
    """Of a method, of a callable object's call, of the function behind a partial or a cache."""
    assert tool(Search().near).schema["properties"]["at"]["type"] == "array"
    assert tool(Search()).schema["properties"]["query"] == {"type": "string"}
    assert tool(Search()).description == "Search for words."
    cached = tool(functools.lru_cache(depth))
    assert cached.schema["properties"]["unit"]["type"] == "string"
    assert cached.description == "Return the depth of a harbour."


def test_what_a_partial_fixes_is_not_for_the_model() -> None:
    """It is not told of it, and cannot change it."""

    def query(words: str, key: str, user: int = 0) -> str:
        return f"{words} {key} {user}"

    tools = Toolset({"query": functools.partial(query, key="secret", user=7)})
    assert "secret" not in json.dumps(tools.specs)
    assert list(tools["query"].schema["properties"]) == ["words"]
    assert tools.call("query", {"words": "a"}).text == "a secret 7"
    assert tools.call("query", {"words": "a", "user": 8}).kind == "bad_arguments"
    assert tools.call("query", "a").text == "a secret 7"


def test_a_description_may_stand_in_an_annotation() -> None:
    """As a text, or as an object that has a description; it counts more than the docstring."""

    @dataclasses.dataclass(frozen=True)
    class Field:
        description: str

    def f(a: Annotated[int, "of a"], b: Annotated[int, Field("of b")], c: int) -> None:
        """Do.

        Args:
            a: other words
            c: of c
        """

    f.__annotations__["b"] = Annotated[int, Field("of b")]  # as the name is local
    told = tool(f).schema["properties"]
    assert [told[name]["description"] for name in "abc"] == ["of a", "of b", "of c"]


def test_defaults_are_told_where_json_has_them() -> None:
    """And left out where it has not."""

    def f(
        a: int = 5,
        b: float = float("inf"),
        c: list[int] | None = None,
        d: Any = object,
        e: bool = False,
        g: tuple[int, ...] = (),
        h: str = "x" * 10_000,
    ) -> None: ...

    told = tool(f).schema["properties"]
    assert {name: each["default"] for name, each in told.items() if "default" in each} == {
        "a": 5,
        "c": None,
        "e": False,
    }
    json.dumps(told, allow_nan=False)


def test_null_stands_for_a_default_of_none() -> None:
    """Models write ``null`` for what they leave out, whatever the annotation says."""

    def f(n: int = None) -> str:  # type: ignore[assignment]  # noqa: RUF013
        return repr(n)

    assert Toolset([f]).call("f", {"n": None}).text == "None"
    assert Toolset([f]).call("f", {"n": "3"}).text == "3"


def test_a_hint_that_cannot_be_resolved_may_be_anything() -> None:
    """Registering such a function is no crash, and the other hints count."""

    def f(a: Nowhere, b: int) -> str:  # type: ignore[name-defined]  # noqa: F821
        return f"{a} {b}"

    tools = Toolset([f], native=True)
    assert tools["f"].schema["properties"] == {"a": {}, "b": {"type": "integer"}}
    assert tools.call("f", {"a": [1], "b": "2"}).text == "[1] 2"


def test_functions_typed_at_a_prompt_are_tools() -> None:
    """They have no source; none is read."""
    code = (
        "from brain.tools import tool, Toolset\n"
        "def f(n: int) -> str:\n  return str(n)\n"
        "print(tool(f).schema['properties'], Toolset({'g': lambda q: q.upper()}).call('g', 'a'))\n"
    )
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=True)
    assert done.stdout == "{'n': {'type': 'integer'}} A\n"


def test_objects_of_other_libraries_are_known_by_their_shape() -> None:
    """``name``, ``description``, ``invoke`` or ``run``: called with the text, or with all arguments as one mapping."""
    tools = Toolset([Invoking(), Running()])
    assert list(tools) == ["look_up", "runner"]
    assert tools["look_up"].description == "Look a word up."
    assert tools["look_up"].schema["properties"] == {"word": {"type": "string"}}
    assert tools.call("look_up", "x").value == ["invoked", "x"]
    assert tools.call("look_up", {"word": "x"}).value == ["invoked", {"word": "x"}]
    assert tools.call("runner", {"input": "x"}).value == ["ran", "x"]
    assert tools.call_raw("runner", "x").value == ["ran", "x"]
    assert tool(Running(), name="other").name == "other"


@pytest.mark.parametrize("way", ["args_schema", "model", "old_model", "get_input_jsonschema"])
def test_such_objects_say_their_schema_in_several_ways(way: str) -> None:
    """And with several arguments, a text that is a JSON object holds them."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    class Model:
        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return schema

    class OldModel:
        @classmethod
        def schema(cls) -> dict[str, Any]:
            return schema

    given = Invoking()
    del given.args
    setattr(
        given,
        "get_input_jsonschema" if way == "get_input_jsonschema" else "args_schema",
        {"args_schema": schema, "model": Model, "old_model": OldModel, "get_input_jsonschema": lambda: schema}[way],
    )
    tools = Toolset([given])
    assert tools["look_up"].schema == schema
    assert tools.call("look_up", '{"a": 1, "b": 2}').value == ["invoked", {"a": 1, "b": 2}]
    assert tools.call("look_up", "one and two").value == ["invoked", "one and two"]


def test_the_class_of_such_objects_is_none() -> None:
    """The error says what to give instead."""
    with pytest.raises(ConfigurationError, match=r"tools\['x'\] is the class Running; give an object of it"):
        Toolset({"x": Running})


def test_a_mapping_names_its_tools() -> None:
    """Any text on one line is a name in the text protocol; the name of a tool that is given a name is that."""
    given = {"Harbour Depth Lookup": depth, "天气查询": lambda q: q, "x": tool(depth), "y": Invoking()}
    tools = Toolset(given)
    assert [each.name for each in tools.values()] == list(given)
    assert tools.call("天气查询", "札幌").text == "札幌"
    assert "Harbour Depth Lookup" in tools
    assert len(Toolset(None)) == len(Toolset({})) == 0
    assert list(Toolset(each for each in (depth, len))) == ["depth", "len"]


@pytest.mark.parametrize(
    ("tools", "error", "told"),
    [
        ("search", WrongType, ["tools must be", "mapping", "iterable", "str", "search"]),
        (5, WrongType, ["tools must be", "int"]),
        (depth, WrongType, ["tools must be", "function"]),
        ({"x": None}, WrongType, ["tools['x'] must be callable", "NoneType"]),
        ([depth, "depth"], WrongType, ["tools[1] must be callable", "str"]),
        ([depth, depth], ConfigurationError, ["tools[1]", "two tools called 'depth'", "another name"]),
        ([lambda q: q], ConfigurationError, ["tools[0]", "lambda", "mapping"]),
        ([functools.partial(lambda q: q)], ConfigurationError, ["tools[0]", "lambda"]),
        ({"": depth}, ConfigurationError, ["tools", "''", "name"]),
        ({" ": depth}, ConfigurationError, ["name"]),
        ({"a\nb": depth}, ConfigurationError, ["one line"]),
        ({3: depth}, ConfigurationError, ["3", "name"]),
    ],
    ids=lambda each: str(each)[:30],
)
def test_what_is_no_tool_is_refused_at_once(tools: Any, error: type[Exception], told: list[str]) -> None:
    """The error names the argument, what was expected, and what came."""
    with pytest.raises(error) as said:
        Toolset(tools)
    assert [text for text in told if text not in str(said.value)] == []


@pytest.mark.parametrize("name", ["with space", "天气", "a" * 65, "dots.in.it", "a/b", "naïve", "a\u200b"])
def test_names_that_providers_refuse_are_refused_at_registration(name: str) -> None:
    """Where tools are called natively; and never are they told to a provider."""
    with pytest.raises(ConfigurationError, match=r"tools\[.*providers take names of 1 to 64"):
        Toolset({name: depth}, native=True)
    with pytest.raises(ConfigurationError, match="providers take names"):
        Toolset({name: depth}).specs
    assert [each["function"]["name"] for each in Toolset({"A_b-9": depth}, native=True).specs] == ["A_b-9"]


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"timeout": 0}, ConfigurationError, "timeout must be a number of seconds above 0, not 0"),
        ({"timeout": -1.5}, ConfigurationError, "timeout"),
        ({"timeout": float("nan")}, ConfigurationError, "timeout"),
        ({"timeout": "3"}, WrongType, "timeout must be a number of seconds above 0, not '3'"),
        ({"timeout": True}, WrongType, "timeout"),
        ({"max_result_chars": 0}, ConfigurationError, "max_result_chars must be a whole number of at least 1"),
        ({"max_result_chars": 2.5}, WrongType, "max_result_chars"),
        ({"name": "a\nb"}, ConfigurationError, "one line"),
        ({"retries": 3}, UnknownKeyword, "no option retries; it knows name, description, schema, timeout"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], error: type[Exception], told: str) -> None:
    """At once, with what would make sense."""
    with pytest.raises(error, match=told):
        tool(depth, **options)


def test_tools_are_values() -> None:
    """They compare by what they are, and survive pickle where what they call does."""
    one = tool(depth, timeout=3, max_result_chars=5)
    assert (one, hash(one)) == (tool(depth, timeout=3, max_result_chars=5), hash(one))
    assert one != tool(depth)
    assert one != "depth"
    copy = pickle.loads(pickle.dumps(Toolset([one, Invoking()])))
    assert copy["depth"] == one
    assert copy.call("depth", {"place": "Kiel"}).text == "Kiel: [cut: the first 5 of 9 characters]"
    assert copy.call("look_up", "x").value == ["invoked", "x"]
    assert repr(copy) == "Toolset(depth, look_up)"


def test_nothing_is_read_from_a_tool_before_it_is_needed() -> None:
    """Making a set of a thousand lambdas takes a moment; their signatures are read at the first call."""
    began = time.perf_counter()
    tools = Toolset({f"t{number}": lambda text: text for number in range(1_000)})
    assert time.perf_counter() - began < 10
    assert tools["t5"]._plan is None
    assert tools.call("t5", "x").text == "x"
    assert tools["t5"]._plan is not None


def test_an_object_that_has_any_attribute_at_all_is_a_callable() -> None:
    """Such as proxies and stand-ins; looking at it comes to an end."""

    class Anything:
        def __getattr__(self, name: str) -> Any:
            return Anything()

        def __call__(self, *arguments: Any) -> str:
            return f"called with {len(arguments)}"

    tools = Toolset({"any": Anything()})
    assert tools.call("any", "x").text == "called with 1"
    assert tools.call("any", {}).text == "called with 0"
