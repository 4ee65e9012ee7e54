"""Programs in model text: what is asked for, and what is found in a reply."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from brain.errors import StructureError

__all__ = ["declined", "extract_program", "signatures"]

_GIVE_UP = "CANNOT_FINISH_WITHIN_CALL_CAP"
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[^\n`]*)$", re.MULTILINE)
_TAGGED = re.compile(r"<code>[ \t]*\n?(?P<code>.*?)\n?[ \t]*</code>", re.DOTALL | re.IGNORECASE)
_PYTHON = re.compile(r"(?:i?python|py|tool_code)(?:[ \t]?3(?:\.\d+)?)?", re.IGNORECASE)


def declined(reply: str) -> bool:
    """Whether a reply says that the task cannot be done within the cap, on a line of its own."""
    text = _without_thinking(reply)
    return any(line.strip(" `*.\"'") == _GIVE_UP for line in text.splitlines())


def extract_program(reply: str) -> str:
    """Return the program in a model's reply.

    Blocks fenced as Python are joined in order; without any, blocks without a tag that are Python; without
    any, what stands between ``<code>`` tags. Text without either is no program: it could be anything.

    Raises:
        StructureError: there is no program.
    """
    text = _without_thinking(reply.replace("\r\n", "\n"))
    blocks = _blocks(text)
    programs = [code for tag, code in blocks if _PYTHON.fullmatch(tag)]
    if not programs:
        programs = [code for tag, code in blocks if not tag and _is_python(code)]
    if not programs:
        programs = [textwrap.dedent(match["code"]) for match in _TAGGED.finditer(text)]
    program = "\n\n".join(code.strip("\n").rstrip() for code in programs if code.strip())
    if not program:
        raise StructureError("The reply holds no program in a fenced Python block.")
    return program


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a text with their tags; one that is never closed runs to the end."""
    blocks = []
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        position += 1
        if opening is None:
            continue
        mark, inside = opening["mark"], []
        while position < len(lines) and not _closes(lines[position], mark):
            inside.append(lines[position])
            position += 1
        position += 1
        words = opening["tag"].split()
        blocks.append((words[0].strip("{}.").lower() if words else "", textwrap.dedent("\n".join(inside))))
    return blocks


def _closes(line: str, mark: str) -> bool:
    """Whether a line closes a fence; some models write a mark of their own right behind it."""
    bare = line.strip()
    return bare.startswith(mark) and not bare[len(mark) :].strip("`~ ").replace("<end_code>", "")


def _is_python(code: str) -> bool:
    try:
        return bool(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _without_thinking(reply: str) -> str:
    text = _THINKING.sub("", reply)
    return text.rpartition("</think>")[2]


def signatures(tools: Mapping[str, Any]) -> str:
    """Return the tools as a program sees them: signature, types, defaults, and what each says of itself first."""
    from brain.sandbox import aliases

    lines = []
    for name, alias in aliases(tools).items():
        tool = tools[name]
        said = tool.description.strip().split("\n")[0]
        lines.append(f"def {alias}{_signature(tool)}:" + (f"  # {said}" if said else ""))
    return "\n".join(lines)


def _signature(tool: Any) -> str:
    try:
        signature = inspect.signature(tool.call)
    except (TypeError, ValueError):
        return "(input)"
    parameters = signature.parameters.values()
    if any(each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in parameters):
        shown = [each.replace(annotation=_as_written(each.annotation)) for each in parameters]
        return str(signature.replace(parameters=shown, return_annotation=_as_written(signature.return_annotation)))
    properties = tool.schema.get("properties", {})
    required = set(tool.schema.get("required", ()))
    parts = [f"{name}: {_kind(each)}" + ("" if name in required else " = ...") for name, each in properties.items()]
    return f"({', '.join(sorted(parts, key=lambda part: part.endswith('...')))})"


class _Written:
    """An annotation that is a text, shown as it was written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _as_written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _kind(schema: Any) -> str:
    names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
    kind = schema.get("type") if isinstance(schema, dict) else None
    return names.get(kind, "Any") if isinstance(kind, str) else "Any"
