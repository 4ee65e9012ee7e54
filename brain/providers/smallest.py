"""The smallest instance of a JSON schema.

A smallest instance never holds an instance of the schema it is itself an instance of: the inner one
would be smaller. So a ``$ref`` that leads back to where it came from is a dead end, and the search ends
on every schema, recursive ones included. ``not``, ``if`` and conditions between properties are not read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from brain.errors import ProviderError

__all__ = ["smallest"]

_MOST = 10_000  # schemas looked at: far beyond any dataclass, and still a fraction of a second
_LONGEST = 10_000  # items or characters an instance may be made to have by minItems or minLength

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

_FORMATS = {
    "date": "1970-01-01",
    "date-time": "1970-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "duration": "P0D",
    "email": "a@example.org",
    "hostname": "example.org",
    "ipv4": "0.0.0.0",  # noqa: S104 - an address to write down, not to bind
    "ipv6": "::",
    "uri": "a:",
    "uuid": "00000000-0000-0000-0000-000000000000",
}
_SAMPLES = ("", "a", "A", "0", "1", "a0", "A0", "-", "_", " ", "1.0", "a@a.a", "a.a", "#000000", "a-a", "a_a")


class _DeadEnd(Exception):
    """No instance this way."""


def smallest(schema: Any) -> Any:
    """Return the smallest value that is valid under a JSON schema.

    Raises:
        ProviderError: the schema allows nothing, or only what this search does not find.
    """
    try:
        return _Search(schema).value(schema, ())
    except (_DeadEnd, RecursionError) as error:
        why = str(error) if isinstance(error, _DeadEnd) else "it is nested too deeply"
        raise ProviderError(f"no smallest instance of the schema: {why}", kind="bad_request") from None


class _Search:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.looked = 0

    def value(self, schema: Any, inside: tuple[str, ...]) -> Any:
        self.looked += 1
        if self.looked > _MOST:
            raise _DeadEnd(f"more than {_MOST} parts to look at")
        if schema is False:
            raise _DeadEnd("it is false somewhere, which allows nothing")
        if not isinstance(schema, Mapping):
            return None
        if "$ref" in schema:
            name = str(schema["$ref"])
            if name in inside:
                raise _DeadEnd(f"{name} requires an instance of itself")
            rest = {key: each for key, each in schema.items() if key != "$ref"}
            return self.value(_both(self._target(name), rest), (*inside, name))
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            for each in schema["enum"]:
                if "type" not in schema or _is(each, schema["type"]):
                    return each
            raise _DeadEnd("an enum has no value of its type")
        if schema.get("allOf"):
            merged = {key: each for key, each in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                if isinstance(part, Mapping) and "$ref" in part:
                    if str(part["$ref"]) in inside:
                        raise _DeadEnd(f"{part['$ref']} requires an instance of itself")
                    inside = (*inside, str(part["$ref"]))
                    part = _both(self._target(inside[-1]), {k: v for k, v in part.items() if k != "$ref"})
                merged = _both(merged, part)
            return self.value(merged, inside)
        for choice in ("anyOf", "oneOf"):
            if schema.get(choice):
                rest = {key: each for key, each in schema.items() if key != choice}
                return self._least((_both(rest, each) for each in schema[choice]), inside)
        if schema.get("nullable") is True:
            return None
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self._least(({**schema, "type": each} for each in kinds), inside)
        return self._of_type(kinds or _implied(schema), schema, inside)

    def _of_type(self, kind: Any, schema: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
        if kind == "null":
            return None
        if kind == "boolean":
            return False
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind == "string":
            return _string(schema)
        if kind == "array":
            return self._array(schema, inside)
        if kind == "object":
            return self._object(schema, inside)
        raise _DeadEnd(f"type {kind!r} is none of {', '.join(_TYPES)}")

    def _least(self, options: Iterator[Any], inside: tuple[str, ...]) -> Any:
        found, reason = [], "it offers no alternatives"
        for each in options:
            try:
                found.append(self.value(each, inside))
            except _DeadEnd as error:
                reason = str(error)
        if not found:
            raise _DeadEnd(reason)
        return min(found, key=lambda value: len(json.dumps(value)))

    def _array(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> list[Any]:
        least = _bounded(schema.get("minItems", 0))
        first, rest = schema.get("prefixItems") or [], schema.get("items", True)
        items: list[Any] = []
        if "contains" in schema and schema.get("minContains", 1) and not first:
            items.append(self.value(schema["contains"], inside))
        while len(items) < least:
            part = first[len(items)] if len(items) < len(first) else rest
            value = self.value(part, inside)
            if schema.get("uniqueItems") and value in items:
                value = self._another(part, items, inside)
            items.append(value)
        return items

    def _another(self, schema: Any, taken: list[Any], inside: tuple[str, ...]) -> Any:
        """Find a value that is not among those taken, near the smallest one."""
        while isinstance(schema, Mapping) and "$ref" in schema:
            schema, inside = self._target(str(schema["$ref"])), (*inside, str(schema["$ref"]))
            if len(inside) != len(set(inside)):
                break
        schema = schema if isinstance(schema, Mapping) else {}
        kind = schema.get("type")
        if "const" in schema or "enum" in schema:
            for each in schema.get("enum", ()):
                if each not in taken:
                    return each
        elif kind in ("integer", "number") and "multipleOf" not in schema:
            for each in (max(taken) + 1, min(taken) - 1):
                if _fits(each, schema):
                    return each
        elif kind == "string" and not schema.keys() & {"pattern", "format"}:
            longer = max(taken, key=len) + "a"
            if len(longer) <= schema.get("maxLength", _LONGEST):
                return longer
        elif kind == "boolean" and len(taken) == 1:
            return not taken[0]
        elif not schema:
            return len(taken)
        raise _DeadEnd("an array needs more different items than this search finds")

    def _object(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
        known, required = schema.get("properties") or {}, list(schema.get("required") or ())
        other = schema.get("additionalProperties", True)
        names = [name for name in known if name in required]
        names += [name for name in required if name not in known]
        least = _bounded(schema.get("minProperties", 0))
        names += [name for name in known if name not in names][: max(0, least - len(names))]
        names += [f"p{number}" for number in range(least - len(names))]
        return {name: self.value(known.get(name, other), inside) for name in names}

    def _target(self, name: str) -> Any:
        place = self.root
        if not name.startswith("#"):
            raise _DeadEnd(f"{name!r} is outside the schema")
        for part in name[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, Mapping) and key in place:
                place = place[key]
            elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
                place = place[int(key)]
            else:
                raise _DeadEnd(f"{name!r} leads nowhere")
        return place


def _both(one: Any, other: Any) -> Any:
    """Join two schemas that must both hold; where a keyword cannot be joined the second one's counts."""
    if one is False or other is False:
        return False
    if not isinstance(one, Mapping):
        return other
    if not isinstance(other, Mapping):
        return one
    joined = {**one, **other}
    for key in one.keys() & other.keys():
        if key in ("properties", "$defs", "definitions"):
            joined[key] = {**one[key], **other[key]}
        elif key == "required":
            joined[key] = list(dict.fromkeys([*one[key], *other[key]]))
        elif key.startswith(("min", "exclusiveMin")):
            joined[key] = max(one[key], other[key])
        elif key.startswith(("max", "exclusiveMax")):
            joined[key] = min(one[key], other[key])
        elif key == "enum":
            joined[key] = [each for each in one[key] if each in other[key]]
        elif key in ("anyOf", "oneOf", "allOf"):
            joined["allOf"] = [*joined.get("allOf", ()), {key: one[key]}]
    return joined


