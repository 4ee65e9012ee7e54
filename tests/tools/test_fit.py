"""Values fitted into types, with nothing lost and nothing guessed."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pickle
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence, Set
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict

import pytest

from brain.schema import Misfit, Problem, fit


class Tide(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Level(enum.IntEnum):
    ONE = 1


class Corner(enum.Enum):
    HERE = (0, 0)


class Word(str):
    """A text of a class of its own."""


@dataclasses.dataclass(frozen=True)
class Box:
    w: int
    label: str = "x"


@dataclasses.dataclass
class Node:
    value: int
    next: Node | None = None


@dataclasses.dataclass
class Left:
    a: Left | Right | None = None
    b: Left | Right | None = None


@dataclasses.dataclass
class Right:
    a: Left | Right | None = None
    b: Left | Right | None = None


@dataclasses.dataclass
class Positive:
    n: int

    def __post_init__(self) -> None:
        if self.n <= 0:
            raise KeyError("n is not positive")


@dataclasses.dataclass
class Seeded:
    seed: dataclasses.InitVar[int]
    doubled: int = dataclasses.field(init=False)

    def __post_init__(self, seed: int) -> None:
        self.doubled = 2 * seed


class Harbour(TypedDict):
    name: str
    depth: NotRequired[float]


class Point(NamedTuple):
    x: int
    y: int = 0


UserId = NewType("UserId", int)


@pytest.mark.parametrize(
    ("kind", "value", "fitted"),
    [
        (str, "3", "3"),
        (str, 3, "3"),
        (int, 3, 3),
        (int, "3", 3),
        (int, " -3 ", -3),
        (int, "3.0", 3),
        (int, 3.0, 3),
        (UserId, "3", 3),
        (float, 3, 3.0),
        (float, "3.5", 3.5),
        (float, "1e3", 1000.0),
        (bool, True, True),
        (bool, "false", False),
        (bool, "True", True),
        (None, None, None),
        (Any, {"a": [1]}, {"a": [1]}),
        (list, [1, "a"], [1, "a"]),
        (list[int], ["1", 2], [1, 2]),
        (list[int], "[1, 2]", [1, 2]),
        (Sequence[int], [1], [1]),
        (Set[int], [1, 1], {1}),
        (set[int], [1, 1], {1}),
        (frozenset[str], ["a"], frozenset("a")),
        (deque[int], [1], deque([1])),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (dict, '{"a": 1}', {"a": 1}),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (Optional[int], None, None),  # noqa: UP045
        (int | str, "3", "3"),
        (int | str, 3, 3),
        (float | int, 3, 3),
        (int | float, 3.0, 3.0),
        (bool | int, 1, 1),
        (int | None, "3", 3),
        (Tide | str, "low", Tide.LOW),
        (datetime.date | str, "2020-01-02", "2020-01-02"),
        (list[Box] | Box, {"w": 1}, Box(1)),
        (Literal["a", "b"], " b ", "b"),
        (Literal[1, 2], "2", 2),
        (Literal[True], "true", True),
        (Literal[3], 3.0, 3),
        (Tide, "low", Tide.LOW),
        (Tide, "LOW", Tide.LOW),
        (Tide, Tide.LOW, Tide.LOW),
        (Level, 1, Level.ONE),
        (Level, "1", Level.ONE),
        (Corner, "HERE", Corner.HERE),
        (Box, {"w": 2}, Box(2)),
        (Box, {"w": "2", "label": "y"}, Box(2, "y")),
        (Box, '{"w": 2}', Box(2)),
        (Box, Box(2), Box(2)),
        (list[Box], [{"w": 1}], [Box(1)]),
        (Harbour, {"name": "a", "depth": 3}, {"name": "a", "depth": 3.0}),
        (Point, {"x": 1}, Point(1)),
        (Word, "a", Word("a")),
        (bytes, "aGk=", b"hi"),
        (datetime.date, "2020-01-02", datetime.date(2020, 1, 2)),
        (datetime.datetime, "2020-01-02T03:04:05Z", datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
        (decimal.Decimal, 0.1, decimal.Decimal("0.1")),
        (uuid.UUID, "12345678123456781234567812345678", uuid.UUID(int=0x12345678123456781234567812345678)),
    ],
    ids=repr,
)
def test_a_value_fits(kind: Any, value: Any, fitted: Any) -> None:
    """As it is, or converted where nothing is lost."""
    got = fit(kind, value)
    assert (got, type(got)) == (fitted, type(fitted))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, None),
        (str, True),
        (str, ["a"]),
        (str, float("nan")),
        (int, "3.7"),
        (int, 3.7),
        (int, True),
        (int, "1e3"),
        (int, "three"),
        (int, ""),
        (int, 1e300),
        (int, None),
        (int, "9" * 5000),
        (float, "NaN"),
        (float, float("nan")),
        (float, float("inf")),
        (float, "1e999"),
        (float, True),
        (float, 2**53 + 1),
        (float, 10**400),
        (bool, 1),
        (bool, 0),
        (bool, "yes"),
        (bool, None),
        (None, 0),
        (None, "null"),
        (list[int], "a"),
        (list[int], "[1, "),
        (list[int], {"a": 1}),
        (list[int], 1),
        (list[str], "[" * 100_000),
        (tuple[int, str], [1]),
        (tuple[int, str], [1, "a", 2]),
        (set[list[int]], [[1]]),
        (dict[str, int], ["a"]),
        (dict[int, str], {"x": "a"}),
        (dict[int, str], {"1": "a", "01": "b"}),
        (dict[tuple[int, ...], str], {"x": "a"}),
        (int | None, "x"),
        (Literal["a"], "A"),
        (Literal[1], True),
        (Tide, "mid"),
        (Tide, ["low"]),
        (Box, {}),
        (Box, {"w": 1, "h": 2}),
        (Box, "w"),
        (Box, None),
        (Harbour, {"depth": 3}),
        (Point, [1, 2, 3]),
        (Positive, {"n": -1}),
        (bytes, "a"),
        (bytes, 5),
        (datetime.date, "tomorrow"),
        (decimal.Decimal, "NaN"),
        (decimal.Decimal, "x"),
        (uuid.UUID, "x"),
        (complex, "1j"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_a_value_does_not_fit(kind: Any, value: Any) -> None:
    """Where something would be lost, or had to be guessed."""
    with pytest.raises(Misfit):
        fit(kind, value)


def test_strictly_nothing_is_converted_but_what_json_cannot_tell_apart() -> None:
    """``3`` may be meant as ``3.0``; ``"3"`` is a text."""
    assert fit(float, 3, strict=True) == 3.0
    assert fit(int, 3.0, strict=True) == 3
    for kind, value in [(int, "3"), (bool, "true"), (str, 3), (list, "[]"), (Box, '{"w": 1}'), (int | None, "3")]:
        with pytest.raises(Misfit):
            fit(kind, value, strict=True)


def test_all_problems_are_told_together_with_their_places() -> None:
    """Each with what was expected and what came."""
    with pytest.raises(Misfit) as told:
        fit(dict[str, list[Box]], {"a": [{"w": "x"}, {"label": 1, "h": 2}]}, path="boxes")
    assert told.value.problems == [
        Problem("boxes.a[0].w", "a whole number", '"x"'),
        Problem("boxes.a[1].h", "one of the fields w, label", "an unknown field"),
        Problem("boxes.a[1].w", "a whole number (int)", "nothing"),
    ]
    assert str(told.value).startswith('boxes.a[0].w: expected a whole number, got "x"; boxes.a[1].h: expected')


def test_a_problem_inside_a_union_is_told_where_it_is() -> None:
    """Where one type only can have been meant."""
    with pytest.raises(Misfit, match=r"next\.next\.value: expected a whole number, got \"x\""):
        fit(Node, {"value": 1, "next": {"value": 2, "next": {"value": "x"}}})


def test_a_misfit_is_short_whatever_came() -> None:
    """Values, places and the number of problems are the model's own, and may be of any size."""
    for kind, value in [
        (int, "x" * 10_000_000),
        (list[int], ["x"] * 1_000_000),
        (Box, {"w": 1, "h" * 1_000_000: 1}),
        (dict[str, int], {"k" * 1_000_000: "x"}),
        (Box, [[1] * 100] * 10_000),
    ]:
        began = time.monotonic()
        with pytest.raises(Misfit) as told:
            fit(kind, value)
        assert len(str(told.value)) < 3_000
        assert time.monotonic() - began < 20


