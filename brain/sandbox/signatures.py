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

_DOC = 2000  # characters of what a tool says of itself


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
    names: tuple[str, ...] = ()
    """The tool's own names of the parameters that may be given by position, in order."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Parameters that go by another name in the program: the name there, and the real one."""
    by_name: bool = False
    """Whether the tool gets all arguments by name, however the program gave them."""
    doc: str = ""
    """What the tool says of itself."""


def aliases(names: Iterable[str], *, builtins_too: bool = True) -> dict[str, str]:
    """Return for each name the one it has in a program; names that can stay as they are have the first choice.

    Args:
        names: of tools, or of parameters.
        builtins_too: whether a name may not hide a builtin; a parameter may.
    """
    given = list(names)
    taken: set[str] = set()
    found: dict[str, str] = {}
    for name in sorted(given, key=lambda each: _plain(each, builtins_too) != each):
        alias = _plain(name, builtins_too)
        while alias in taken:
            alias += "_"
        taken.add(alias)
        found[name] = alias
    return {name: found[name] for name in given}


def _plain(name: str, builtins_too: bool) -> str:
    import builtins
    import keyword

    alias = "".join(each if each == "_" or ("a" + each).isidentifier() else "_" for each in name)
    if not alias.isidentifier():
        alias = "tool_" + alias
    hides = builtins_too and (hasattr(builtins, alias) or alias in _RESERVED)
    return alias + "_" if keyword.iskeyword(alias) or hides or alias.startswith("__") else alias


def faces(tools: Mapping[str, Callable[..., Any]]) -> list[ToolFace]:
    """Return what a program is given for each tool: by its Python signature, or by its JSON schema."""
    names = aliases(tools)
    return [_face(name, names[name], tool) for name, tool in tools.items()]


def _face(name: str, alias: str, tool: Any) -> ToolFace:
    import inspect

    doc = str(getattr(tool, "description", None) or inspect.getdoc(tool) or "")[:_DOC]
    try:
        parameters = list(inspect.signature(getattr(tool, "call", tool)).parameters.values())
    except (TypeError, ValueError):  # a builtin that tells nothing of itself
        parameters = []
    tells = any(each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters)
    schema = getattr(tool, "schema", None) or getattr(tool, "parameters", None)
    if not tells and isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        return _from_schema(name, alias, schema, doc)
    if not parameters:
        return ToolFace(name, alias, "()" if _takes_nothing(tool) else "(*args, **kwargs)", doc=doc)
    parts: list[str] = []
    defaults: list[Any] = []
    names: list[str] = []
    stars = False
    for each, after in zip(parameters, [*parameters[1:], None], strict=True):
        if each.kind is each.KEYWORD_ONLY and not stars:
            parts.append("*")
        stars = stars or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        text = "*" * ((each.kind is each.VAR_POSITIONAL) + 2 * (each.kind is each.VAR_KEYWORD)) + each.name
        if each.default is not each.empty:
            text += f"=_defaults[{len(defaults)}]"
            defaults.append(each.default)
        parts.append(text)
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            names.append(each.name)
        if each.kind is each.POSITIONAL_ONLY and (after is None or after.kind is not each.POSITIONAL_ONLY):
            parts.append("/")
    return ToolFace(name, alias, f"({', '.join(parts)})", tuple(defaults), tuple(names), doc=doc)


def _takes_nothing(tool: Any) -> bool:
    import inspect

    try:
        return not inspect.signature(getattr(tool, "call", tool)).parameters
    except (TypeError, ValueError):
        return False


def _from_schema(name: str, alias: str, schema: Mapping[str, Any], doc: str) -> ToolFace:
    """Make parameters of a schema's properties, the required ones first; the tool gets them all by name."""
    properties = schema["properties"]
    required = [each for each in properties if each in set(schema.get("required") or ())]
    names = required + [each for each in properties if each not in required]
    shown = aliases(names, builtins_too=False)
    parts: list[str] = []
    defaults: list[Any] = []
    for each in names:
        if each in required:
            parts.append(shown[each])
        else:
            parts.append(f"{shown[each]}=_defaults[{len(defaults)}]")
            defaults.append(properties[each].get("default") if isinstance(properties[each], Mapping) else None)
    if schema.get("additionalProperties") is True:
        parts.append("**others")
    renamed = {shown[each]: each for each in names if shown[each] != each}
    return ToolFace(name, alias, f"({', '.join(parts)})", tuple(defaults), tuple(names), renamed, True, doc)
