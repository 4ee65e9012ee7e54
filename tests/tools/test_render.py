"""Results as text, as a reader would want them."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import itertools
import json
import time
import uuid
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest

from brain.tools import plain, render


class Tide(enum.Enum):
    LOW = "low"
    HERE = (0, 0)


class Level(enum.IntEnum):
    ONE = 1


class Colour(str, enum.Enum):  # noqa: UP042 - the older form of StrEnum
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Box:
    at: datetime.date
    tags: set[str] = dataclasses.field(default_factory=set)


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class Model:
    """What pydantic's models have."""

    def model_dump(self) -> dict[str, Any]:
        return {"at": datetime.date(2020, 1, 2)}


class Broken(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise RuntimeError("no items")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text stays", "text stays"),
        ("", ""),
        ("42", "42"),
        ("odd \udcff name 札", "odd � name 札"),
        (["\ud83d\ude00", "\udcff"], '["😀", "�"]'),
        (None, "None"),
        (True, "True"),
        (42, "42"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        ({"city": "札幌", "note": "café"}, '{"city": "札幌", "note": "café"}'),
        ([1, None, True, "a"], '[1, null, true, "a"]'),
        ((1, 2), "[1, 2]"),
        ([], "[]"),
        ({3, 1, 10}, "[1, 3, 10]"),
        (frozenset({"b", "a"}), '["a", "b"]'),
        ({2, "a"}, '[2, "a"]'),
        ({"at": datetime.datetime(2021, 5, 3), "tags": {"a"}}, '{"at": "2021-05-03T00:00:00", "tags": ["a"]}'),
        (datetime.date(2021, 5, 3), "2021-05-03"),
        (datetime.timedelta(days=1), "1 day, 0:00:00"),
        (Box(datetime.date(2021, 5, 3), {"b", "a"}), '{"at": "2021-05-03", "tags": ["a", "b"]}'),
        (Point(1, 2), '{"x": 1, "y": 2}'),
        (decimal.Decimal("1.50"), "1.50"),
        ([decimal.Decimal("1.50")], '["1.50"]'),
        ({"mean": float("nan"), "most": float("inf")}, '{"mean": "nan", "most": "inf"}'),
        (Tide.LOW, "low"),
        (Tide.HERE, "HERE"),
        ([Level.ONE, Colour.RED, Tide.LOW], '[1, "red", "low"]'),
        (Level.ONE, "1"),
        (Colour.RED, "red"),
        ({1: "a", None: "b", (1, 2): "c"}, '{"1": "a", "None": "b", "(1, 2)": "c"}'),
        ({1: "a", "1": "b"}, '{"1": "a", "str 1": "b"}'),
        (collections.OrderedDict(a=1), '{"a": 1}'),
        (collections.deque([1, 2]), "[1, 2]"),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        (range(3), "[0, 1, 2]"),
        (b"hello", "hello"),
        (b"\xff\x00\x01", "<3 bytes: ff 00 01>"),
        (b"\x00" * 50, "<50 bytes: " + "00 " * 40 + "…>"),
        ([bytearray(b"\xff")], '["<1 bytes: ff>"]'),
        (ValueError("kaput"), "kaput"),
        (PurePosixPath("a/b"), "a/b"),
        (uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (Model(), '{"at": "2020-01-02"}'),
        (Mute(), "<Mute: no text, RuntimeError>"),
        ([Mute()], '["<Mute: no text, RuntimeError>"]'),
        ({Mute(): 1}, '{"<Mute: no text, RuntimeError>": 1}'),
        ([Broken(a=1)], "[\"{'a': 1}\"]"),
        (2**20_000, f"{2**20_000:#x}"),
        (dict, "<class 'dict'>"),
    ],
    ids=itertools.count(),
)
def test_a_value_becomes_text(value: Any, text: str) -> None:
    """Text stays, containers are JSON, all else is what ``str`` makes of it; nothing fails."""
    assert render(value) == text


def circle() -> Any:
    value: list[Any] = [1]
    value += [value, {"a": value}]
    return value


def doubled(depth: int) -> Any:
    value: Any = [1]
    for _ in range(depth):
        value = [value, value]
    return value


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


def test_a_value_within_itself_is_told() -> None:
    """And does not go on."""
    told = "<the list that this is in>"
    assert plain(circle()) == [1, told, {"a": told}]
    assert plain([[1], [1]]) == [[1], [1]]
    same = [1]
    assert plain([same, same]) == [[1], [1]]


@pytest.mark.parametrize(
    "value",
    [doubled(60), nested(100_000), list(range(2_000_000)), {n: n for n in range(1_000_000)}, "x" * 10_000_000],
    ids=["doubled", "nested", "list", "dict", "text"],
)
def test_a_value_without_end_is_cut_soon(value: Any) -> None:
    """What is too deep is named, and what is too long is cut with a mark that tells."""
    began = time.monotonic()
    text = render(value)
    assert time.monotonic() - began < 10
    assert len(text) <= 100_100
    assert "nested too deeply" in text or "[cut: the first 100000 of " in text[-80:]
    json.dumps(plain(value), allow_nan=False)


def test_what_was_cut_is_told_with_both_numbers() -> None:
    """How much is shown, and of how much."""
    assert render("x" * 3_012, 20) == "x" * 20 + " [cut: the first 20 of 3012 characters]"
    assert render([1] * 100, 5) == "[1, 1 [cut: the first 5 of 300 characters]"
    assert render(list(range(1_000_000)), 5).startswith("[0, 1 [cut: the first 5 of more than ")
    assert render("x" * 20, 20) == "x" * 20