def _implied(schema: Mapping[str, Any]) -> str:
    """Return the type that the keywords of a schema without one speak of."""
    for kind, words in (
        ("object", ("properties", "required", "minProperties")),
        ("array", ("items", "prefixItems", "minItems", "contains")),
        ("string", ("minLength", "pattern", "format")),
        ("number", ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")),
    ):
        if any(word in schema for word in words):
            return kind
    return "null"


def _is(value: Any, kinds: Any) -> bool:
    kind = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}.get(
        type(value), "object"
    )
    allowed = kinds if isinstance(kinds, list) else [kinds]
    return kind in allowed or (kind == "integer" and "number" in allowed)


def _bounded(least: Any) -> int:
    if least > _LONGEST:
        raise _DeadEnd(f"it asks for {least} items or characters; the most is {_LONGEST}")
    return int(least)


def _number(schema: Mapping[str, Any], *, whole: bool) -> int | float:
    """Return the number nearest to zero that fits."""
    low, high = _limits(schema)
    step = schema.get("multipleOf") or 1
    tries: list[float] = [0]
    for bound, away in ((low, 1), (high, -1)):
        if math.isfinite(bound):
            grid = (math.ceil if away > 0 else math.floor)(bound / step) * step
            tries += [grid, grid + away * step]
            if not whole and "multipleOf" not in schema:
                tries.append(bound)
    if math.isfinite(low) and math.isfinite(high) and not whole:
        tries.append((low + high) / 2)
    for each in sorted(tries, key=abs):
        if _fits(each, schema) and (not whole or each == int(each)):
            return int(each) if each == int(each) else each
    raise _DeadEnd(f"no number lies between {low} and {high} as it asks")


def _limits(schema: Mapping[str, Any]) -> tuple[float, float]:
    lows = [schema[key] for key in ("minimum", "exclusiveMinimum") if not isinstance(schema.get(key, True), bool)]
    highs = [schema[key] for key in ("maximum", "exclusiveMaximum") if not isinstance(schema.get(key, True), bool)]
    return max(lows, default=-math.inf), min(highs, default=math.inf)


def _fits(number: float, schema: Mapping[str, Any]) -> bool:
    low, high = _limits(schema)
    return low <= number <= high and all(schema.get(key) != number for key in ("exclusiveMinimum", "exclusiveMaximum"))


def _string(schema: Mapping[str, Any]) -> str:
    least, pattern = _bounded(schema.get("minLength", 0)), schema.get("pattern")
    if pattern is None:
        text = _FORMATS.get(str(schema.get("format")), "")
        return text + "a" * (least - len(text))
    literal = re.sub(r"\\(.)", r"\1", pattern.strip("^$"))
    repeated = [character * least for character in "aA0"] if least else []
    for text in (*_SAMPLES, literal, *(c * n for c in "aA0" for n in range(2, 41)), *repeated):
        try:
            if least <= len(text) <= schema.get("maxLength", _LONGEST) and re.search(pattern, text):
                return text
        except re.error:
            raise _DeadEnd(f"the pattern {pattern!r} cannot be read") from None
    raise _DeadEnd(f"the pattern {pattern!r} is more than this search finds a text for")
