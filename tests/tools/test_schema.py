"""JSON schemas of Python types."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import sys
import typing
import uuid
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict, TypeVar, Union

import pytest

from brain.schema import json_schema


class Tide(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Corner(enum.Enum):
    """Its values are nothing that JSON can write."""

    HERE = (0, 0)
    THERE = (1, 1)


@dataclasses.dataclass
class Box:
    w: int
    label: str = "x"
    kind: typing.ClassVar[str] = "box"
    area: int = dataclasses.field(init=False, default=0)


@dataclasses.dataclass
class Node:
    value: int
    next: Node | None = None


class Harbour(TypedDict):
    name: str
    depth: NotRequired[float]


class Partial(TypedDict, total=False):
    name: str


class Point(NamedTuple):
    x: int
    y: int = 0


UserId = NewType("UserId", int)
Bound = TypeVar("Bound", bound=str)
OneOf = TypeVar("OneOf", int, str)

INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string"}),
        (int, INTEGER),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": INTEGER}),
        (Sequence[int], {"type": "array", "items": INTEGER}),
        (Iterable[int], {"type": "array", "items": INTEGER}),
        (set[int], {"type": "array", "uniqueItems": True, "items": INTEGER}),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (dict, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (int | None, {"type": ["integer", "null"]}),
        (Union[int, str], {"type": ["integer", "string"]}),  # noqa: UP007
        (list[int] | int, {"anyOf": [{"type": "array", "items": INTEGER}, INTEGER]}),
        (int | Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "b", None], {"enum": [1, "b", None]}),
        (Literal[Tide.LOW], {"type": "string", "enum": ["low"]}),
        (Tide, {"type": "string", "enum": ["low", "high"]}),
        (Corner, {"type": "string", "enum": ["HERE", "THERE"]}),
        (Annotated[int, "metres"], {"type": "integer", "description": "metres"}),
        (list[Annotated[int, ["unhashable"]]], {"type": "array", "items": INTEGER}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (decimal.Decimal, {"type": "string"}),
        (bytes, {"type": "string", "contentEncoding": "base64"}),
        (UserId, INTEGER),
        (Bound, {"type": "string"}),
        (OneOf, {"type": ["integer", "string"]}),
    ],
    ids=str,
)
def test_a_type_has_its_schema(kind: Any, schema: dict[str, Any]) -> None:
    """Each kind of annotation becomes what a model is told."""
    assert json_schema(kind) == schema


def test_a_dataclass_is_an_object_of_its_fields() -> None:
    """Fields with defaults may be left out; class variables and computed fields are not told."""
    assert json_schema(Box) == {
        "type": "object",
        "properties": {"w": INTEGER, "label": {"type": "string"}},
        "required": ["w"],
        "additionalProperties": False,
    }


def test_a_typed_dict_says_which_keys_may_be_left_out() -> None:
    """By ``NotRequired``, or by ``total=False``."""
    assert json_schema(Harbour)["properties"] == {"name": {"type": "string"}, "depth": {"type": "number"}}
    assert json_schema(Harbour)["required"] == ["name"]
    assert json_schema(Partial)["required"] == []


def test_a_named_tuple_is_an_object() -> None:
    """Its fields have names, and a model should use them."""
    assert json_schema(Point)["properties"] == {"x": INTEGER, "y": INTEGER}
    assert json_schema(Point)["required"] == ["x"]


def test_a_type_within_itself_has_a_finite_schema() -> None:
    """The second time, it is just an object."""
    assert json_schema(Node)["properties"]["next"] == {"type": ["object", "null"]}


def test_a_name_that_cannot_be_resolved_may_be_anything() -> None:
    """The other fields keep their types."""

    class Torn:
        known: int
        unknown: Nowhere  # type: ignore[name-defined]  # noqa: F821

    torn = dataclasses.make_dataclass("Made", [("known", "int"), ("unknown", "Nowhere")])
    assert json_schema(torn)["properties"] == {"known": INTEGER, "unknown": {}}
    assert json_schema(dataclasses.dataclass(Torn))["properties"] == {"known": INTEGER, "unknown": {}}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement is of Python 3.12")
def test_an_alias_that_is_defined_by_itself_has_a_finite_schema() -> None:
    """Where it comes up again, it may be anything."""
    names: dict[str, Any] = {}
    exec("type Tree = list[Tree] | int\ntype Pair[T] = tuple[T, T]\ntype Name = str", names)
    assert json_schema(names["Tree"]) == {"type": ["array", "integer"]}
    assert json_schema(names["Name"]) == {"type": "string"}
    assert json_schema(names["Pair"][int])["prefixItems"] == [INTEGER, INTEGER]


def test_every_schema_is_json() -> None:
    """Also of what no schema can say."""
    for kind in (Literal[b"x"], type, print, 3, "Nowhere", typing.Callable[[int], str], complex):
        assert json.loads(json.dumps(json_schema(kind))) == {}
