"""For any signature: what is valid arrives as it was meant, and what is not is an observation.

``BRAIN_THOROUGH=1`` tries many more.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import os
from collections.abc import Callable
from typing import Any, Literal, TypedDict

from hypothesis import given, settings
from hypothesis import strategies as st

from brain.schema import Misfit, fit, json_schema
from brain.tools import Tool, Toolset, plain, render
from brain.types import Observation

few = settings(max_examples=3_000 if os.environ.get("BRAIN_THOROUGH") else 50, deadline=None, database=None)


class Tide(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclasses.dataclass
class Box:
    w: int
    label: str = "x"
    inner: Box | None = None


class Harbour(TypedDict):
    name: str
    depth: float


numbers = st.integers(-(2**53), 2**53)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
reals = st.floats(allow_nan=False, allow_infinity=False)
boxes = st.recursive(st.builds(Box, numbers, texts), lambda inner: st.builds(Box, numbers, texts, inner), max_leaves=4)

# For each type: its values, and JSON that is none of them and cannot be converted into one without loss.
KINDS: dict[Any, tuple[st.SearchStrategy[Any], list[Any]]] = {
    str: (texts, [None, True, ["a"], {"a": 1}]),
    int: (numbers, [None, True, "3.7", 3.7, "x", "", [1], {"a": 1}]),
    float: (reals, [None, True, "NaN", "inf", "x", [1.0], {"a": 1}]),
    bool: (st.booleans(), [None, 1, 0, "yes", "", ["true"]]),
    int | None: (st.none() | numbers, [True, "x", 1.5, []]),
    int | str: (numbers | texts, [None, False, ["a"]]),
    list[int]: (st.lists(numbers, max_size=4), [None, 1, "1", ["x"], [[1]], {"a": 1}, "[1"]),
    set[str]: (st.sets(texts, max_size=4), [None, "a", {"a": 1}, [None]]),
    tuple[int, str]: (st.tuples(numbers, texts), [None, [], [1], [1, "a", 2], ["x", "a"]]),
    dict[str, float]: (st.dictionaries(texts, reals, max_size=3), [None, [], "a", {"a": "x"}, {"a": None}]),
    dict[int, bool]: (st.dictionaries(numbers, st.booleans(), max_size=3), [None, {"a": True}, {"1": "x"}]),
    Literal["a", "b", 3]: (st.sampled_from(["a", "b", 3]), [None, "c", 4, True, ["a"]]),
    Tide: (st.sampled_from(Tide), [None, "mid", 1, ["low"]]),
    datetime.date: (st.dates(), [None, "x", 1, "2020-13-01", ["2020-01-01"]]),
    Box: (boxes, [None, {}, {"w": "x"}, {"w": 1, "h": 2}, {"w": 1, "inner": {}}, [1], "w"]),
    Harbour: (st.fixed_dictionaries({"name": texts, "depth": reals}), [None, {"name": "a"}, {"depth": 1.0}, "a"]),
    list[Box | Tide]: (st.lists(boxes | st.sampled_from(Tide), max_size=3), [None, [1], ["mid"], [{}]]),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@dataclasses.dataclass
class Made:
    """A generated function, its types, and what it was called with."""

    function: Callable[..., Any]
    kinds: dict[str, Any]
    optional: list[str]
    calls: list[dict[str, Any]]


@st.composite
def functions(draw: st.DrawFn) -> Made:
    """Draw a function of up to four parameters of any type, of any way of passing them, some with a default."""
    kinds = {name: draw(st.sampled_from(list(KINDS))) for name in "abcd"[: draw(st.integers(0, 4))]}
    required = draw(st.integers(0, len(kinds)))
    optional = list(kinds)[required:]
    parts = [f"{name}: K_{name}" + (f" = D_{name}" if name in optional else "") for name in kinds]
    for mark in ("/", "*"):
        place = draw(st.integers(0, len(parts)))
        # "/" ends those by position, "*" begins those by name; "*" has to come later and cannot come last.
        if place if mark == "/" else place < len(parts) and "/" not in parts[place:]:
            parts.insert(place, mark)
    calls: list[dict[str, Any]] = []
    names = {f"K_{name}": kind for name, kind in kinds.items()} | {f"D_{name}": None for name in optional}
    names["calls"] = calls
    given = ", ".join(f"{name!r}: {name}" for name in kinds)
    exec(f"def f({', '.join(parts)}):\n    calls.append({{{given}}})\n    return 'ran'", names)
    return Made(names["f"], kinds, optional, calls)


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(plain(value)))


@few
@given(st.data(), functions())
def test_valid_arguments_arrive_as_they_were_meant(data: st.DataObject, made: Made) -> None:
    """Native, as raw JSON and, where there are several, as text; whatever is left out has its default."""
    left_out = data.draw(st.sets(st.sampled_from(made.optional))) if made.optional else set()
    values = {name: data.draw(KINDS[kind][0]) for name, kind in made.kinds.items() if name not in left_out}
    meant = values | dict.fromkeys(left_out)
    arguments = as_json(values)
    tools = Toolset([made.function], native=True)
    ran = Observation("ran", value="ran")
    assert tools.call("f", arguments) == ran
    assert tools.call_raw("f", json.dumps(arguments)) == ran
    ways = 2
    if len(made.kinds) > 1:
        assert tools.call("f", json.dumps(arguments)) == ran
        ways = 3
    assert made.calls == [meant] * ways
    assert [[type(each) for each in call.values()] for call in made.calls] == [
        [type(meant[name]) for name in made.kinds]
    ] * ways


@few
@given(st.data(), functions())
def test_invalid_arguments_are_an_observation_and_no_call(data: st.DataObject, made: Made) -> None:
    """One argument that does not fit, is missing or unknown: it is named, and the tool is not called."""
    values = as_json({name: data.draw(KINDS[kind][0]) for name, kind in made.kinds.items()})
    faults = ["unknown"]
    faults += ["wrong"] if made.kinds else []
    faults += ["missing"] if len(made.optional) < len(made.kinds) else []
    fault = data.draw(st.sampled_from(faults))
    name = "zz"
    if fault == "unknown":
        values[name] = 1
    elif fault == "missing":
        name = data.draw(st.sampled_from([each for each in made.kinds if each not in made.optional]))
        del values[name]
    else:
        name = data.draw(st.sampled_from(list(made.kinds)))
        wrong = [each for each in KINDS[made.kinds[name]][1] if each is not None or name not in made.optional]
        values[name] = data.draw(st.sampled_from(wrong))
    tools = Toolset([made.function])
    for seen in (tools.call("f", values), tools.call_raw("f", json.dumps(values))):
        assert (seen.ok, seen.kind) == (False, "bad_arguments"), seen
        assert f"{name}" in seen.text.partition("It takes")[0]
    assert made.calls == []


@few
@given(functions(), json_values | st.text(), st.text())
def test_anything_at_all_is_an_observation(made: Made, input: Any, raw: str) -> None:
    """Whatever a model sends, in whichever voice, to whatever tool."""
    tools = Toolset([made.function, Tool("text", str.upper), Tool("any", lambda *a, **k: [a, k])])
    for name in ("f", "text", "any", raw):
        for seen in (tools.call(name, input), tools.call(name, raw), tools.call_raw(name, raw)):
            assert isinstance(seen, Observation)
            assert seen.ok or seen.kind in ("bad_arguments", "unknown_tool", "raised")


@few
@given(st.sampled_from(list(KINDS)), json_values)
def test_what_fits_fits_again(kind: Any, value: Any) -> None:
    """Fitting a fitted value changes nothing; what does not fit is a misfit, and nothing else."""
    try:
        fitted = fit(kind, value)
    except Misfit:
        return
    assert fit(kind, fitted) == fitted
    assert fit(kind, as_json(fitted)) == fitted


@few
@given(st.sampled_from(list(KINDS)))
def test_schemas_are_json_and_do_not_share(kind: Any) -> None:
    """A schema that a caller changes is the caller's own."""
    schema = json_schema(kind)
    json.dumps(schema, allow_nan=False)
    schema["changed"] = True
    assert "changed" not in json_schema(kind)


@few
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.decimals(),
        lambda inner: (
            st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner)
        ),
    )
    | st.sets(st.integers() | st.text() | st.none()),
    st.integers(1, 200),
)
def test_any_value_becomes_text(value: Any, limit: int) -> None:
    """Within its limit and a mark; and containers are strict JSON."""
    text = render(value, limit)
    assert len(text) <= limit or text[limit:].startswith(" [cut: the first ")
    whole = render(value)
    if isinstance(value, list | tuple | dict | set):
        json.loads(whole, parse_constant=lambda name: 1 / 0)
