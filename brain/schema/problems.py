"""What to say of a value that does not fit a type."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Union, get_args, get_origin

from brain.schema.hints import bare, choices_of, record_of

__all__ = ["Misfit", "Problem", "shown", "type_name"]

_MOST_TOLD = 10
"""Problems told in one message; a model that is told of more mends none."""
_MOST_SHOWN = 80
"""Characters of a value, or of its place, in a message: a line."""
_SIMPLE = {
    str: "text (str)",
    int: "a whole number (int)",
    float: "a number (float)",
    bool: "true or false (bool)",
    type(None): "null",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """Where a value does not fit, and how."""

    path: str
    """The place: ``box.w``, ``names[2]``; empty for the whole value."""
    expected: str
    came: str

    def __str__(self) -> str:
        path = self.path if len(self.path) <= _MOST_SHOWN else f"…{self.path[1 - _MOST_SHOWN :]}"
        where = f"{path}: " if path else ""
        return f"{where}expected {self.expected}, got {self.came}"


class Misfit(ValueError):
    """A value does not fit a type; ``problems`` lists every place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        told = [str(each) for each in self.problems[:_MOST_TOLD]]
        more = len(self.problems) - len(told)
        super().__init__("; ".join([*told, f"and {more} more"] if more else told))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Misfit, (self.problems,))


def shown(value: Any) -> str:
    """Quote a value for a message, shortened; no more of it is written than is shown."""
    text = ""
    try:
        for part in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            text += part[: _MOST_SHOWN + 1]
            if len(text) > _MOST_SHOWN:
                break
    except (TypeError, ValueError, RecursionError):  # JSON does not know it
        text = type(value).__name__
    return shortened(text)


def shortened(text: str) -> str:
    """Return a text, or its beginning with an ellipsis."""
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def type_name(kind: Any) -> str:
    """Say a type in words: ``a whole number (int)``, ``a list of text (str)``, ``'a' or 'b'``."""
    return _name(kind, 0)


def _name(kind: Any, depth: int) -> str:
    kind = bare(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is None:
        return "null"
    if kind is Any or kind is object or depth > 3:  # in words, more than that says less
        return "anything"
    if origin is typing.Annotated:
        return _name(arguments[0], depth)
    if isinstance(kind, type) and kind in _SIMPLE:
        return _SIMPLE[kind]
    choices = choices_of(kind)
    if choices is not None:
        return " or ".join(shortened(repr(said)) for said, _ in choices)
    if origin in (Union, types.UnionType):
        return " or ".join(_name(each, depth + 1) for each in arguments)
    base = origin or kind
    if not isinstance(base, type):
        return str(kind)
    record = record_of(base)
    if record is not None:
        fields = [name if name in record.required else f"{name} (optional)" for name in record.kinds]
        return f"an object with {', '.join(fields)}" if fields else "an empty object"
    if issubclass(base, Mapping):
        inner = f" of {_name(arguments[1], depth + 1)}" if len(arguments) == 2 else ""
        return f"an object{inner}"
    if issubclass(base, tuple) and arguments and arguments[-1] is not Ellipsis:
        return f"a list of {len(arguments)}: {', '.join(_name(each, depth + 1) for each in arguments)}"
    if issubclass(base, str):
        return "text (str)"
    if base is bytes:
        return "base64 text (bytes)"
    if base.__module__ == "datetime":
        return f"a {base.__name__} as ISO 8601 has it"
    if issubclass(base, typing.cast(type, Iterable)):
        return f"a list of {_name(arguments[0], depth + 1)}" if arguments else "a list"
    return base.__name__
