"""How a callable is called: read from its signature, its annotations and its docstring, never from its source."""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Optional, Union, get_args, get_origin

from brain.schema import json_schema
from brain.schema.hints import bare, hints_of
from brain.tools.docstrings import read_docstring
from brain.tools.render import plain
from brain.tools.tool import Parameter, Plan

__all__ = ["plan_of"]

_KINDS = inspect.Parameter


def plan_of(call: Callable[..., Any], description: str | None, schema: Mapping[str, Any] | None) -> Plan:
    """Work out how to call something, and what to tell a model of it."""
    said, arguments = read_docstring(_docstring(call))
    description = said if description is None else description
    try:
        declared = list(inspect.signature(call).parameters.values())
    except Exception:  # some builtins do not tell, and some objects tell nonsense
        return _opaque(description, schema)
    hints = _hints(call)
    fixed = call.keywords if isinstance(call, partial) else {}  # chosen by the program: not for a model to see
    parameters = tuple(
        _parameter(each, hints)
        for each in declared
        if each.kind not in (_KINDS.VAR_POSITIONAL, _KINDS.VAR_KEYWORD) and each.name not in fixed
    )
    more = any(each.kind is _KINDS.VAR_KEYWORD for each in declared)
    if not parameters and any(each.kind is _KINDS.VAR_POSITIONAL for each in declared):
        return _opaque(description, schema)
    if schema is None:
        schema = {
            "type": "object",
            "properties": {each.name: _told(each, arguments.get(each.name)) for each in parameters},
            "required": [each.name for each in parameters if each.required],
            "additionalProperties": more,
        }
    by_position = {
        each.name for each in declared if each.kind in (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD)
    }
    verbatim = len(parameters) == 1 and parameters[0].takes_text and parameters[0].name in by_position
    return Plan(parameters, dict(schema), description, more=more, verbatim=verbatim)


def _opaque(description: str, schema: Mapping[str, Any] | None) -> Plan:
    """Plan for a callable that says nothing of itself: a model is told that it may give a text."""
    if schema is not None:
        # With several arguments declared, a text that is a JSON object holds them.
        return Plan((), dict(schema), description, opaque=True, verbatim=len(schema.get("properties", ())) < 2)
    properties = {"input": {"type": "string"}}
    told = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}
    text = Parameter("input", None, required=False, positional=True, takes_text=True)
    return Plan((text,), told, description, verbatim=True)


def _parameter(said: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    kind, required = hints.get(said.name), said.default is _KINDS.empty
    if said.default is None and kind is not None and not _takes(kind, type(None)):
        kind = Optional[kind]  # noqa: UP045 - it says so itself, and `kind | None` fails for some kinds
    return Parameter(
        said.name,
        kind,
        required,
        None if required else said.default,
        said.kind is _KINDS.POSITIONAL_ONLY,
        kind is None or _takes(kind, str),
    )


def _takes(kind: Any, wanted: type) -> bool:
    """Whether each value of a simple type is a value of this one."""
    kind = bare(kind)
    if get_origin(kind) is typing.Annotated:
        return _takes(get_args(kind)[0], wanted)
    if get_origin(kind) in (Union, types.UnionType):
        return any(_takes(each, wanted) for each in get_args(kind))
    return kind is wanted or kind is Any or kind is object or (kind is None and wanted is type(None))


def _told(parameter: Parameter, description: str | None) -> dict[str, Any]:
    """Return what a model is told of a parameter."""
    default = parameter.default
    if parameter.kind is not None:
        told = json_schema(parameter.kind)
    elif isinstance(default, bool | int | float | list | dict):
        told = json_schema(type(default))
    else:
        told = {"type": "string"}
    if description:
        told.setdefault("description", description)
    if not parameter.required:
        value = plain(default)
        if _is_json(default) or value in told.get("enum", ()):
            told["default"] = value
    return told


def _is_json(value: Any) -> bool:
    """Whether a value is what JSON can write, and not much of it."""
    try:
        written = json.dumps(value, allow_nan=False)
        return len(written) <= 1_000 and type(value) in (str, bool, int, float, list, dict, type(None))
    except (TypeError, ValueError, RecursionError):
        return False


def _within(call: Any) -> Any:
    """Return the function behind partials, and behind what ``functools`` wraps around functions."""
    while isinstance(call, partial):
        call = call.func
    if not inspect.isroutine(call) and not inspect.isclass(call) and hasattr(call, "__wrapped__"):
        return _unwrapped(call)
    return call


def _unwrapped(call: Any) -> Any:
    try:
        return inspect.unwrap(call)
    except ValueError:  # it has any attribute one asks for, and goes on so
        return call


def _hints(call: Any) -> dict[str, Any]:
    call = _within(call)
    if inspect.isclass(call):
        call = call.__init__
    elif not inspect.isroutine(call):
        call = type(call).__call__
    return hints_of(_unwrapped(getattr(call, "__func__", call)))


def _docstring(call: Any) -> str | None:
    call = _within(call)
    if inspect.isroutine(call) or inspect.isclass(call):
        return inspect.getdoc(call)
    said = inspect.getdoc(type(call).__call__)  # a callable object: its method says more than its class
    return said if said and not said.startswith("Call self as a function") else inspect.getdoc(type(call))
