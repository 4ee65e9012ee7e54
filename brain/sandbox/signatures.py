"""Tools as a program sees them: the real signature, under a name that a program can write.

The rule for names, which prompts rely on: a character that no identifier has becomes ``_``; a digit in front gets
``tool_`` before it; a keyword, a builtin, ``final_answer`` or a name that is taken gets ``_`` after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ToolFace", "aliases", "faces"]

_RESERVED = frozenset({"final_answer", "tools", "ToolError", "ToolBudgetExceeded"})


@dataclass(frozen=True, slots=True)
class ToolFace:
    """What a program is given for a tool."""

    name: str
    """The tool's own name."""
    alias: str
    """The name it has in the program."""
    header: str = "(*args, **kwargs)"
    """Its parameters as Python text, in which ``_defaults[n]`` stands for the n-th default."""
    defaults: tuple[Any, ...] = ()
    """The defaults."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that go by another name in the program: the name there, and the real one."""
    doc: str = ""
    """What the tool says of itself."""


def aliases(names: Iterable[str]) -> dict[str, str]:
    """Return for each tool the name it has in a program; names that can stay as they are have the first choice."""
    given = list(names)
    taken: set[str] = set()
    found: dict[str, str] = {}
    for name in sorted(given, key=lambda each: _plain(each) != each):
        alias = _plain(name)
        while alias in taken:
            alias += "_"
        taken.add(alias)
        found[name] = alias
    return {name: found[name] for name in given}


def _plain(name: str) -> str:
    import builtins
    import keyword

    alias = "".join(each if each.isidentifier() or each.isdecimal() else "_" for each in name)
    if not alias.isidentifier():
        alias = "tool_" + alias
    if not alias.isidentifier():  # digits that Python does not take in names
        alias = "tool_" + "".join(each if each.isascii() else "_" for each in alias)
    if keyword.iskeyword(alias) or hasattr(builtins, alias) or alias in _RESERVED or alias.startswith("__"):
        alias += "_"
    return alias


def faces(tools: Mapping[str, Callable[..., Any]]) -> list[ToolFace]:
    """Return what a program is given for each tool: by its Python signature, or by its JSON schema."""
    names = aliases(tools)
    return [_face(name, names[name], tool) for name, tool in tools.items()]


def _face(name: str, alias: str, tool: Any) -> ToolFace:
    import inspect

    doc = str(getattr(tool, "description", None) or inspect.getdoc(tool) or "")[:2000]
    schema = getattr(tool, "parameters", None)
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        return _from_schema(name, alias, schema, doc)
    try:
        parameters = list(inspect.signature(tool).parameters.values())
    except (TypeError, ValueError):  # a builtin that tells nothing of itself
        return ToolFace(name, alias, doc=doc)
    parts: list[str] = []
    defaults: list[Any] = []
    stars = False
    for before, each in zip([None, *parameters], [*parameters, None], strict=True):
        if (
            before is not None
            and before.kind is before.POSITIONAL_ONLY
            and (each is None or each.kind is not each.POSITIONAL_ONLY)
        ):
            parts.append("/")
        if each is None:
            continue
        if each.kind is each.KEYWORD_ONLY and not stars:
            parts.append("*")
        stars = stars or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        text = "*" * ((each.kind is each.VAR_POSITIONAL) + 2 * (each.kind is each.VAR_KEYWORD)) + each.name
        if each.default is not each.empty:
            text += f"=_defaults[{len(defaults)}]"
            defaults.append(each.default)
        parts.append(text)
    return ToolFace(name, alias, f"({', '.join(parts)})", tuple(defaults), {}, doc)


def _from_schema(name: str, alias: str, schema: Mapping[str, Any], doc: str) -> ToolFace:
    """Make keyword parameters of a schema's properties, the required ones first."""
    import keyword

    properties = schema["properties"]
    required = [each for each in properties if each in set(schema.get("required") or ())]
    optional = [each for each in properties if each not in required]
    parts: list[str] = []
    defaults: list[Any] = []
    renamed: dict[str, str] = {}
    taken: set[str] = set()
    for each in required + optional:
        as_python = "".join(c if c.isidentifier() or c.isdecimal() else "_" for c in str(each))
        as_python = as_python if as_python.isidentifier() else "p_" + as_python
        while keyword.iskeyword(as_python) or as_python in taken or as_python.startswith("__"):
            as_python += "_"
        taken.add(as_python)
        if as_python != each:
            renamed[as_python] = str(each)
        if each in optional:
            described = properties[each]
            as_python += f"=_defaults[{len(defaults)}]"
            defaults.append(described.get("default") if isinstance(described, Mapping) else None)
        parts.append(as_python)
    if schema.get("additionalProperties") is True:
        parts.append("**others")
    return ToolFace(name, alias, f"({', '.join(parts)})", tuple(defaults), renamed, doc)
