"""What a docstring says of a function and of its arguments: Google, NumPy and Sphinx styles."""

from __future__ import annotations

import re

__all__ = ["read_docstring"]

_SECTIONS = "args|arguments|parameters|params|returns?|raises|yields?|examples?|notes?|attributes|keyword args"
_SECTION = re.compile(
    rf"(?P<name>{_SECTIONS}|keyword arguments|other parameters|see also|warnings?):?\s*$", re.IGNORECASE
)
_ARGUMENTS = {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"}
_GOOGLE = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\(.*?\))?\s*:\s?(?P<text>.*)$")
_NUMPY = re.compile(r"\*{0,2}(?P<names>\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*?\s)?\*{0,2}(?P<name>\w+)\s*:\s?(?P<text>.*)$"
)
_FIELD = re.compile(r":(?:type|rtype|returns?|raises?|param|parameter|arg|argument|key|keyword|yields?)\b[^:]*:")


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of the function, and of each argument by name.

    Args:
        text: the docstring, its common indentation already taken off.
    """
    summary: list[str] = []
    found: dict[str, list[str]] = {}
    section, base, current = "", 0, None
    lines = (text or "").strip().split("\n")
    for index, line in enumerate(lines):
        stripped, indent = line.strip(), len(line) - len(line.lstrip())
        heading = _SECTION.match(stripped)
        underlined = index + 1 < len(lines) and re.fullmatch(r"\s*-{3,}\s*", lines[index + 1]) is not None
        if heading is not None and (stripped.endswith(":") or underlined):
            section, base, current = heading["name"].lower(), -1, None
        elif _FIELD.match(stripped):
            said = _SPHINX.match(stripped)
            section, current = "sphinx", None
            if said is not None:
                current = found.setdefault(said["name"], [])
                current.append(said["text"])
        elif section == "":
            summary.append(line.rstrip())
        elif not stripped or re.fullmatch(r"-{3,}", stripped):
            continue
        elif section == "sphinx":
            if current is not None and indent > 0:
                current.append(stripped)
        elif indent < base:  # back out of a Google section: the description goes on
            section = ""
            summary.append(line.rstrip())
        elif section in _ARGUMENTS:
            base = indent if base < 0 else base
            said = _GOOGLE.match(stripped) if indent <= base else None
            numpy = _NUMPY.match(stripped) if indent <= base else None
            if numpy is not None and (said is None or _described_below(lines, index, indent)):
                current = []
                found |= dict.fromkeys(re.split(r"\s*,\s*", numpy["names"]), current)
            elif said is not None:
                current = found.setdefault(said["name"], [])
                current.append(said["text"])
            elif current is not None:
                current.append(stripped)
    texts = {name: " ".join(part for part in parts if part).strip() for name, parts in found.items()}
    return "\n".join(summary).strip(), {name: said for name, said in texts.items() if said}


def _described_below(lines: list[str], index: int, indent: int) -> bool:
    """Whether the text of a NumPy entry follows on deeper lines; a Google one has it on its own line."""
    after_colon = lines[index].partition(":")[2].strip()
    if index + 1 >= len(lines) or not lines[index + 1].strip():
        return False
    deeper = len(lines[index + 1]) - len(lines[index + 1].lstrip()) > indent
    # `x : int` then an indented text is NumPy; `x: some text` then more text is Google.
    return deeper and (not after_colon or bool(re.match(r"\s*\*{0,2}\w+\s+:\s", lines[index])))
