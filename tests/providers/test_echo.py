from __future__ import annotations

import json
import pickle
import re

import pytest

from brain.errors import ProviderError
from brain.messages import Transcript, assistant, user
from brain.providers import LocalEchoProvider
from brain.providers.smallest import smallest
from brain.types import Reply


def test_the_echo_returns_the_last_user_message():
    """Whatever came after it, and in whatever form its content is."""
    echo = LocalEchoProvider()
    assert echo.generate([user("one"), user("two"), assistant("three")]).text == "two"
    assert echo.generate(Transcript([user("one")])).text == "one"
    assert echo.generate([{"role": "user", "content": [{"type": "text", "text": "parts"}]}]).text == "parts"
    assert echo.generate([{"role": "system", "content": "s"}]).text == ""
    assert echo.generate([]).text == ""


def test_the_echo_is_called_as_any_provider_is():
    """Tools and a tool choice are taken and left alone."""
    assert LocalEchoProvider().generate([user("x")], tools=[], tool_choice="none").text == "x"
    assert LocalEchoProvider().generate([user("x")], [{"type": "function"}], "auto").tool_calls == ()


def test_the_echo_streams_what_it_says():
    """The chunks add up to the text of the reply, which comes last."""
    *chunks, reply = LocalEchoProvider().stream([user(" one  two\nthree ")])
    assert len(chunks) > 2
    assert "".join(chunks) == reply.text == " one  two\nthree "
    assert isinstance(reply, Reply)


def test_the_echo_travels():
    """It holds nothing."""
    assert repr(pickle.loads(pickle.dumps(LocalEchoProvider()))) == "LocalEchoProvider()"


NODE = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "name": {"type": "string"},
            },
            "required": ["next", "kids"],
        }
    },
    "$ref": "#/$defs/Node",
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, None),
        (True, None),
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 3}, "aaa"),
        ({"type": "string", "format": "date", "minLength": 3}, "1970-01-01"),
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, "AAA"),
        ({"type": "string", "pattern": r"^\d+\.\d+$"}, "1.0"),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "integer", "minimum": 1.5}, 2),
        ({"type": "integer", "exclusiveMinimum": 3}, 4),
        ({"type": "integer", "minimum": 4, "multipleOf": 3}, 6),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "number", "minimum": 0.25}, 0.25),
        ({"enum": ["accept", "revise"]}, "accept"),
        ({"enum": [1, "a"], "type": "string"}, "a"),
        ({"const": {"a": 1}}, {"a": 1}),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True}, [0, 1, 2]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}, ["a", "b"]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True}, ["", "a"]),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "minItems": 2}, [1, 2]),
        ({"type": "array", "contains": {"const": 7}}, [7]),
        ({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}, {"a": ""}),
        ({"type": "object", "required": ["x"]}, {"x": None}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1}, {"a": 0}),
        ({"properties": {"a": {}}, "required": ["a"]}, {"a": None}),
        ({"type": ["integer", "null"]}, 0),
        ({"type": "string", "nullable": True}, None),
        ({"anyOf": [{"type": "array", "minItems": 3}, {"type": "integer"}]}, 0),
        ({"oneOf": [False, {"const": "x"}]}, "x"),
        (
            {
                "allOf": [
                    {"properties": {"a": {"const": 1}}, "required": ["a"]},
                    {"type": "object", "properties": {"b": {"const": 2}}, "required": ["b"]},
                ]
            },
            {"a": 1, "b": 2},
        ),
        ({"$defs": {"S": {"type": "integer", "minimum": 2}}, "$ref": "#/$defs/S", "minimum": 5}, 5),
        (NODE, {"next": None, "kids": []}),
    ],
)
def test_the_smallest_instance(schema, value):
    """Of each kind of schema."""
    assert smallest(schema) == value
    assert json.loads(LocalEchoProvider().generate([], schema=schema).text) == value


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (False, "allows nothing"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"$ref": "http://elsewhere"}, "outside the schema"),
        (
            {"$defs": {"A": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/A"}}}, "$ref": "#/$defs/A"},
            "itself",
        ),
        ({"type": "integer", "minimum": 2, "maximum": 1}, "no number"),
        ({"type": "string", "pattern": "^x{77}y{3}$"}, "pattern"),
        ({"type": "string", "pattern": "("}, "cannot be read"),
        ({"type": "string", "minLength": 10**9}, "the most is"),
        ({"type": "thing"}, "none of"),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True}, "different items"),
    ],
)
def test_a_schema_without_a_smallest_instance(schema, why):
    """Is an error of the provider that says why."""
    with pytest.raises(ProviderError, match=re.escape(why)) as caught:
        smallest(schema)
    assert caught.value.kind == "bad_request"
    assert not caught.value.retryable


def test_a_schema_that_branches_without_end_is_given_up():
    """The search looks at a bounded number of parts."""
    names = [f"N{number}" for number in range(12)]
    defs = {
        name: {
            "anyOf": [
                {"type": "object", "properties": {"x": {"$ref": f"#/$defs/{other}"}}, "required": ["x"]}
                for other in names
            ]
        }
        for name in names
    }
    with pytest.raises(ProviderError):
        smallest({"$defs": defs, "$ref": "#/$defs/N0"})
