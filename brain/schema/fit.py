"""Decoded JSON values fitted into Python types, with nothing lost and nothing guessed.

``fit`` returns a value as the type, converting only where nothing is lost: ``"3"`` is an ``int``, ``"3.7"`` is
none; ``NaN`` is no number. All places that do not fit are reported together.
"""

from __future__ import annotations

import json
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Union, get_args, get_origin

from brain.schema.hints import Record, bare, choices_of, record_of
from brain.schema.problems import Misfit, Problem, shown, type_name

__all__ = ["fit"]

_DEPTH = 100
"""Values nested deeper than this fit no type but ``Any``: Python's own stack has room for some 1,000 frames."""
_MOST_PROBLEMS = 1_000
"""Problems after which no more are looked for: nobody reads so many."""

_EXACT, _STRICT, _LOSSLESS = range(3)  # how freely values are converted: not at all, as JSON needs it, losslessly

_WHOLE = re.compile(r"[+-]?\d{1,300}(?:\.0{1,20})?")
_NUMBER = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,4})?")


def fit(kind: Any, value: Any, *, path: str = "", strict: bool = False) -> Any:
    """Return a decoded JSON value as a Python type.

    Args:
        kind: the type; see ``json_schema`` for what is understood.
        value: the value, as ``json.loads`` gives it.
        path: what to call the value in problems.
        strict: whether to convert nothing but what JSON itself cannot tell apart (``3`` for a ``float``).

    Raises:
        Misfit: it does not fit; every place is listed, up to a thousand.
    """
    fitter = _Fitter(_STRICT if strict else _LOSSLESS, _MOST_PROBLEMS, {})
    try:
        fitted = fitter.fit(kind, value, path, 0)
    except _Stop:
        pass
    except RecursionError:
        fitter.problems.append(Problem(path, "a value that is less deeply nested", shown(value)))
    else:
        if not fitter.problems:
            return fitted
    raise Misfit(fitter.problems)


class _Stop(Exception):
    """So many problems are known that no more are looked for."""


