"""Calling a tool: from what a model wrote to an observation.

Two voices. In the text protocol of ReAct a tool is given text, and the wording of failures is that of the
published page. In native calls it is given a mapping of arguments, and failures explain more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from brain.schema import Misfit, fit, type_name
from brain.tools.execution import execute
from brain.tools.render import shortened
from brain.tools.tool import Parameter, Tool
from brain.types import Observation

__all__ = ["call_raw", "call_with", "call_with_text"]

_MOST_TOLD = 10
"""Problems told in one message; a model that is told of more mends none."""
_MOST_CHARS = 4_000
"""Characters of one message on bad arguments: names are the model's own, and may be of any length."""
_MOST_ECHOED = 80
"""Characters that a message repeats of what the model wrote."""

_Failure = Callable[[Tool, Exception], str]


def call_with_text(tool: Tool, text: str) -> Observation:
    """Call a tool as the text protocol does: with what stands after ``Action Input``."""
    plan = tool.plan
    if plan.verbatim:
        return execute(tool, (text,), {}, _text_failure)
    if plan.opaque:
        value = _decoded(text)
        if isinstance(value, dict):
            return execute(tool, (), value, _text_failure)
        return execute(tool, (text,), {}, _text_failure)
    if not plan.parameters and not plan.more:
        return execute(tool, (), {}, _text_failure)
    main, value = plan.main, _decoded(text)
    if len(plan.parameters) == 1 and main is not None:
        return _call_with_one(tool, main, text, value)
    if _is_object(value):
        return _checked(tool, value, _text_failure)
    if not text.strip():
        return _checked(tool, {}, _text_failure)
    if main is not None:
        return _call_with_one(tool, main, text, value)
    return _misfit(tool, [f"expected a JSON object of its arguments, got {_echo(text)}"])


def _call_with_one(tool: Tool, main: Parameter, text: str, value: Any) -> Observation:
    """Call with a text for one parameter: as it is, as the JSON in it, or as the JSON object around it."""
    if main.takes_text:
        return _checked(tool, {main.name: text}, _text_failure)
    if not text.strip() and not main.required:
        return _checked(tool, {}, _text_failure)
    ways = [{main.name: text.strip()}, {main.name: value}]
    if _is_object(value) and value.keys() <= {each.name for each in tool.plan.parameters}:
        ways.append(value)
    problems: list[str] = []
    for way in ways:
        arguments, problems = _fitted(tool, way)
        if not problems:
            return _execute(tool, arguments, _text_failure)
    return _misfit(tool, problems)


def call_with(tool: Tool, arguments: Any) -> Observation:
    """Call a tool with a mapping of arguments, as a native call does."""
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        return _call_with_other(tool, arguments, "")
    if tool.plan.opaque:
        return execute(tool, (), {str(name): value for name, value in arguments.items()}, _native_failure)
    return _checked(tool, arguments, _native_failure)


def call_raw(tool: Tool, raw: str) -> Observation:
    """Call a tool with the text of its arguments, where a model did not send a JSON object."""
    text = _unfenced(raw)
    if text in ("", "null"):
        return call_with(tool, {})
    try:
        value = _loads(text)
    except (ValueError, RecursionError) as error:
        main = tool.plan.main
        if text[0] in "{[" or main is None or not main.takes_text:
            return _misfit(tool, [f"they are not JSON, {_where(error)}"])
        return _checked(tool, {main.name: raw}, _native_failure)
    return call_with(tool, value) if _is_object(value) else _call_with_other(tool, value, text)


def _call_with_other(tool: Tool, value: Any, text: str) -> Observation:
    """Call natively with a value that is no object: what it stands for must be beyond doubt."""
    main = tool.plan.main
    if isinstance(value, str):
        inside = _decoded(value)  # an object that was written as JSON twice
        if _is_object(inside) and (main is None or not main.takes_text or main.name in inside):
            return call_with(tool, inside)
        if not value.strip() and main is None:
            return call_with(tool, {})
    container = isinstance(value, list | tuple | dict | set | frozenset)
    if main is None or (main.takes_text and container):
        echo = text[:_MOST_ECHOED] if text else f"a {type(value).__name__}"
        return _misfit(tool, [f"expected a JSON object of its arguments, got {echo}"])
    if main.takes_text and text and not isinstance(value, str):
        value = text
    return _checked(tool, {main.name: value}, _native_failure)


