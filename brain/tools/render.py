"""What a tool returned, as a reader would want it."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections import deque
from collections.abc import Iterable, KeysView, Mapping, Sequence, Set, ValuesView
from typing import Any

__all__ = ["DEFAULT_LIMIT", "plain", "render", "shortened"]

DEFAULT_LIMIT = 100_000
"""Characters of a result that a model is shown: some 25,000 tokens, more than most contexts can spare for one."""
_DEPTH = 50
"""Nesting beyond which a value is only named; ``json`` itself gives up near 1,000."""
_MOST_VALUES = 100_000
"""Values written out of one result: as JSON, these are more characters than are shown."""
_LINE = 100
"""Characters of a text that count as one value: many long texts are as much as many values."""
_BYTES = 40
"""Bytes that are shown of binary data: enough to recognise a format by."""
_SMALL = 2**63
_BITS = 13_000
"""Longer whole numbers are written in base 16: beyond 4,300 digits Python refuses base 10, as it takes too long."""


def render(value: Any, limit: int | None = None) -> str:
    """Return a value as text: containers, dataclasses and dates as JSON, all else as ``str`` has it.

    Args:
        value: anything a tool can return; no value makes this fail.
        limit: how many characters are kept; what was cut is told at the end.
    """
    more = False
    if type(value) is str:
        text = value
    elif value is None or isinstance(value, bool | float):
        text = _text(value)
    else:
        whole = _Plain()
        said = whole.of(value, ())
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        more = whole.left <= 0
    return shortened(text, DEFAULT_LIMIT if limit is None else limit, more=more)


def shortened(text: str, limit: int, *, more: bool = False) -> str:
    """Return a text, or its beginning and a mark that tells how much is shown of how much.

    Args:
        text: the text.
        limit: how many characters are kept.
        more: whether the text itself is only the beginning of what there was.
    """
    if not text.isascii():
        text = _encodable(text)
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [cut: the first {limit} of {'more than ' if more else ''}{len(text)} characters]"


def _encodable(text: str) -> str:
    """Return a text that can be sent and printed: half characters, as in odd file names, are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def plain(value: Any) -> Any:
    """Return a value made of what strict JSON knows; keys become text, and other objects their text.

    What is nested too deeply, or within itself, becomes text too; of what is too large, the rest is counted.
    """
    return _Plain().of(value, ())


class _Plain:
    """One value being made plain: how many values may still be written."""

    def __init__(self) -> None:
        self.left = _MOST_VALUES

    def of(self, value: Any, inside: tuple[int, ...]) -> Any:
        """Return a plain value; ``inside`` are the identities of the containers it is in."""
        kind = type(value)
        self.left -= 1 + len(value) // _LINE if kind is str else 1
        if kind is str or value is None or kind is bool or (kind is int and -_SMALL < value < _SMALL):
            return value  # most values are: the rest of this would find the same, and take longer
        try:
            return self.any(value, inside)
        except Exception:  # an object whose own methods fail
            return _text(value)

    def any(self, value: Any, inside: tuple[int, ...]) -> Any:
        if isinstance(value, str | int | float | enum.Enum | bytes | bytearray | memoryview):
            return self.simple(value)
        if isinstance(value, type):
            return _text(value)
        if id(value) in inside:
            return f"<the {type(value).__name__} that this is in>"
        if len(inside) >= _DEPTH:  # its text might be without end
            return f"<{type(value).__name__}, nested too deeply>"
        inside = (*inside, id(value))
        if dataclasses.is_dataclass(value):
            names = (each.name for each in dataclasses.fields(value))
            return self.pairs([(name, getattr(value, name, None)) for name in names], inside)
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self.pairs(value._asdict().items(), inside)
        if isinstance(value, Mapping):
            return self.pairs(value.items(), inside)
        if isinstance(value, Set) and not isinstance(value, KeysView):
            return self.items(_in_order(value), inside)
        if isinstance(value, Sequence | deque | KeysView | ValuesView):
            return self.items(value, inside)
        if hasattr(type(value), "model_dump"):  # what pydantic's models have
            return self.of(value.model_dump(), inside)
        if hasattr(type(value), "isoformat"):  # dates and times
            return str(value.isoformat())
        return _text(value)

    def pairs(self, pairs: Iterable[tuple[Any, Any]], inside: tuple[int, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for done, (key, each) in enumerate(pairs):
            if self.left <= 0:
                made["…"] = f"[cut: the first {done} entries]"
                break
            name = _text(key)
            made[name if name not in made else f"{type(key).__name__} {name}"] = self.of(each, inside)
        return made

    def items(self, values: Iterable[Any], inside: tuple[int, ...]) -> list[Any]:
        made: list[Any] = []
        for each in values:
            if self.left <= 0:
                made.append(f"[cut: the first {len(made)} values]")
                break
            made.append(self.of(each, inside))
        return made

    def simple(self, value: Any) -> Any:
        if isinstance(value, enum.Enum) and isinstance(value.value, str | int | float | None):
            return self.of(value.value, ())
        if isinstance(value, enum.Enum):
            return value.name
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int(value) if value.bit_length() <= _BITS else f"{int(value):#x}"
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(float(value))
        if isinstance(value, bytes | bytearray | memoryview):
            return _bytes(bytes(value))
        return _text(value)


def _in_order(values: Set[Any]) -> Iterable[Any]:
    """Return a set in an order that is the same each time."""
    try:
        if all(isinstance(each, str | int | float) for each in values):
            return sorted(values)
    except TypeError:  # numbers and texts
        pass
    return sorted(values, key=lambda each: (type(each).__name__, _text(each)))


def _bytes(value: bytes) -> str:
    """Return bytes as the text they are, or as their number and beginning."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if all(character.isprintable() or character.isspace() for character in text):
        return text
    return f"<{len(value)} bytes: {value[:_BYTES].hex(' ')}{' …' if len(value) > _BYTES else ''}>"


def _text(value: Any) -> str:
    try:
        text = str(value)
    except Exception as error:  # a value that cannot tell itself
        return f"<{type(value).__name__}: no text, {type(error).__name__}>"
    return text if type(text) is str else str.__str__(text)
