"""Decoded JSON values fitted into Python types, with nothing lost and nothing guessed.

``fit`` returns a value as the type, converting only where nothing is lost: ``"3"`` is an ``int``, ``"3.7"`` is
none; ``NaN`` is no number. All places that do not fit are reported together.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from brain.schema.types import bare, hints_of, is_class_var, required_fields

__all__ = ["Misfit", "Problem", "fit", "type_name"]

_DEPTH = 20
"""Values nested deeper than this are not looked into: no arguments are."""
_WHOLE = re.compile(r"[+-]?\d{1,300}(?:\.0{1,20})?")
_NUMBER = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,4})?")
_FROM_TEXT = {("decimal", "Decimal"), ("uuid", "UUID"), ("pathlib", "Path"), ("fractions", "Fraction")}


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """Where a value does not fit, and how."""

    path: str
    """The place: ``box.w``, ``names[2]``; empty for the whole value."""
    expected: str
    came: str

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}expected {self.expected}, got {self.came}"


class Misfit(ValueError):
    """A value does not fit a type; ``problems`` lists every place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Misfit, (self.problems,))


def fit(kind: Any, value: Any, *, path: str = "", strict: bool = False) -> Any:
    """Return a decoded JSON value as a Python type.

    Args:
        kind: the type; see ``json_schema`` for what is understood.
        value: the value, as ``json.loads`` gives it.
        path: what to call the value in problems.
        strict: whether to convert nothing but what JSON itself cannot tell apart (``3`` for a ``float``).

    Raises:
        Misfit: it does not fit; every place is listed.
    """
    fitter = _Fitter(strict)
    fitted = fitter.fit(kind, value, path, 0)
    if fitter.problems:
        raise Misfit(fitter.problems)
    return fitted


