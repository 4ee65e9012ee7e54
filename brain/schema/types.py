"""Python types as JSON schemas."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

__all__ = ["bare", "hints_of", "is_class_var", "json_schema", "required_fields"]

_DEPTH = 20
"""Types nested deeper than this may be anything: no tool's arguments are."""

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def json_schema(kind: Any, _depth: int = 0) -> dict[str, Any]:
    """Return the JSON schema of a Python type; what is not understood may be anything.

    Args:
        kind: ``str``, ``int``, ``float``, ``bool``, ``None``, containers, unions, ``Literal``, enums, dataclasses,
            ``TypedDict``, dates, and ``Annotated`` with a description or with bounds.
    """
    if _depth > _DEPTH:
        return {}
    origin, arguments, deeper = get_origin(kind), get_args(kind), _depth + 1
    if origin is typing.Annotated:
        schema = json_schema(arguments[0], deeper)
        for mark in arguments[1:]:
            if isinstance(mark, str):
                schema["description"] = mark
            elif hasattr(mark, "json_schema"):
                schema.update(mark.json_schema())
        return schema
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if kind is None:
        return {"type": "null"}
    if origin is Literal:
        return _of_values(list(arguments))
    if origin in (Union, types.UnionType):
        return _union([json_schema(each, deeper) for each in arguments])
    base = origin or kind
    if not isinstance(base, type):
        return {}
    if issubclass(base, enum.Enum):
        return _of_values([each.value for each in base])
    if dataclasses.is_dataclass(base):
        names = {each.name for each in dataclasses.fields(base) if each.init}
        return _object({name: each for name, each in hints_of(base).items() if name in names}, base, deeper)
    if typing.is_typeddict(base):
        return _object(hints_of(base), base, deeper)
    if issubclass(base, tuple):
        return _tuple(arguments, deeper)
    if issubclass(base, (set, frozenset)):
        return {"type": "array", "uniqueItems": True, **_items(arguments, deeper)}
    if issubclass(base, Mapping):
        values = json_schema(arguments[1], deeper) if len(arguments) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if issubclass(base, Sequence) and not issubclass(base, (bytes, bytearray)):
        return {"type": "array", **_items(arguments, deeper)}
    formats = {"datetime": "date-time", "date": "date", "time": "time"}
    if base.__module__ == "datetime" and base.__name__ in formats:
        return {"type": "string", "format": formats[base.__name__]}
    return {}


def hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a class or function; one that cannot be resolved is ``Any``."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:  # a name that is not there, or a text that is no type: resolve what can be
        found: dict[str, Any] = {}
    for each in reversed(getattr(owner, "__mro__", (owner,))):
        known = getattr(each, "__globals__", None) or vars(sys.modules.get(each.__module__, typing))
        for name, said in getattr(each, "__annotations__", {}).items():
            holder = type("holder", (), {"__annotations__": {name: said}})
            try:
                found[name] = typing.get_type_hints(holder, {**known}, include_extras=True)[name]
            except Exception:
                found[name] = Any
    return found


def required_fields(kind: Any) -> Collection[str]:
    """Return the names that a dataclass or ``TypedDict`` must have."""
    if not dataclasses.is_dataclass(kind):
        names: Collection[str] = kind.__required_keys__
        return names
    missing = dataclasses.MISSING
    return {
        each.name
        for each in dataclasses.fields(kind)
        if each.init and each.default is missing and each.default_factory is missing
    }


def _object(hints: Mapping[str, Any], kind: Any, depth: int) -> dict[str, Any]:
    required = required_fields(kind)
    properties = {name: json_schema(bare(kind), depth) for name, kind in hints.items() if not is_class_var(kind)}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in required],
        "additionalProperties": False,
    }


def is_class_var(kind: Any) -> bool:
    """Whether an annotation is of a class, not of its instances."""
    return kind is typing.ClassVar or get_origin(kind) is typing.ClassVar


def bare(kind: Any) -> Any:
    """Take off what says in a ``TypedDict`` whether a key must be there."""
    while get_origin(kind) in (typing.Required, typing.NotRequired):
        kind = get_args(kind)[0]
    return kind


def _of_values(values: list[Any]) -> dict[str, Any]:
    kinds = {_SIMPLE.get(type(value)) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return {"type": kind, "enum": values} if kind else {"enum": values}


def _union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    if any(not schema for schema in schemas):
        return {}
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _items(arguments: tuple[Any, ...], depth: int) -> dict[str, Any]:
    items = json_schema(arguments[0], depth) if arguments else {}
    return {"items": items} if items else {}


def _tuple(arguments: tuple[Any, ...], depth: int) -> dict[str, Any]:
    if not arguments or arguments[-1] is Ellipsis:
        return {"type": "array", **_items(arguments, depth)}
    items = [json_schema(each, depth) for each in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
