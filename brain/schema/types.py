"""Python types as JSON schemas."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Union, get_args, get_origin

from brain.schema.hints import bare, choices_of, hints_of, is_alias, is_class_var, record_of, required_fields

__all__ = ["bare", "hints_of", "is_class_var", "json_schema", "required_fields"]

_DEPTH = 20
"""Types nested deeper than this may be anything: no tool's arguments are."""

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", None: "null"}
_TEXTS = {
    ("datetime", "datetime"): {"format": "date-time"},
    ("datetime", "date"): {"format": "date"},
    ("datetime", "time"): {"format": "time"},
    ("uuid", "UUID"): {"format": "uuid"},
    ("decimal", "Decimal"): {},
    ("pathlib", "Path"): {},
    ("builtins", "bytes"): {"contentEncoding": "base64"},
}
"""Types that JSON has no word for and that are written as texts, by module and name: none is imported for this."""


def json_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a Python type; what is not understood may be anything.

    Args:
        kind: ``str``, ``int``, ``float``, ``bool``, ``None``, containers, unions, ``Literal``, enums, dataclasses,
            ``TypedDict``, ``NamedTuple``, dates, and ``Annotated`` with a description or with bounds.
    """
    return _schema(kind, (), 0)


def _schema(kind: Any, inside: tuple[Any, ...], depth: int) -> dict[str, Any]:
    """Return the schema of a type; ``inside`` are the named types that it is a part of."""
    if depth > _DEPTH:
        return {}
    if is_alias(kind):
        if kind in inside:  # it is defined by itself
            return {}
        inside = (*inside, kind)
    kind = bare(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return _annotated(_schema(arguments[0], inside, depth + 1), arguments[1:])
    if kind is None or (isinstance(kind, type) and kind in _SIMPLE):
        return {"type": _SIMPLE[kind]}
    choices = choices_of(kind)
    if choices is not None:
        return _of_values([said for said, _ in choices])
    if origin in (Union, types.UnionType):
        return _union([_schema(each, inside, depth + 1) for each in arguments])
    base = origin or kind
    if not isinstance(base, type):
        return {}
    record = record_of(base)
    if record is not None:
        if base in inside:  # a record within itself is told once: schemas are finite
            return {"type": "object"}
        fields = {name: _schema(each, (*inside, base), depth + 1) for name, each in record.kinds.items()}
        return {
            "type": "object",
            "properties": fields,
            "required": [name for name in fields if name in record.required],
            "additionalProperties": False,
        }
    text = _TEXTS.get((base.__module__.partition(".")[0], base.__name__))
    if text is not None:
        return {"type": "string", **text}
    if issubclass(base, str):
        return {"type": "string"}
    if issubclass(base, tuple) and arguments and arguments[-1] is not Ellipsis:
        items = [_schema(each, inside, depth + 1) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if issubclass(base, Mapping):
        values = _schema(arguments[1], inside, depth + 1) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if issubclass(base, typing.cast(type, Iterable)) and base not in (bytearray, memoryview):
        each = _schema(arguments[0], inside, depth + 1) if arguments else {}
        unique = {"uniqueItems": True} if issubclass(base, (set, frozenset)) else {}
        return {"type": "array", **unique, **({"items": each} if each else {})}
    return {}


def _annotated(schema: dict[str, Any], marks: Iterable[Any]) -> dict[str, Any]:
    """Add what the marks of ``Annotated`` say: a description, or more of a schema."""
    for mark in marks:
        said = mark if isinstance(mark, str) else getattr(mark, "description", getattr(mark, "documentation", None))
        if isinstance(said, str):
            schema["description"] = said
        elif hasattr(mark, "json_schema"):
            schema.update(mark.json_schema())
    return schema


def _of_values(values: list[Any]) -> dict[str, Any]:
    if not all(isinstance(value, str | int | float | None) for value in values):
        return {}
    kinds = {_SIMPLE.get(type(value)) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    if any(not schema for schema in schemas):
        return {}
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": list(dict.fromkeys(schema["type"] for schema in schemas))}
    return {"anyOf": schemas}