class _Fitter:
    """One fit: the problems it has met, and whether values may be converted."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.problems: list[Problem] = []

    def fit(self, kind: Any, value: Any, path: str, depth: int) -> Any:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is typing.Annotated:
            before = len(self.problems)
            fitted = self.fit(arguments[0], value, path, depth)
            for mark in arguments[1:]:
                if len(self.problems) == before and hasattr(mark, "check") and (wrong := mark.check(fitted)):
                    self.problem(path, wrong, value)
            return fitted
        if kind in _SCALARS:
            return _SCALARS[kind](self, value, path)
        if origin is Literal:
            return self.choice(kind, {each: each for each in arguments}, value, path)
        if origin in (Union, types.UnionType):
            return self.union(kind, arguments, value, path, depth)
        base = origin or kind
        if depth > _DEPTH or not isinstance(base, type) or base is object:
            return value
        if issubclass(base, enum.Enum):
            if isinstance(value, base):
                return value
            values = {**{each.name: each for each in base}, **{each.value: each for each in base}}
            return self.choice(kind, values, value, path)
        if dataclasses.is_dataclass(base) or typing.is_typeddict(base):
            return self.record(base, value, path, depth)
        if issubclass(base, (str, bytes)):
            return value if isinstance(value, base) else self.problem(path, type_name(kind), value)
        if issubclass(base, Mapping):
            return self.mapping(arguments, value, path, depth)
        if issubclass(base, (Sequence, set, frozenset, typing.cast(type, Iterable))):
            return self.items(kind, base, arguments, value, path, depth)
        return self.other(base, value, path)

    def problem(self, path: str, expected: str, value: Any) -> None:
        self.problems.append(Problem(path, expected, shown(value)))

    def none(self, value: Any, path: str) -> None:
        if value is not None:
            self.problem(path, "null", value)

    def text(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value
        if not self.strict and type(value) in (int, float) and math.isfinite(value):
            return str(value)
        return self.problem(path, "text", value)

    def truth(self, value: Any, path: str) -> Any:
        if isinstance(value, bool):
            return value
        if not self.strict and isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        return self.problem(path, "true or false", value)

    def whole(self, value: Any, path: str) -> Any:
        if type(value) is int:
            return value
        if type(value) is float and value.is_integer() and abs(value) <= 2**53:  # beyond, floats skip numbers
            return int(value)
        if not self.strict and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            return int(value.strip().partition(".")[0])
        return self.problem(path, "a whole number", value)

    def number(self, value: Any, path: str) -> Any:
        if type(value) is str and not self.strict and _NUMBER.fullmatch(value.strip()):
            value = float(value.strip())
        if type(value) is int and abs(value) <= 2**53:
            return float(value)
        if type(value) is float and math.isfinite(value):
            return value
        return self.problem(path, "a number", value)

    def choice(self, kind: Any, values: Mapping[Any, Any], value: Any, path: str) -> Any:
        for said, meant in values.items():
            if type(said) is type(value) and said == value:
                return meant
        alike = [meant for said, meant in values.items() if isinstance(value, str) and str(said) == value.strip()]
        if alike and not self.strict:
            return alike[0]
        return self.problem(path, type_name(kind), value)

    def union(self, kind: Any, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        for strict in (True, False) if not self.strict else (True,):
            for each in arguments:
                attempt = _Fitter(strict)
                fitted = attempt.fit(each, value, path, depth + 1)
                if not attempt.problems:
                    return fitted
        nested = [each for each in arguments if isinstance(value, dict) and dataclasses.is_dataclass(each)]
        if len(nested) == 1:  # the problems inside say more than the name of the union
            return self.fit(nested[0], value, path, depth + 1)
        return self.problem(path, type_name(kind), value)

    def decoded(self, value: Any, opening: str) -> Any:
        """Decode a container that came as JSON text."""
        if isinstance(value, str) and not self.strict and value.lstrip()[:1] == opening:
            try:
                return json.loads(value, strict=False)
            except (ValueError, RecursionError):
                return value
        return value

    def record(self, kind: Any, value: Any, path: str, depth: int) -> Any:
        data = dataclasses.is_dataclass(kind)
        if data and isinstance(value, kind):
            return value
        value = self.decoded(value, "{")
        if not isinstance(value, Mapping):
            return self.problem(path, f"an object with {', '.join(hints_of(kind)) or 'no fields'}", value)
        names = {each.name for each in dataclasses.fields(kind) if each.init} if data else set(hints_of(kind))
        hints = {name: bare(each) for name, each in hints_of(kind).items() if name in names and not is_class_var(each)}
        before = len(self.problems)
        fields = {}
        for name, each in hints.items():
            if name in value:
                fields[name] = self.fit(each, value[name], f"{path}.{name}" if path else name, depth + 1)
            elif name in required_fields(kind):
                self.problems.append(Problem(f"{path}.{name}" if path else name, type_name(each), "nothing"))
        for name in value:
            if name not in hints:
                here = f"{path}.{name}" if path else str(name)
                self.problems.append(Problem(here, f"one of {', '.join(hints) or 'no fields'}", "an unknown field"))
        if len(self.problems) > before:
            return None
        try:
            return kind(**fields) if data else fields
        except (TypeError, ValueError) as error:  # its own __post_init__ refuses
            return self.problem(path, f"a {kind.__name__}: {error}", value)

    def mapping(self, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        value = self.decoded(value, "{")
        if not isinstance(value, Mapping):
            return self.problem(path, "an object", value)
        if len(arguments) != 2:
            return dict(value)
        keys = _Fitter(False)  # JSON has text keys only
        fitted = {
            keys.fit(arguments[0], key, f"{path} key {key!r}", depth + 1): self.fit(
                arguments[1], each, f"{path}.{key}" if path else str(key), depth + 1
            )
            for key, each in value.items()
        }
        self.problems += keys.problems
        return fitted

    def items(self, kind: Any, base: Any, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        value = self.decoded(value, "[")
        if not isinstance(value, list | tuple | set | frozenset):
            return self.problem(path, type_name(kind), value)
        listed = list(value)
        if issubclass(base, tuple) and arguments and arguments[-1] is not Ellipsis:
            if len(listed) != len(arguments):
                return self.problem(path, f"{len(arguments)} values", value)
            kinds: Sequence[Any] = arguments
        else:
            kinds = [arguments[0] if arguments else Any] * len(listed)
        fitted = [
            self.fit(each, item, f"{path}[{index}]", depth + 1)
            for index, (each, item) in enumerate(zip(kinds, listed, strict=True))
        ]
        if issubclass(base, (tuple, set, frozenset)):
            try:
                return base(fitted)
            except TypeError:
                return self.problem(path, f"{type_name(kind)} without containers in it", value)
        return fitted

    def other(self, base: Any, value: Any, path: str) -> Any:
        if isinstance(value, base):
            return value
        if isinstance(value, str):
            try:
                if base.__module__ == "datetime" and hasattr(base, "fromisoformat"):
                    return base.fromisoformat(value.strip())
                if (base.__module__.split(".")[0], base.__name__) in _FROM_TEXT:
                    return base(value.strip())
            except (ValueError, ArithmeticError):
                pass  # the text is none: said below
        return self.problem(path, type_name(base), value)


_SCALARS: dict[Any, Callable[[_Fitter, Any, str], Any]] = {
    Any: lambda _, value, __: value,
    str: _Fitter.text,
    bool: _Fitter.truth,
    int: _Fitter.whole,
    float: _Fitter.number,
    None: _Fitter.none,
    type(None): _Fitter.none,
}


def type_name(kind: Any) -> str:
    """Say a type in words: ``whole number``, ``list of text``, ``'a' or 'b'``."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return type_name(arguments[0])
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin in (Union, types.UnionType):
        return " or ".join(type_name(each) for each in arguments)
    names = {str: "text (str)", int: "a whole number (int)", float: "a number (float)", bool: "true or false (bool)"}
    if kind in names:
        return names[kind]
    if kind in (None, type(None)):
        return "null"
    base = origin or kind
    if isinstance(base, type):
        if issubclass(base, enum.Enum):
            return " or ".join(repr(each.value) for each in base)
        if issubclass(base, (list, tuple, set, frozenset, Sequence)):
            inner = f" of {type_name(arguments[0])}" if arguments else ""
            return f"a list{inner}"
        if issubclass(base, Mapping):
            return "an object"
        return base.__name__
    return "anything" if kind is Any else str(kind)


def shown(value: Any) -> str:
    """Quote a value for a problem, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 80 else f"{text[:79]}…"
