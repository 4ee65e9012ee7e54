"""How a callable is called: read from its signature, its annotations and its docstring, never from its source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from brain.schema import json_schema
from brain.schema.types import hints_of
from brain.tools.docstrings import read_docstring
from brain.tools.tool import Parameter, Plan

__all__ = ["plan_of"]


def plan_of(call: Callable[..., Any], description: str | None, schema: Mapping[str, Any] | None) -> Plan:
    """Work out how to call something, and what to tell a model of it."""
    said, arguments = read_docstring(_docstring(call))
    description = said if description is None else description
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):  # some builtins do not tell
        return Plan((), dict(schema) if schema is not None else _TEXT, description, opaque=True)
    hints = _hints(call)
    kinds = inspect.Parameter
    parameters: list[Parameter] = []
    takes_more = False
    for each in signature.parameters.values():
        if each.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
            takes_more = takes_more or each.kind is kinds.VAR_POSITIONAL
            continue
        kind = hints.get(each.name)
        positional = each.kind is kinds.POSITIONAL_ONLY
        parameters.append(Parameter(each.name, kind, each.default is kinds.empty, positional))
    if schema is not None:
        return Plan(tuple(parameters), dict(schema), description, opaque=not parameters and takes_more)
    if not parameters and takes_more:
        return Plan((), _TEXT, description, opaque=True)
    properties: dict[str, Any] = {}
    for parameter in parameters:
        told = dict(json_schema(parameter.kind)) if parameter.kind is not None else {"type": "string"}
        default = signature.parameters[parameter.name].default
        if parameter.kind is None and not parameter.required and default is not None:
            told = dict(json_schema(type(default)))
        if parameter.name in arguments:
            told["description"] = arguments[parameter.name]
        if isinstance(default, str | int | float | bool):
            told |= {"default": default}
        properties[parameter.name] = told
    whole = {
        "type": "object",
        "properties": properties,
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }
    return Plan(tuple(parameters), whole, description)


_TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""What a model is told of a callable that says nothing of itself: it takes a text."""


def _unwrapped(call: Any) -> Any:
    while hasattr(call, "func") and hasattr(call, "keywords"):  # functools.partial
        call = call.func
    return call


def _hints(call: Any) -> dict[str, Any]:
    call = _unwrapped(call)
    if inspect.isclass(call):
        call = call.__init__
    elif not inspect.isroutine(call):
        call = type(call).__call__
    return hints_of(inspect.unwrap(getattr(call, "__func__", call)))


def _docstring(call: Any) -> str | None:
    call = _unwrapped(call)
    if inspect.isroutine(call) or inspect.isclass(call):
        return inspect.getdoc(call)
    said = inspect.getdoc(type(call).__call__)  # a callable object: its method says more than its class
    return said if said and not said.startswith("Call self as a function") else inspect.getdoc(type(call))
