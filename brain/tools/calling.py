"""Calling a tool: from what a model wrote to an observation.

Two voices. In the text protocol of ReAct a tool is given text, and the wording of failures is that of the
published page. In native calls it is given a mapping of arguments, and failures explain more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from brain.schema import Misfit, fit, type_name
from brain.tools.execution import execute
from brain.tools.tool import Parameter, Tool
from brain.types import Observation

__all__ = ["call_raw", "call_with", "call_with_text"]


def call_with_text(tool: Tool, text: str) -> Observation:
    """Call a tool as the text protocol does: with what stands after ``Action Input``."""
    plan = tool.plan
    parameters = plan.parameters
    if plan.opaque:
        return execute(tool, lambda: tool.call(text), _text_failure)
    if not parameters:
        return execute(tool, tool.call, _text_failure)
    if len(parameters) == 1:
        only = parameters[0]
        if only.kind is None or only.kind is str or only.kind is Any:
            return execute(tool, _bound(tool, {only.name: text}), _text_failure)
        return _checked(tool, {only.name: _decoded(text)}, _text_failure)
    value = _decoded(text)
    if isinstance(value, Mapping):
        return _checked(tool, value, _text_failure)
    required = [each for each in parameters if each.required]
    if len(required) == 1:
        given = text if required[0].kind in (None, str, Any) else value
        return _checked(tool, {required[0].name: given}, _text_failure)
    return _misfit(tool, f"expected a JSON object of its arguments, got {text[:80]!r}")


def call_with(tool: Tool, arguments: Any) -> Observation:
    """Call a tool with a mapping of arguments, as a native call does."""
    if tool.plan.opaque:
        given = arguments
        if isinstance(arguments, Mapping) and set(arguments) == {"input"}:
            given = arguments["input"]
        return execute(tool, lambda: tool.call(given), _native_failure)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        return call_raw(tool, json.dumps(arguments, default=str))
    return _checked(tool, arguments, _native_failure)


def call_raw(tool: Tool, raw: str) -> Observation:
    """Call a tool with the text of its arguments, where a model did not send a JSON object."""
    text = raw.strip()
    parameters = tool.plan.parameters
    if text in ("", "null"):
        return call_with(tool, {})
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        wants = parameters[0].kind if len(parameters) == 1 else int
        if (wants in (None, str, Any) or tool.plan.opaque) and text[0] not in "{[":
            return call_with(tool, {parameters[0].name if parameters else "input": raw})
        where = f"at character {error.pos}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "too deep"
        return _misfit(tool, f"they are not JSON, {where}")
    if isinstance(value, Mapping):
        return call_with(tool, value)
    if isinstance(value, str) and len(parameters) == 1:
        return call_with(tool, {parameters[0].name: value})
    return _misfit(tool, f"expected a JSON object of its arguments, got {text[:80]}")


def _checked(tool: Tool, given: Mapping[str, Any], failure: Callable[[Tool, Exception], str]) -> Observation:
    """Fit the arguments to the parameters, and call; or say which do not fit."""
    plan, problems, arguments = tool.plan, [], {}
    known = {each.name: each for each in plan.parameters}
    for name, value in given.items():
        parameter = known.get(name)
        if parameter is None:
            problems.append(f"{name}: there is no such argument")
            continue
        try:
            arguments[name] = value if parameter.kind is None else fit(parameter.kind, value, path=name)
        except Misfit as error:
            problems.append(str(error))
    missing = [each for each in plan.parameters if each.required and each.name not in given]
    problems += [f"{each.name}: expected {_named(each)}, got nothing" for each in missing]
    if problems:
        return _misfit(tool, "; ".join(problems))
    return execute(tool, _bound(tool, arguments), failure)


def _bound(tool: Tool, arguments: Mapping[str, Any]) -> Callable[[], Any]:
    positional = []
    for each in tool.plan.parameters:
        if not each.positional or each.name not in arguments:
            break
        positional.append(arguments[each.name])
    keywords = {name: value for name, value in arguments.items() if name not in _positional_names(tool)}
    return lambda: tool.call(*positional, **keywords)


def _positional_names(tool: Tool) -> set[str]:
    return {each.name for each in tool.plan.parameters if each.positional}


def _decoded(text: str) -> Any:
    """Return the JSON value of a text, without a fence around it; the text itself if it is none."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare.partition("\n")[2][:-3].strip()
    try:
        return json.loads(bare, strict=False)
    except (ValueError, RecursionError):
        return text


def _misfit(tool: Tool, problem: str) -> Observation:
    takes = ", ".join(
        f"{each.name}: {_named(each)}{'' if each.required else ', optional'}" for each in tool.plan.parameters
    )
    text = f"Bad arguments for {tool.name}: {problem}. It takes: {takes or 'nothing'}"
    return Observation(text, ok=False, kind="bad_arguments")


def _named(parameter: Parameter) -> str:
    return "text (str)" if parameter.kind is None else type_name(parameter.kind)


def _text_failure(_: Tool, error: Exception) -> str:
    return f"Tool error: {_said(error) or type(error).__name__}"


def _native_failure(tool: Tool, error: Exception) -> str:
    said = _said(error)
    return f"{tool.name} failed: {type(error).__name__}" + (f": {said}" if said else "")


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception as worse:  # an exception that cannot tell itself
        return f"{type(error).__name__} without a text ({type(worse).__name__})"
