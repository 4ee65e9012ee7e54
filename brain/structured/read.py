"""Reads one JSON value, as models write it, from a place in a text.

JSON is read as JSON. Beyond it, what can mean only one thing is read too: comments, trailing commas,
single or typographic quotes, bare keys, ``True``, ``False`` and ``None``, line breaks inside of strings,
a backslash before a character that needs none. What would take a guess is refused: a value that is
cut off, a missing comma or quote, ``NaN`` and ``Infinity``, one key with two values.

The reader holds its own stack, so that depth costs no recursion, and looks at each character once.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["MAX_DEPTH", "Unreadable", "canonical", "read_string", "read_value"]

MAX_DEPTH = 100
"""Containers in containers that are still read. ``json``, ``copy`` and ``==`` recurse, and stop at about 1000."""

_LONGEST_NUMBER = 1000  # more digits than any quantity has; converting them takes time that grows with their square


class Unreadable(Exception):
    """No value can be read here.

    Args:
        reason: what is wrong, as part of a sentence.
        position: where reading stopped.
        depth: how many containers were open there.
        cut: whether the text ended before the value did.
        serious: whether this was meant to be JSON, as opposed to a bracket in prose.
        has_object: whether an object is, or is inside, what could not be read.
    """

    def __init__(self, reason: str, position: int, depth: int, *, cut: bool, serious: bool, has_object: bool) -> None:
        super().__init__(reason)
        self.reason, self.position, self.depth = reason, position, depth
        self.cut, self.serious, self.has_object = cut, serious, has_object

    @property
    def deep(self) -> bool:
        """Whether it was given up because of its depth."""
        return self.depth >= MAX_DEPTH


_BLANK = re.compile(r"[\s\ufeff\u200b]*+")
_STRING = re.compile(
    r"""  "  [^"\\]*+ (?: \\. [^"\\]*+ )*+ "
       |  '  [^'\\]*+ (?: \\. [^'\\]*+ )*+ '
       | [“”„] [^“”\\]*+ (?: \\. [^“”\\]*+ )*+ [“”]
       | [‘‚] [^’\\]*+ (?: \\. [^’\\]*+ )*+ ’ """,
    re.VERBOSE | re.DOTALL,
)
_QUOTES = "\"'“”„‘‚"
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9]\d*+)(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"-?[^\W\d]\w*+")
_KEY = re.compile(r"[^\W\d][\w$-]*+")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NOT_FINITE = {"nan", "-nan", "infinity", "-infinity", "inf", "-inf"}
_CLOSING = {"{": "}", "[": "]"}
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SURROGATE = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


def read_value(text: str, start: int) -> tuple[Any, int]:
    """Read the object or array that begins at ``start``; return it and where it ends.

    Raises:
        Unreadable: there is none, or it cannot be read.
    """
    return _Reader(text, start).read()


def read_string(text: str, start: int) -> tuple[str, int] | None:
    """Read the string that begins at ``start``; return it and where it ends, or nothing if none does."""
    match = _STRING.match(text, start)
    return None if match is None else (_unescaped(match[0][1:-1]), match.end())


def canonical(value: Any) -> str:
    """Return the same text for values that are the same in JSON, where ``1`` is not ``true``."""
    return json.dumps(value, sort_keys=True)


class _Reader:
    __slots__ = ("_has_object", "_serious", "_stack", "_start", "_text")

    def __init__(self, text: str, start: int) -> None:
        self._text, self._start = text, start
        self._serious, self._has_object = False, text[start] == "{"
        self._stack: list[tuple[Any, str]] = []
        """The containers around the one being filled, each with the key under which that one belongs."""

    def read(self) -> tuple[Any, int]:
        text, stack = self._text, self._stack
        container: Any = {} if text[self._start] == "{" else []
        key, position, fresh = "", self._start + 1, True
        while True:
            position = self._blank(position)
            here = text[position]
            if here == ("}" if isinstance(container, dict) else "]"):
                position += 1
                if not stack:
                    return container, position
                value: Any = container
                container, key = stack.pop()
            elif not fresh:
                raise self._wrong("a comma is missing", position)
            else:
                if isinstance(container, dict):
                    key, position = self._key(position)
                    here = text[position]
                if here in _CLOSING:
                    if len(stack) + 2 > MAX_DEPTH:
                        raise self._wrong(f"it is nested more than {MAX_DEPTH} deep", position)
                    stack.append((container, key))
                    container = {} if here == "{" else []
                    position += 1
                    continue
                value, position = self._scalar(position)
            position, fresh = self._add(container, key, value, position)

    def _add(self, container: Any, key: str, value: Any, position: int) -> tuple[int, bool]:
        """Put a value into its container; step over the comma after it."""
        if isinstance(container, dict):
            self._has_object = self._serious = True
            if key in container and canonical(container[key]) != canonical(value):
                raise self._wrong(f"the key {key!r} has two values", position)
            container[key] = value
        else:
            container.append(value)
        position = self._blank(position)
        if self._text[position] in ",\uff0c":
            self._serious = self._serious or isinstance(value, str | dict | list)
            return position + 1, True
        return position, False

    def _blank(self, position: int) -> int:
        """Step over white space and comments; the text must not end here."""
        text = self._text
        while True:
            position = _BLANK.match(text, position).end()  # type: ignore[union-attr]  # it matches nothing, too
            if position >= len(text):
                raise self._cut(position)
            if text[position] == "#" or text.startswith("//", position):
                end = text.find("\n", position)
            elif text.startswith("/*", position):
                end = text.find("*/", position + 2) + 1
                end = end or -1
            else:
                return position
            if end < 0:
                raise self._cut(len(text))
            position = end + 1

    def _key(self, position: int) -> tuple[str, int]:
        text = self._text
        quoted = text[position] in _QUOTES
        if quoted:
            key, end = self._string(position)
        else:
            match = _KEY.match(text, position)
            if match is None:
                raise self._wrong(f"{self._shown(position)} is no key", position)
            key, end = match[0], match.end()
        end = self._blank(end)
        if text[end] not in ":\uff1a":
            raise self._wrong("a colon is missing", end)
        self._serious = self._serious or quoted
        self._has_object = self._has_object or quoted
        return key, self._blank(end + 1)

    def _scalar(self, position: int) -> tuple[Any, int]:
        text = self._text
        if text[position] in _QUOTES:
            return self._string(position)
        match = _NUMBER.match(text, position)
        if match is not None:
            if match.end() == len(text):
                raise self._cut(match.end())
            return self._number(match[0], position), match.end()
        match = _WORD.match(text, position)
        if match is not None:
            word = match[0]
            if match.end() == len(text):
                raise self._cut(match.end())
            if word in _WORDS:
                return _WORDS[word], match.end()
            if word.lower() in _NOT_FINITE:
                raise self._wrong(f"{word} is no number that JSON has", position)
        raise self._wrong(f"{self._shown(position)} is no value", position)

    def _string(self, position: int) -> tuple[str, int]:
        found = read_string(self._text, position)
        if found is None:
            raise self._cut(len(self._text))
        return found

    def _number(self, digits: str, position: int) -> int | float:
        if len(digits) > _LONGEST_NUMBER:
            raise self._wrong(f"a number has {len(digits)} characters", position)
        if not any(mark in digits for mark in ".eE"):
            return int(digits)
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            raise self._wrong(f"{digits} is too large for a number", position)
        return number

    def _shown(self, position: int) -> str:
        word = re.compile(r"[\w.+-]{1,40}|.", re.DOTALL).match(self._text, position)
        return repr(word[0] if word else "")

    def _cut(self, position: int) -> Unreadable:
        return self._unreadable("the text ends before it does", position, cut=True)

    def _wrong(self, reason: str, position: int) -> Unreadable:
        return self._unreadable(reason, position, cut=False)

    def _unreadable(self, reason: str, position: int, *, cut: bool) -> Unreadable:
        depth = len(self._stack) + 1
        return Unreadable(reason, position, depth, cut=cut, serious=cut or self._serious, has_object=self._has_object)


def _unescaped(raw: str) -> str:
    r"""Return what a string means; an escape that JSON does not have stands for itself, as in ``\(x\)``."""
    if "\\" in raw:
        raw = _ESCAPE.sub(_escape, raw)
    # Halves of a character cannot be written to any file; where two make a whole, they are one.
    return raw if raw.isascii() else _SURROGATE.sub(_whole, raw)


def _escape(match: re.Match[str]) -> str:
    code, character = match[1] or match[2] or match[3], match[4]
    if code:
        return chr(int(code, 16))
    if character in "\"\\/'":
        return str(character)
    return _ESCAPES.get(character, match[0])


def _whole(match: re.Match[str]) -> str:
    if match[1] is None:
        return "\ufffd"
    return chr(0x10000 + (ord(match[1]) - 0xD800) * 0x400 + ord(match[2]) - 0xDC00)
