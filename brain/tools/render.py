"""What a tool returned, as a reader would want it."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

__all__ = ["DEFAULT_LIMIT", "plain", "render", "shortened"]

DEFAULT_LIMIT = 100_000
"""Characters of a result that a model is shown: some 25,000 tokens, more than most contexts can spare for one."""
_DEPTH = 50
"""Nesting beyond which a value is shown as its text; ``json`` itself gives up near 1,000."""
_BYTES = 40
"""Bytes that are shown of binary data: enough to recognise a format by."""


def render(value: Any, limit: int | None = None) -> str:
    """Return a value as text: containers, dataclasses and dates as JSON, all else as ``str`` has it.

    Args:
        value: anything a tool can return; no value makes this fail.
        limit: how many characters are kept; what was cut is told at the end.
    """
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool | int | float):
        text = str(value)
    else:
        said = plain(value)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return shortened(text, DEFAULT_LIMIT if limit is None else limit)


def shortened(text: str, limit: int) -> str:
    """Return a text, or its beginning and a mark that tells how much is shown of how much."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [cut: the first {limit} of {len(text)} characters]"


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value made of what strict JSON knows; keys become text, and other objects their text."""
    if value is None or isinstance(value, bool | int | str):
        return value if type(value) in (bool, int, str, type(None)) else _simple(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        held = bytes(value[:_BYTES])
        return f"<{len(value)} bytes: {held.hex(' ')}{' …' if len(value) > _BYTES else ''}>"
    if depth < _DEPTH:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {each.name: plain(getattr(value, each.name, None), depth + 1) for each in dataclasses.fields(value)}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return plain(value._asdict(), depth + 1)
        if isinstance(value, dict):
            return {_text(key): plain(each, depth + 1) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each, depth + 1) for each in value]
        if isinstance(value, set | frozenset):
            return sorted((plain(each, depth + 1) for each in value), key=_text)
    if hasattr(value, "isoformat"):  # dates and times
        try:
            return str(value.isoformat())
        except Exception:  # something else that has such a method
            return _text(value)
    return _simple(value)


def _simple(value: Any) -> Any:
    """Return an enum member or a subclass of a simple type as what it stands for, all else as its text."""
    inner = getattr(value, "value", None)
    if type(value).__class__.__name__ in ("EnumType", "EnumMeta") and isinstance(inner, str | int | bool):
        return inner
    for kind in (str, int):
        if isinstance(value, kind):
            return kind(value)
    return _text(value)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # a value that cannot tell itself
        return f"<{type(value).__name__}: no text, {type(error).__name__}>"
