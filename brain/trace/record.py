"""A result as plain data that strict JSON can hold."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from brain.types import PatternResult, Step

__all__ = ["plain", "to_dict"]

_DEPTH = 50
"""Nesting beyond which a value is shown as its text."""


def to_dict(result: PatternResult) -> dict[str, Any]:
    """Return a result as a dict of plain values, its keys always in the same order."""
    return {
        "answer": result.answer,
        "ok": result.ok,
        "error": result.error,
        "state": result.state,
        "iterations": result.iterations,
        "seconds": round(result.seconds, 6),
        "usage": plain(result.usage),
        "steps": [_step(step) for step in result.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    said = {each.name: plain(getattr(step, each.name)) for each in dataclasses.fields(step)}
    said["seconds"] = round(step.seconds, 6)
    return said


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value made of what JSON knows; keys become text, and what JSON does not know becomes its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEPTH:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {each.name: plain(getattr(value, each.name), depth + 1) for each in dataclasses.fields(value)}
        if isinstance(value, dict):
            return {str(key): plain(each, depth + 1) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each, depth + 1) for each in value]
        if isinstance(value, set | frozenset):
            return sorted((plain(each, depth + 1) for each in value), key=repr)
    try:
        return str(value)
    except Exception as error:  # a value that cannot tell itself
        return f"<{type(value).__name__}: no text, {type(error).__name__}>"
