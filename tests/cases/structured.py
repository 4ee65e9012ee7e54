"""Cases of structure in model text: JSON found, fields typed, verdicts, critiques, routes and plans read."""

from __future__ import annotations

import dataclasses
from typing import Any

from brain.errors import StructureError
from brain.structured import extract, parse_as, read_plan, read_route
from brain.structured.judgements import DebateCritique, DebateVerdict
from brain.structured.read import canonical

_KINDS: dict[str, Any] = {"integer": int, "number": float, "string": str, "boolean": bool, "array": list}
_KINDS |= {"object": dict, "array[string]": list[str], "list": list, "any": Any}


def _compared(got: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    problems = []
    for key, wanted in expected.items():
        if key == "max_seconds":
            continue  # the whole file is run in less, and the flood tests measure
        if key == "error":
            problems += [] if bool(got.get("error")) == wanted else [f"error: expected {wanted}, got {got}"]
        elif key == "encodable_utf8":
            str(got.get("value")).encode()
            problems += [] if "value" in got else [f"no value: {got}"]
        elif key == "never":
            problems += [f"{wanted!r} came back"] if "value" in got and got["value"] == wanted else []
        elif key == "steps_contain":
            missing = [each for each in wanted if not any(each in step for step in got.get("steps", ()))]
            problems += [f"steps lack {missing}: {got}"] if missing else []
        elif key not in got:
            problems.append(f"{key}: expected {wanted!r}, got {got}")
        elif canonical(_plain(got[key])) != canonical(_plain(wanted)):
            problems.append(f"{key}: expected {wanted!r}, got {got[key]!r}")
    return problems


def _plain(value: Any) -> Any:
    """Numbers are compared by value: 3 is 3.0, and neither is true."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def json_extract(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    try:
        got: dict[str, Any] = {"value": extract(given["text"], given.get("want", "any"))}
    except StructureError as error:
        got = {"error": str(error)}
    return _compared(got, expected)


def schema_coerce(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    kind = dataclasses.make_dataclass(
        "Given", [(name, _KINDS.get(each, Any)) for name, each in given["schema"].items()]
    )
    try:
        got: dict[str, Any] = {"value": dataclasses.asdict(parse_as(kind, given["text"]))}
    except StructureError as error:
        got = {"error": str(error)}
    return _compared(got, expected)


def verdict_parse(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What cannot be read is known as such, and counts as not passed."""
    try:
        got = dataclasses.asdict(parse_as(DebateVerdict, given["text"]))
    except StructureError as error:
        got = {"error": str(error), "passes": False}
    return _compared(got, expected)


def critique_parse(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What cannot be read is known as such, and counts as severe."""
    try:
        critique = parse_as(DebateCritique, given["text"])
    except StructureError as error:
        got: dict[str, Any] = {"error": str(error), "decision": "revise"}
    else:
        got = {**dataclasses.asdict(critique), "decision": "revise" if critique.severity > 0.3 else "accept"}
    return _compared(got, expected)


def route_parse(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    route = read_route(given["reply"], [*given["nodes"], "__done__"])
    got: dict[str, Any] = {}
    if route.status == "ok":
        got["next"] = route.next
    elif route.status == "unknown":
        got["unknown"] = route.said
    else:
        got["unparsed"] = True
    return _compared(got, expected)


def plan_parse(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    try:
        plan = read_plan(given["text"])
    except StructureError as error:
        return _compared({"error": str(error)}, expected)
    got = {"steps": list(plan.steps), "count": len(plan.steps), "depends_on": list(plan.depends_on)}
    return _compared(got, expected)


CHECKERS = {
    "json_extract": json_extract,
    "schema_coerce": schema_coerce,
    "verdict_parse": verdict_parse,
    "critique_parse": critique_parse,
    "route_parse": route_parse,
    "plan_parse": plan_parse,
}
