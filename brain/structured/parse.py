"""From a model's reply to a dataclass, or to a sentence on what does not fit.

Spelling is forgiven, judgement is not. Forgiven: other capitals in a field's name, a field too many, one
object around the object, a lone text where a list of texts belongs, ``null`` where there is a default.
Not forgiven: a missing field that has no default, a number that is not on its scale, ``NaN``, a fraction
for a whole number, and a text for a truth value that is marked ``Exact``.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from brain.errors import StructureError
from brain.messages import Message, Transcript, assistant, user
from brain.policy import Policy, ask, note
from brain.schema import Misfit, Problem, fit, json_schema, type_name
from brain.schema.types import hints_of, required_fields
from brain.structured.find import Want, extract
from brain.structured.marks import Exact, Scale
from brain.structured.words import described
from brain.types import Reply

__all__ = ["ask_as", "parse_as"]

T = TypeVar("T")

_MOST_PROBLEMS = 8  # to tell in one message; a model that is told of more mends none


def parse_as(kind: type[T], text: str) -> T:
    """Return the value that a reply holds, as a dataclass or another type.

    Args:
        kind: the type: a dataclass, a ``TypedDict``, a container, or anything else ``json_schema`` knows.
        text: the reply of a model.

    Raises:
        StructureError: there is no such value in it; the message names each field that does not fit.
    """
    value = extract(text, _want(kind))
    problems: list[Problem] = []
    value = _eased(kind, value, "", problems)
    try:
        fitted: T = fit(kind, value)
    except Misfit as error:
        told = {each.path for each in problems}
        problems += [each for each in error.problems if each.path not in told]
    if problems:
        lines = [str(each) for each in problems[:_MOST_PROBLEMS]]
        more = len(problems) - len(lines)
        lines += [f"and {more} more"] if more else []
        raise StructureError(f"The reply does not fit {_name(kind)}: {'; '.join(lines)}.")
    return fitted


def ask_as(kind: type[T], messages: Iterable[Message], *, phase: str = "") -> Policy[T]:
    """Ask for a value; ask once more, saying what did not fit; then give up.

    The model is told in words what to reply, and providers that take a schema are given it. None of this
    enters ``messages``: the exchange is the caller's to keep or to forget.

    Args:
        kind: the type of the value, as for ``parse_as``.
        messages: the conversation; it should say what the value is about.
        phase: where in the reasoning this is.

    Raises:
        StructureError: the second reply did not fit either.
    """
    schema, form = json_schema(kind), described(json_schema(kind))
    talk = _told(Transcript(messages), form)
    reply = yield from ask(talk, schema=schema, phase=phase)
    try:
        return _value(kind, reply)
    except StructureError as error:
        problem = str(error)
    yield from note("repair", problem, phase=phase, data={"asked_for": _name(kind), "reply": reply.text[:2000]})
    if reply.text.strip():
        talk += [assistant(reply.text)]
    talk = _told(talk, f"That cannot be used. {problem}\n\n{form}")
    reply = yield from ask(talk, schema=schema, phase=phase)
    try:
        return _value(kind, reply)
    except StructureError as error:
        raise StructureError(f"No {_name(kind)} in two replies. {error}") from error


def _value(kind: type[T], reply: Reply) -> T:
    if reply.cut_off:
        raise StructureError("The reply was cut off before it ended: be brief.")
    return parse_as(kind, reply.text)


def _told(talk: Transcript, text: str) -> Transcript:
    """Add what the user says, so that the user does not speak twice in a row."""
    last = talk[-1] if len(talk) else {}
    if last.get("role") != "user":
        return talk + [user(text)]
    content = last.get("content")
    if isinstance(content, list):
        content = [*content, {"type": "text", "text": text}]
    else:
        content = f"{content}\n\n{text}" if content else text
    return Transcript(talk[:-1]) + [{**last, "content": content}]


def _want(kind: Any) -> Want:
    base = get_origin(kind) or kind
    if base is Annotated:
        return _want(get_args(kind)[0])
    if not isinstance(base, type):
        return "any"
    if dataclasses.is_dataclass(base) or typing.is_typeddict(base) or issubclass(base, Mapping):
        return "object"
    return "array" if issubclass(base, list | tuple | set | frozenset) else "any"


def _eased(kind: Any, value: Any, path: str, problems: list[Problem]) -> Any:
    """Return a value with what is forgiven put right; tell what is not, where ``fit`` would let it pass."""
    if get_origin(kind) is Annotated:
        kind, *marks = get_args(kind)
        for mark in marks:
            if isinstance(mark, Scale):
                value = mark.read(value)
            elif isinstance(mark, Exact) and kind is bool and isinstance(value, str):
                problems.append(Problem(path, "true or false, without quotes", json.dumps(value[:60])))
    if get_origin(kind) in (Union, types.UnionType):
        others = [each for each in get_args(kind) if each is not type(None)]
        return value if value is None or len(others) != 1 else _eased(others[0], value, path, problems)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _eased_fields(kind, value, path, problems) if isinstance(value, Mapping) else value
    if get_origin(kind) is list:
        inner = get_args(kind)[0]
        if inner is str and isinstance(value, str) and not value.lstrip().startswith("["):
            return [value] if value.strip() else []
        if isinstance(value, list):
            return [_eased(inner, each, f"{path}[{index}]", problems) for index, each in enumerate(value)]
    return value


def _eased_fields(kind: type, value: Mapping[str, Any], path: str, problems: list[Problem]) -> dict[str, Any]:
    hints = {each.name: hints_of(kind)[each.name] for each in dataclasses.fields(kind) if each.init}
    by_spelling = {_spelling(name): name for name in hints}
    if len(value) == 1 and not path and not by_spelling.keys() & set(map(_spelling, value)):
        inside = next(iter(value.values()))
        if isinstance(inside, Mapping):
            value = inside
    required: Collection[str] = required_fields(kind)
    fields: dict[str, Any] = {}
    for key, given in value.items():
        name = by_spelling.get(_spelling(key))
        if name is None or (given is None and name not in required and not _takes_none(hints[name])):
            continue
        here = f"{path}.{name}" if path else name
        if name in fields:
            problems.append(Problem(here, "one value", f"two, as {key!r} too"))
        fields[name] = _eased(hints[name], given, here, problems)
    return fields


def _takes_none(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind in (Any, None) or type(None) in get_args(kind)


def _spelling(key: str) -> str:
    return "".join(character for character in key.casefold() if character.isalnum())


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else type_name(kind)