def _checked(tool: Tool, given: Mapping[str, Any], failure: _Failure) -> Observation:
    """Fit the arguments to the parameters, and call; or say which do not fit."""
    arguments, problems = _fitted(tool, given)
    return _misfit(tool, problems) if problems else _execute(tool, arguments, failure)


def _fitted(tool: Tool, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments as the tool takes them, and what is wrong with them."""
    plan, arguments, problems = tool.plan, {}, []
    known = {each.name: each for each in plan.parameters}
    for name, value in given.items():
        parameter = known.get(name)
        if parameter is None:
            if plan.more and isinstance(name, str):
                arguments[name] = value
            else:
                problems.append(f"{shortened(str(name), _MOST_ECHOED)}: there is no such argument")
            continue
        try:
            arguments[name] = value if parameter.kind is None else fit(parameter.kind, value, path=name)
        except Misfit as error:
            if value is None and not parameter.required:
                continue  # models say null for what they leave out: the default holds
            problems.append(str(error))
    missing = [each for each in plan.parameters if each.required and each.name not in given]
    problems += [f"{each.name}: expected {_kind(each)}, got nothing" for each in missing]
    return arguments, problems


def _execute(tool: Tool, arguments: dict[str, Any], failure: _Failure) -> Observation:
    """Call with arguments that fit; those that must be are passed by position."""
    by_position = [each for each in tool.plan.parameters if each.positional]
    while by_position and by_position[-1].name not in arguments:
        by_position.pop()
    positional = [arguments.pop(each.name, each.default) for each in by_position]
    return execute(tool, positional, arguments, failure)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _unfenced(text: str) -> str:
    """Return a text without white space and a code fence around it."""
    bare = text.strip().strip("\ufeff")
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        return bare.partition("\n")[2][:-3].strip()
    return bare


def _loads(text: str) -> Any:
    return json.loads(text, strict=False, parse_constant=_no_constant, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"they give {name[:_MOST_ECHOED]!r} twice")
        made[name] = value
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _decoded(text: str) -> Any:
    """Return the JSON value of a text, without a fence around it; the text itself if it is none."""
    try:
        return _loads(_unfenced(text))
    except (ValueError, RecursionError):
        return text


def _where(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"parsing failed at character {error.pos}: {error.msg}"
    return "they are too deeply nested" if isinstance(error, RecursionError) else str(error)[:_MOST_ECHOED]


def _echo(text: str) -> str:
    return repr(text if len(text) <= _MOST_ECHOED else f"{text[: _MOST_ECHOED - 1]}…")


def _misfit(tool: Tool, problems: list[str]) -> Observation:
    """Say what is wrong with the arguments, and what the tool takes."""
    told = problems[:_MOST_TOLD] + ([f"and {len(problems) - _MOST_TOLD} more"] if len(problems) > _MOST_TOLD else [])
    parameters = tool.plan.parameters
    required = _listed(each for each in parameters if each.required)
    optional = _listed(each for each in parameters if not each.required)
    takes = [f"required: {required}"] if required else []
    takes += [f"optional: {optional}"] if optional else []
    takes += ["any others by name"] if tool.plan.more else []
    text = f"Bad arguments for {tool.name}: {'; '.join(told)}. It takes {'; '.join(takes) or 'no arguments'}."
    return Observation(shortened(text, _MOST_CHARS), ok=False, kind="bad_arguments")


def _listed(parameters: Iterable[Parameter]) -> str:
    return ", ".join(f"{each.name}: {_kind(each)}" for each in parameters)


def _kind(parameter: Parameter) -> str:
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
