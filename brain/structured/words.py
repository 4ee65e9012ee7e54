"""A JSON schema in words, for models to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["described"]

_KINDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def described(schema: Mapping[str, Any]) -> str:
    """Say how to reply so that the reply fits a schema."""
    properties = schema.get("properties")
    kinds = {name: _kind(each) for name, each in properties.items()} if isinstance(properties, Mapping) else {}
    if not kinds or not all(kinds.values()):  # containers in containers: the schema is the shorter way to say it
        kind = schema.get("type") if schema.get("type") in ("object", "array") else "value"
        written = json.dumps(schema, ensure_ascii=False)
        return f"Reply with one JSON {kind} and nothing else. It has to fit this JSON schema:\n{written}"
    lines = ["Reply with one JSON object and nothing else. Its fields:"]
    for name, kind in kinds.items():
        about = schema["properties"][name].get("description", "")
        may = "" if name in schema.get("required", ()) else " (may be left out)"
        lines.append(f'- "{name}": {kind}{may}' + (f"; {about}" if about else ""))
    return "\n".join(lines)


def _kind(schema: Mapping[str, Any]) -> str:
    """Say a simple schema in a few words; ``""`` for any other."""
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        inner = schema.get("items", {}).get("type")
        return "a list of texts" if inner == "string" else f"a list, each {_KINDS[inner]}" if inner in _KINDS else ""
    words = _KINDS.get(kind, "") if isinstance(kind, str) else ""
    if words and "minimum" in schema and "maximum" in schema:
        words += f" from {schema['minimum']} to {schema['maximum']}"
    return words