def test_a_check_of_an_annotation_is_asked() -> None:
    """It says what was expected, and is not asked about what does not fit anyway."""

    class Even:
        def check(self, value: int) -> str:
            return "" if value % 2 == 0 else "an even number"

    assert fit(Annotated[int, Even()], "4") == 4
    with pytest.raises(Misfit, match="n: expected an even number, got 3"):
        fit(Annotated[int, Even()], 3, path="n")
    with pytest.raises(Misfit, match="expected a whole number"):
        fit(Annotated[int, Even()], "x")


def test_what_a_dataclass_itself_refuses_is_a_problem() -> None:
    """Whatever it raises."""
    with pytest.raises(Misfit, match=r"box: expected a Positive \(KeyError: 'n is not positive'\), got"):
        fit(Positive, {"n": 0}, path="box")


def test_a_dataclass_gets_its_init_only_values() -> None:
    """``InitVar`` is a field to fill in; a computed field is not."""
    assert fit(Seeded, {"seed": "2"}).doubled == 4


def chain(length: int, last: Any) -> Any:
    for _ in range(length):
        last = {"value": 1, "next": last}
    return last


def test_deep_values_fit_to_a_bound_and_never_come_back_unlooked_at() -> None:
    """Forty levels become dataclasses; five thousand are a misfit, and no crash."""
    node = fit(Node, chain(40, None))
    depth = 0
    while node is not None:
        assert type(node) is Node
        node, depth = node.next, depth + 1
    assert depth == 40
    with pytest.raises(Misfit, match="levels of nesting"):
        fit(Node, chain(5_000, None))


def test_ambiguous_unions_take_no_time_that_doubles_with_each_level() -> None:
    """Two types that look alike, forty levels deep, with a problem at the bottom."""
    for last in ({"a": 5}, {"a": None}):
        value: Any = last
        for number in range(40):
            value = {"a": value, "b": {"a": None}} if number % 2 else {"a": {"b": None}, "b": value}
        began = time.monotonic()
        if last == {"a": None}:
            assert isinstance(fit(Left, value), Left)
        else:
            with pytest.raises(Misfit):
                fit(Left, value)
        assert time.monotonic() - began < 20


def test_a_misfit_survives_pickle() -> None:
    """With its problems."""
    misfit = Misfit([Problem("a", "text", "3")])
    copy = pickle.loads(pickle.dumps(misfit))
    assert (copy.problems, str(copy)) == (misfit.problems, str(misfit))
