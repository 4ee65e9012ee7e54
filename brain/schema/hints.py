"""What classes and functions say of their fields and parameters: annotations read, names taken off them."""

from __future__ import annotations

import dataclasses
import enum
import functools
import sys
import typing
import weakref
from collections.abc import Collection, Mapping
from typing import Any, Literal, Union, get_args, get_origin

__all__ = ["Record", "bare", "choices_of", "hints_of", "is_class_var", "record_of", "required_fields"]

_QUALIFIERS = (typing.Required, typing.NotRequired, typing.Final, getattr(typing, "ReadOnly", typing.Final))
_NAMES = 20
"""Names taken off one annotation: an alias of an alias is common, twenty are a circle."""


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """The fields of a dataclass, a ``TypedDict`` or a ``NamedTuple``."""

    kinds: Mapping[str, Any]
    """Their types by name, in order."""
    required: Collection[str]
    """The names of those that have no default."""


def record_of(kind: Any) -> Record | None:
    """Return the fields of a class that has named ones; ``None`` for any other."""
    if not isinstance(kind, type):
        return None
    if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind) or _is_named_tuple(kind):
        return _record(kind)
    return None


@functools.lru_cache(maxsize=256)
def _record(kind: Any) -> Record:
    hints = {name: each for name, each in hints_of(kind).items() if not is_class_var(each)}
    if dataclasses.is_dataclass(kind):
        missing, kinds, required = dataclasses.MISSING, {}, []
        for name, each in kind.__dataclass_fields__.items():  # with InitVar, which `fields` leaves out
            if each.init and name in hints:
                kinds[name] = bare(hints[name])
                if each.default is missing and each.default_factory is missing:
                    required.append(name)
        return Record(kinds, frozenset(required))
    kinds = {name: bare(each) for name, each in hints.items()}
    if typing.is_typeddict(kind):
        return Record(kinds, frozenset(name for name in kinds if _must_be_there(name, hints[name], kind)))
    kinds = {name: kinds.get(name, Any) for name in kind._fields}
    return Record(kinds, frozenset(set(kinds) - set(kind._field_defaults)))


def _must_be_there(name: str, hint: Any, kind: Any) -> bool:
    """Whether a ``TypedDict`` needs a key; its own record of that is wrong where annotations are texts."""
    while get_origin(hint) in (*_QUALIFIERS, typing.Annotated):
        if get_origin(hint) in (typing.Required, typing.NotRequired):
            return get_origin(hint) is typing.Required
        hint = get_args(hint)[0]
    return name in kind.__required_keys__


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_field_defaults")


def required_fields(kind: Any) -> Collection[str]:
    """Return the names that a dataclass, ``TypedDict`` or ``NamedTuple`` must have."""
    record = record_of(kind)
    return record.required if record is not None else ()


_RESOLVED: weakref.WeakKeyDictionary[type, dict[str, Any]] = weakref.WeakKeyDictionary()
"""The annotations of classes, once they could all be resolved: working them out compiles each that is a text."""


def hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a class or function; one that cannot be resolved is ``Any``."""
    known_class = isinstance(owner, type)
    if known_class and owner in _RESOLVED:
        return dict(_RESOLVED[owner])
    try:
        hints = typing.get_type_hints(owner, include_extras=True)
        if known_class:
            _RESOLVED[owner] = hints
        return dict(hints)
    except Exception:  # a name that is not there, or a text that is no type: resolve what can be
        from inspect import get_annotations
    found: dict[str, Any] = {}
    for each in reversed(getattr(owner, "__mro__", (owner,))):
        module = sys.modules.get(getattr(each, "__module__", None) or "", typing)
        known = getattr(each, "__globals__", None) or vars(module)
        try:
            said = get_annotations(each)
        except Exception:  # not something that has annotations
            said = {}
        for name, hint in said.items():
            holder = type("holder", (), {"__annotations__": {name: hint}})
            try:
                found |= typing.get_type_hints(holder, {**known}, include_extras=True)
            except Exception:
                found[name] = Any
    return found


def is_class_var(kind: Any) -> bool:
    """Whether an annotation is of a class, not of its instances."""
    return kind is typing.ClassVar or get_origin(kind) is typing.ClassVar


def bare(kind: Any) -> Any:
    """Return the type behind ``NewType``, type aliases, type variables, ``Required``, ``Final`` and their kin."""
    for _ in range(_NAMES):
        origin = get_origin(kind)
        if origin in _QUALIFIERS:
            kind = get_args(kind)[0]
        elif isinstance(kind, dataclasses.InitVar):
            kind = kind.type
        elif isinstance(kind, typing.TypeVar):
            kind = Union[kind.__constraints__] if kind.__constraints__ else kind.__bound__ or Any  # noqa: UP007
        elif hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif is_alias(kind):
            kind = kind.__value__
        elif is_alias(origin):
            kind = origin.__value__[get_args(kind)]
        else:
            return str if kind is typing.LiteralString else kind
    return Any


def is_alias(kind: Any) -> bool:
    """Whether this is a name made by the ``type`` statement of Python 3.12."""
    return type(kind).__name__ == "TypeAliasType"


def choices_of(kind: Any) -> list[tuple[Any, Any]] | None:
    """Return what may be said for a ``Literal`` or an enum, and what it means; ``None`` for any other type."""
    if get_origin(kind) is Literal:
        return [(each.value if isinstance(each, enum.Enum) else each, each) for each in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        simple = all(isinstance(each.value, str | int | float | None) for each in kind)
        return [(each.value if simple else each.name, each) for each in kind]
    return None
