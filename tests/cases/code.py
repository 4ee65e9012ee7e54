"""Rows about programs in model text."""

from __future__ import annotations

from typing import Any

from brain.errors import StructureError
from brain.patterns.code_text import declined, extract_program


def code_extract(given: Any, expected: dict[str, Any]) -> list[str]:
    try:
        code: str | None = extract_program(given["reply"])
    except StructureError:
        code = None
    problems = []
    for key, value in expected.items():
        if key == "code":
            same = code is not None and code.rstrip("\n") == value.rstrip("\n")
            problems += [] if same else [f"code: expected {value!r}, got {code!r}"]
        elif key == "error":
            problems += [] if (code is None) is value else [f"found {code!r}"]
        elif key == "declined":
            problems += [] if declined(given["reply"]) is value else ["declined is not seen"]
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


CHECKERS = {"code_extract": code_extract}
