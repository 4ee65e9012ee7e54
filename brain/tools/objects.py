"""Tools of other libraries: objects that have a name, a description and a method to call, known by their shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brain.errors import ConfigurationError

__all__ = ["Invoked", "shape_of"]


def shape_of(given: Any, where: str) -> dict[str, Any] | None:
    """Return name, call, description and schema of an object that is a tool; ``None`` if it has not the shape.

    Args:
        given: what may be such an object: it has ``name``, ``description``, and ``invoke`` or ``run``.
        where: what it is called in errors.

    Raises:
        ConfigurationError: it is a class of such objects, and none of them.
    """
    method = getattr(given, "invoke", None) or getattr(given, "run", None)
    if not callable(method) or not isinstance(getattr(given, "description", None), str):
        return None
    if isinstance(given, type):
        raise ConfigurationError(f"{where} is the class {given.__name__}; give an object of it: {given.__name__}(...)")
    if not isinstance(getattr(given, "name", None), str):
        return None
    return {
        "name": given.name,
        "call": Invoked(given),
        "description": given.description,
        "schema": _schema_of(given),
    }


class Invoked:
    """Calls an object that has ``invoke`` or ``run``: with the text, or with all arguments as one mapping."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __call__(self, *given: Any, **arguments: Any) -> Any:
        method = getattr(self.target, "invoke", None) or self.target.run
        return method(given[0] if given else arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invoked) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


def _schema_of(given: Any) -> dict[str, Any] | None:
    """Read what such an object says of its arguments, in the ways that such objects have."""
    for read in (
        lambda: given.args_schema if isinstance(given.args_schema, Mapping) else given.args_schema.model_json_schema(),
        lambda: given.args_schema.schema(),
        lambda: {"type": "object", "properties": dict(given.args)},
        lambda: given.get_input_jsonschema(),
    ):
        try:
            schema: Any = json.loads(json.dumps(read()))
        except Exception:  # this object does not say it this way
            schema = None
        if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
            return schema
    return None
