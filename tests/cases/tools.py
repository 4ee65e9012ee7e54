"""Rows about tools made of Python callables, and about calling them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from brain.errors import ConfigurationError
from brain.tools import Tool, Toolset, plain, tool
from brain.types import Observation


def _function(given: dict[str, Any]) -> Any:
    names: dict[str, Any] = {"__name__": "case"}
    # As a module would be executed: not with this file's own `annotations` import.
    exec(compile(given["source"], "<case>", "exec", dont_inherit=True), names)
    return names[given["function"]]


def tool_schema(given: Any, expected: dict[str, Any]) -> list[str]:
    try:
        made = tool(_function(given), name="f")
        schema = made.schema
    except ConfigurationError as error:
        return [] if expected.get("registration_error") else [f"refused: {error}"]
    problems = []
    for key, value in expected.items():
        properties = schema["properties"]
        if key == "required":
            problems += _unless(sorted(schema["required"]) == sorted(value), key, value, schema["required"])
        elif key == "properties":
            for name, wanted in value.items():
                problems += _property(name, wanted, properties.get(name, {}))
        elif key == "has_properties":
            problems += [f"no property {name}" for name in value if name not in properties]
        elif key == "lacks_properties":
            problems += [f"property {name}" for name in value if name in properties]
        elif key == "description_contains":
            problems += [f"description lacks {text!r}" for text in value if text not in made.description]
        elif key in ("call_ok", "call_result"):
            seen = [_observed(made, arguments) for arguments in expected.get("call_ok", [])]
            problems += [f"call failed: {each.text}" for each in seen if not each.ok]
            if key == "call_result":
                problems += _unless([each.text for each in seen] == value, key, value, [each.text for each in seen])
        elif key == "registration_error":
            problems.append("was not refused")
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def _property(name: str, wanted: dict[str, Any], got: dict[str, Any]) -> list[str]:
    problems = []
    for key, value in wanted.items():
        if key == "description_contains":
            said = got.get("description", "")
            problems += [f"{name}: description {said!r} lacks {text!r}" for text in value if text not in said]
        else:
            problems += _unless(got.get(key) == value, f"{name}.{key}", value, got.get(key))
    return problems


def tool_registry(given: Any, expected: dict[str, Any]) -> list[str]:
    registered = [_registered(text) for text in given["tools"]]
    tools: Any = [made for _, made in registered]
    if all(name for name, _ in registered):
        tools = dict(registered)
    try:
        Toolset(tools, native=True)
    except ConfigurationError:
        return [] if expected.get("registration_error") else ["refused"]
    return ["was not refused"] if expected.get("registration_error") or expected.get("warning") else []


def _registered(text: str) -> tuple[str, Any]:
    """Read ``list: def search(q)``, ``dict my tool: def search(q)`` or ``list: lambda q: q``: name and callable."""
    head, _, said = text.partition(":")
    names: dict[str, Any] = {}
    said = said.strip()
    if said.startswith("lambda"):
        made = eval(said, names)
    else:
        exec(f"{said}: return ''", names)
        made = next(value for name, value in names.items() if not name.startswith("__"))
    return head.partition(" ")[2].strip("'\" "), made


def tool_call(given: Any, expected: dict[str, Any]) -> list[str]:
    function = _function(given)
    made = tool(function, name="f")
    began = time.monotonic()
    try:
        if "context" in expected:

            async def inside() -> Observation:
                return _observed(made, given["args"])

            seen = asyncio.run(inside())
        else:
            seen = _observed(made, given["args"])
    except BaseException as error:
        return _unless(type(error).__name__ == expected.get("raises"), "raises", expected.get("raises"), repr(error))
    problems = []
    for key, value in expected.items():
        if key == "observation":
            problems += _unless(seen.ok and seen.text == value, key, value, seen)
        elif key == "observation_contains":
            problems += [f"{text!r} missing in {seen.text[:200]!r}" for text in value if text not in seen.text]
        elif key == "observation_not_contains":
            problems += [f"{text!r} found in {seen.text[:200]!r}" for text in value if text in seen.text]
        elif key == "observation_error":
            problems += _unless(seen.ok is not value, key, value, seen.text[:200])
        elif key == "observation_is_str":
            problems += _unless(isinstance(seen.text, str) and seen.ok, key, value, seen.text[:200])
        elif key == "observation_max_chars":
            problems += _unless(len(seen.text) <= value, key, value, len(seen.text))
        elif key == "truncation_marked":
            problems += _unless("cut" in seen.text[-80:], key, value, seen.text[-80:])
        elif key in ("trace_json_ok", "trace_json_strict_ok"):
            json.dumps({"text": seen.text, "value": plain(seen.value)}, allow_nan=False)
        elif key == "max_seconds":
            problems += _unless(time.monotonic() - began <= value, key, value, time.monotonic() - began)
        elif key == "raises":
            problems.append(f"did not raise {value}")
        elif key not in ("no_crash", "context"):  # both are shown by getting here
            problems.append(f"this checker does not know {key!r}")
    return problems


def _observed(made: Tool, arguments: Any) -> Observation:
    tools = Toolset([made])
    if isinstance(arguments, str):
        return tools.call_raw("f", arguments)
    return tools.call("f", arguments)


def _unless(holds: bool, key: str, expected: Any, got: Any) -> list[str]:
    return [] if holds else [f"{key}: expected {expected!r}, got {got!r}"]


CHECKERS = {"tool_schema": tool_schema, "tool_registry": tool_registry, "tool_call": tool_call}