class _Fitter:
    """One fit, or one attempt at a part of it: how freely it converts, and the problems it has met.

    Attempts share what they found out of unions: the same part of a value is never tried twice, or
    the time for unions within unions would double with each level.
    """

    def __init__(self, freedom: int, most: int, known: dict[tuple[int, int, int], tuple[Any, ...]]) -> None:
        self.freedom = freedom
        self.most = most
        self.known = known
        self.problems: list[Problem] = []

    def problem(self, path: str, expected: str, value: Any, came: str = "") -> None:
        self.problems.append(Problem(path, expected, came or shown(value)))
        if len(self.problems) >= self.most:
            raise _Stop

    def fit(self, kind: Any, value: Any, path: str, depth: int) -> Any:
        if isinstance(kind, type) and kind in _SCALARS:
            return _SCALARS[kind](self, value, path)
        kind = bare(kind)
        if kind is Any or kind is object:
            return value
        if depth > _DEPTH:
            return self.problem(path, f"at most {_DEPTH} levels of nesting", value)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is typing.Annotated:
            return self.marked(arguments, value, path, depth)
        if kind is None or (isinstance(kind, type) and kind in _SCALARS):
            return _SCALARS[kind](self, value, path)
        choices = choices_of(kind)
        if choices is not None:
            return self.choice(kind, choices, value, path)
        if origin in (Union, types.UnionType):
            return self.union(kind, arguments, value, path, depth)
        base = origin or kind
        if not isinstance(base, type):
            return value
        record = record_of(base)
        if record is not None:
            return self.record(base, record, value, path, depth)
        if issubclass(base, (str, bytes)):
            return self.letters(base, value, path)
        if issubclass(base, Mapping):
            return self.mapping(arguments, value, path, depth)
        if issubclass(base, typing.cast(type, Iterable)):
            return self.items(kind, base, arguments, value, path, depth)
        return self.other(base, value, path)

    def marked(self, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        before = len(self.problems)
        fitted = self.fit(arguments[0], value, path, depth)
        for mark in arguments[1:]:
            if len(self.problems) == before and hasattr(mark, "check") and (wrong := mark.check(fitted)):
                self.problem(path, wrong, value)
        return fitted

    def none(self, value: Any, path: str) -> None:
        if value is not None:
            self.problem(path, "null", value)

    def text(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value
        if self.freedom == _LOSSLESS and type(value) in (int, float) and math.isfinite(value):
            return str(value)
        return self.problem(path, "text", value)

    def truth(self, value: Any, path: str) -> Any:
        if isinstance(value, bool):
            return value
        if self.freedom == _LOSSLESS and isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        return self.problem(path, "true or false", value)

    def whole(self, value: Any, path: str) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if self.freedom != _EXACT and type(value) is float and value.is_integer() and abs(value) <= 2**53:
            return int(value)  # beyond 2**53, floats skip whole numbers
        if self.freedom == _LOSSLESS and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            return int(value.strip().partition(".")[0])
        return self.problem(path, "a whole number", value)

    def number(self, value: Any, path: str) -> Any:
        said = value
        if self.freedom == _LOSSLESS and isinstance(said, str) and _NUMBER.fullmatch(said.strip()):
            said = float(said.strip())
        elif self.freedom != _EXACT and type(said) is int and -(2**1023) < said < 2**1023 and float(said) == said:
            return float(said)
        if type(said) is float and math.isfinite(said):
            return said
        return self.problem(path, "a number", value)

    def letters(self, base: Any, value: Any, path: str) -> Any:
        """Fit a text of a class of its own, or bytes, which are written in base64."""
        if isinstance(value, base):
            return value
        if issubclass(base, str):
            return base(self.text(value, path))
        from base64 import b64decode

        if self.freedom != _EXACT and isinstance(value, str):
            try:
                return base(b64decode(value, validate=True))
            except ValueError:
                pass  # said below
        return self.problem(path, "base64 text (bytes)", value)

    def choice(self, kind: Any, choices: list[tuple[Any, Any]], value: Any, path: str) -> Any:
        for said, meant in choices:
            if value is meant or (type(said) is type(value) and said == value):
                return meant
        if self.freedom != _EXACT and type(value) in (int, float, str):
            for said, meant in choices:
                if type(said) in (int, float) and type(value) in (int, float) and said == value:
                    return meant
                if isinstance(value, str) and getattr(meant, "name", None) == value.strip():
                    return meant
        if self.freedom == _LOSSLESS and isinstance(value, str):
            for said, meant in choices:
                if value.strip() in (said if isinstance(said, str) else json.dumps(said), str(said)):
                    return meant
        return self.problem(path, type_name(kind), value)

    def union(self, kind: Any, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        """Fit the first type that takes the value as it is; else the first that takes it converted."""
        for freedom in range(self.freedom + 1):
            place = (id(kind), id(value), freedom)
            _, _, found = self.known.get(place, (kind, value, None))
            if found is None:
                found = self.attempted(arguments, value, freedom, path, depth)
                if isinstance(value, Mapping | list):
                    self.known[place] = (kind, value, found)  # kept alive, so that the identities stay theirs
            if found:
                return found[0]
        if self.most == 1:  # an attempt itself: nobody reads why it failed
            raise _Stop
        records = [each for each in arguments if isinstance(value, Mapping) and record_of(bare(each)) is not None]
        if len(records) == 1:  # the problems inside say more than the name of the union
            return self.fit(records[0], value, path, depth + 1)
        return self.problem(path, type_name(kind), value)

    def attempted(self, kinds: Iterable[Any], value: Any, freedom: int, path: str, depth: int) -> tuple[Any, ...]:
        """Return the value as the first of the types that takes it, in a tuple; an empty one if none does."""
        for each in kinds:
            try:
                return (_Fitter(freedom, 1, self.known).fit(each, value, path, depth + 1),)
            except _Stop:
                continue
        return ()

    def decoded(self, value: Any, opening: str) -> Any:
        """Decode a container that came as JSON text."""
        if self.freedom == _LOSSLESS and isinstance(value, str) and value.lstrip()[:1] == opening:
            try:
                return json.loads(value, strict=False)
            except (ValueError, RecursionError):
                return value
        return value

    def record(self, base: Any, record: Record, value: Any, path: str, depth: int) -> Any:
        typed = not typing.is_typeddict(base)
        if typed and isinstance(value, base):
            return value
        value = self.decoded(value, "{")
        if not isinstance(value, Mapping):
            return self.problem(path, type_name(base), value)
        before = len(self.problems)
        for name in value:
            if name not in record.kinds:
                known = f"one of the fields {', '.join(record.kinds)}" if record.kinds else "no fields"
                self.problem(_under(path, name), known, None, "an unknown field")
        for name in record.kinds:
            if name in record.required and name not in value:
                self.problem(_under(path, name), type_name(record.kinds[name]), None, "nothing")
        fields = {
            name: self.fit(each, value[name], _under(path, name), depth + 1)
            for name, each in record.kinds.items()
            if name in value
        }
        if len(self.problems) > before:
            return None
        try:
            return base(**fields) if typed else fields
        except Exception as error:  # its own __post_init__ refuses
            return self.problem(path, f"a {base.__name__} ({type(error).__name__}: {error})", value)

    def mapping(self, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        value = self.decoded(value, "{")
        if not isinstance(value, Mapping):
            return self.problem(path, "an object", value)
        if len(arguments) != 2:
            return dict(value)
        keys = _Fitter(_LOSSLESS, self.most, self.known)  # JSON has no keys but texts
        keys.problems = self.problems
        fitted = {}
        for key, each in value.items():
            here, before = _under(path, key), len(self.problems)
            fitted_key = keys.fit(arguments[0], key, f"{here} (the key)", depth + 1)
            fitted_value = self.fit(arguments[1], each, here, depth + 1)
            if len(self.problems) > before:
                continue
            try:
                twice = fitted_key in fitted
            except TypeError:  # a key that is a container
                return self.problem(path, "keys that are no containers", value)
            if twice:
                self.problem(here, "different keys", None, f"the key {shown(key)} again, written differently")
            fitted[fitted_key] = fitted_value
        return fitted

    def items(self, kind: Any, base: Any, arguments: tuple[Any, ...], value: Any, path: str, depth: int) -> Any:
        value = self.decoded(value, "[")
        if not isinstance(value, list | tuple | set | frozenset):
            return self.problem(path, type_name(kind), value)
        listed, kinds = list(value), list(arguments)
        if not issubclass(base, tuple) or not arguments or arguments[-1] is Ellipsis:
            kinds = [arguments[0] if arguments else Any] * len(listed)
        if len(kinds) != len(listed):
            return self.problem(path, type_name(kind), value)
        before = len(self.problems)
        fitted = [
            self.fit(each, item, f"{path}[{index}]", depth + 1)
            for index, (each, item) in enumerate(zip(kinds, listed, strict=True))
        ]
        abstract = bool(getattr(base, "__abstractmethods__", ()))
        make: Any = base if not abstract else set if issubclass(base, Set) else list
        if make is list or len(self.problems) > before:
            return fitted
        try:
            return make(fitted)
        except Exception:  # a set of lists, or a class that is made otherwise
            return self.problem(path, f"{type_name(kind)} that {make.__name__} can be made of", value)

    def other(self, base: Any, value: Any, path: str) -> Any:
        if isinstance(value, base):
            return value
        if self.freedom == _EXACT:
            return self.problem(path, type_name(base), value)
        module, name = base.__module__.partition(".")[0], base.__name__
        try:
            if isinstance(value, str) and module == "datetime" and hasattr(base, "fromisoformat"):
                return base.fromisoformat(value.strip())
            if isinstance(value, str) and (module, name) in (("uuid", "UUID"), ("pathlib", "Path")):
                return base(value)
            if (module, name) == ("decimal", "Decimal") and type(value) in (str, int, float):
                made = base(str(value).strip())
                if made.is_finite():
                    return made
        except (ValueError, ArithmeticError):
            pass  # the text is none: said below
        return self.problem(path, type_name(base), value)


_SCALARS: dict[Any, Callable[[_Fitter, Any, str], Any]] = {
    str: _Fitter.text,
    bool: _Fitter.truth,
    int: _Fitter.whole,
    float: _Fitter.number,
    None: _Fitter.none,
    type(None): _Fitter.none,
}


def _under(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)
