"""Values cross the channel as they are, or raise."""

from __future__ import annotations

import datetime
import decimal
import itertools
import time

import pytest

from brain.sandbox.inside.wire import DEPTH, dumps, loads

ROOM = 1 << 20
UTC = datetime.UTC


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, -7, 10**399, 1.5, -0.0, 1e308, "", "é 札幌 😀", 'quo"te\\ and \n', "\x00\x1f",
        [], {}, [[], {}], {"a": [1, {"b": None}]}, (), (1, (2,)), {1: (1, 2)}, {None: 1, 1.5: 2, (1, "a"): 3},
        {"$": "tuple", "v": [1]}, {"$": 1}, set(), {1, "a"}, frozenset({2}), b"", b"\x00\xff",
        datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
        datetime.datetime(2024, 2, 29, tzinfo=UTC), decimal.Decimal("0.10"),
        {"rows": [{"when": datetime.date(1, 1, 1), "tags": {"x"}}]},
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_a_value_arrives_as_it_left(value):
    """Types and keys survive, at any depth (check 39)."""
    back = loads(dumps(value, ROOM))
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value) or isinstance(value, (set, frozenset))


class Subclass(dict):
    """Not a dict as it left."""


@pytest.mark.parametrize(
    "value",
    [
        object(), Subclass(a=1), [object()], {"a": print}, float("nan"), float("inf"), 10**400, -(10**400), 1j,
        range(3), bytearray(b"x"), {1 << 60: 1}, {1 << 60}, "\ud800", ["\udfff"], decimal.Decimal("NaN"),
        datetime.datetime(2024, 10, 27, 2, 30, fold=1), {"a": {"b": object()}},
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_a_value_that_would_change_raises(value):
    """One leaf that cannot cross fails the whole value; it is never turned into text (check 39)."""
    with pytest.raises((TypeError, ValueError)):
        dumps(value, ROOM).encode()


def test_a_set_cannot_be_an_argument():
    """Arguments have no sets and no tuples as keys, since the host would not take them (check 40)."""
    for value in ({1}, [frozenset()], {"a": {1}}, {(1, 2): 3}):
        with pytest.raises(TypeError):
            dumps(value, ROOM, sets=False, tuple_keys=False)


def test_a_value_that_holds_itself_raises_at_once():
    """A cycle is found by depth, and a wide one by size, before memory is spent on it."""
    cycle: list = []
    cycle += [cycle, cycle]
    started = time.monotonic()
    with pytest.raises(ValueError, match=r"nested|large"):
        dumps(cycle, ROOM)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    "value", ["x" * 101, ["x" * 60, "x" * 60], [[]] * 60, {str(n): n for n in range(40)}, b"x" * 60]
)
def test_a_value_beyond_the_room_raises(value):
    """What is too large is refused before it is built."""
    with pytest.raises(ValueError, match="large"):
        dumps(value, 100)


def test_depth_is_bounded_alike_on_both_sides():
    """What may be written may be read, and one deeper neither."""
    deep: list = []
    for _ in range(DEPTH - 1):
        deep = [deep]
    assert loads(dumps(deep, ROOM)) == deep
    with pytest.raises(ValueError, match="nested"):
        dumps([deep], ROOM)
    for text in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 500 + "1" + "}" * 500, '["\\"",' * 100):
        with pytest.raises(ValueError, match="nested"):
            loads(text)


def test_brackets_in_strings_are_not_depth():
    """Text may hold any brackets, escaped quotes among them."""
    for text in ("[" * 1000, '"' + "[" * 1000, '\\"[{' * 100, "\\" * 3 + "[" * 99):
        assert loads(dumps([text, [text]], ROOM)) == [text, [text]]


@pytest.mark.parametrize(
    "text",
    [
        "", " 1", "1 ", "1 1", "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 402, "[1,]", '{"a":1,"a":2}',
        '{"a":1,"b":2,"a":3}', "'a'", '"\\ud800"', '["\\uDFFF"]', '"\n"', "tru", "{", '"', "nul", "01", "+1",
        '{"$":"tuple"}', '{"$":"tuple","v":[],"w":1}', '{"$":"tuple","v":1}', '{"$":"set","v":[[]]}',
        '{"$":"set","v":[{}]}', '{"$":"dict","v":[1]}', '{"$":"dict","v":[[1]]}', '{"$":"dict","v":["ab"]}',
        '{"$":"dict","v":[[[],1]]}', '{"$":"bytes","v":"0"}', '{"$":"bytes","v":"zz"}', '{"$":"date","v":"x"}',
        '{"$":"decimal","v":"NaN"}', '{"$":"decimal","v":"x"}', '{"$":"object","v":1}', '{"$":null,"v":1}',
        '{"$":["tuple"],"v":[]}', '{"$":"set","v":[' + str(1 << 61) + "]}",
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_what_nobody_wrote_is_not_read(text):
    """Strict JSON, strict tags: anything else is a ``ValueError``, never another error and never a guess."""
    with pytest.raises(ValueError):  # noqa: PT011  # which of its kind is json's business
        loads(text)


def test_escaped_pairs_are_text():
    """A frame may spell an emoji as two escapes; half of it is refused above."""
    assert loads('"\\ud83d\\ude00 \\u00e9"') == "😀 é"


def test_keys_whose_hashes_a_program_could_choose_are_refused():
    """Colliding keys would take the host quadratic time: no huge integers, no tuples from a program."""
    modulus = (1 << 61) - 1
    attack = '{"$":"set","v":[' + ",".join(str(n * modulus) for n in range(1, 20000)) + "]}"
    started = time.monotonic()
    with pytest.raises(ValueError, match="60 bits"):
        loads(attack)
    with pytest.raises(ValueError, match="tuple"):
        loads('{"$":"dict","v":[[{"$":"tuple","v":[1]},1]]}', tuple_keys=False)
    assert time.monotonic() - started < 20
