"""Finds the JSON value that a model's reply holds.

Which value counts:

- The text is read once, from the front. A bracket in prose that begins no value is prose; inside of a
  value, strings are respected: a brace, a fence or a tag in a string is text.
- ``<think>`` blocks are reasoning, and so is all that comes before a lone ``</think>``.
- A block of program code counts only where the value is all there is in it.
- Empty containers and marks like ``[1]`` in the middle of a line count only if there is nothing else.
- Several equal values are one. Of different ones, one that stands in a fence at the end is the answer;
  otherwise nobody knows which is meant, and that is an error.
- A value that is cut off is an error, and so is one that cannot be read, unless a good one comes after it.
- Where an object is wanted, a list that holds one object and nothing else will do; where a list is
  wanted, an object that holds one list and nothing else.
- One key with two different values is an error; what a parser would keep of them is a guess.

The work is linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Literal

from brain.errors import StructureError
from brain.structured.read import Unreadable, canonical, read_string, read_value

__all__ = ["Want", "extract"]

Want = Literal["object", "array", "any"]

_CODE = re.compile(
    r"bash|c|c#|cpp|c\+\+|css|diff|go|html|java|javascript|js|jsx|kotlin|php|perl|powershell|py|python3?|r|rb|ruby|rs|"
    r"rust|scala|sh|shell|sql|swift|toml|ts|tsx|typescript|xml|ya?ml|zsh"
)
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.#-]*)", re.MULTILINE)
_MARK = re.compile(rf"[{{\[]|{_TAG.pattern}|{_FENCE.pattern}", re.IGNORECASE | re.MULTILINE)
_BRACKET = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|[{}\[\]]')
_LINE_END = re.compile(r"[ \t\r]{0,20}(?:\n|\Z)")
_MOST_STARTS = 10_000  # brackets that may begin a value: ten times what a reply of a whole context window holds
_SPARE_WORK = 10_000  # characters that may be looked at twice in any text, on top of its own length
_TOO_MANY = "The reply holds more brackets than can be looked through: write one JSON value, and nothing else."


def extract(text: str, want: Want = "any") -> Any:
    """Return the JSON value that a text holds.

    Args:
        text: the reply of a model.
        want: ``"object"``, ``"array"``, or ``"any"``, which is also content with a number, a string, a
            truth value or ``null``, if that is all the text holds.

    Raises:
        StructureError: there is no such value, it is cut off or cannot be read, or there are several.
    """
    if want not in ("object", "array", "any"):
        raise ValueError(f"want={want!r}: expected 'object', 'array' or 'any'")
    return _extract(text.lstrip("\ufeff"), want, 2)


def _extract(text: str, want: Want, layers: int) -> Any:
    """``layers``: how often a text that is itself a JSON string may be unwrapped."""
    bare = _bare(text)
    quoted = read_string(bare, 0) if bare[:1] in ('"', "'") else None
    if quoted is not None and quoted[1] == len(bare):
        if want == "any":
            return quoted[0]
        if layers:
            return _extract(quoted[0], want, layers - 1)
    scan = _Scan(text, want)
    try:
        scan.run()
        return scan.chosen()
    except StructureError:
        if layers and '\\"' in text:  # an object that was escaped as for a string, without the quotes around it
            escaped = read_string(f'"{text}"', 0)
            if escaped is not None and escaped[1] == len(text) + 2:
                return _extract(escaped[0], want, 0)
        raise


def _bare(text: str) -> str:
    """Return a text without the white space, and the one fence, around it."""
    text = text.strip()
    fence = _FENCE.match(text)
    if fence is not None and text.endswith(fence[1]) and "\n" in text:
        inside = text[text.index("\n") : -len(fence[1])].strip()
        return "" if fence[1] in inside else inside
    return text


@dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    end: int
    fenced: bool
    weak: bool
    """Whether it counts only if there is nothing else."""


class _Scan:
    """One look through a text."""

    def __init__(self, text: str, want: Want) -> None:
        self.text, self.want = text, want
        self.found: list[_Found] = []
        self.broken: tuple[int, Unreadable] | None = None
        """The last value that could not be read, and where it begins."""
        self.after_reasoning = 0
        self.reasoning_open = False
        self._fence = ""
        self._spare, self._starts = len(text) + _SPARE_WORK, _MOST_STARTS
        self._closings, self._lone = _closing_tags(text)

    def run(self) -> None:
        """Find all values at the top level of the text."""
        position = 0
        while (mark := _MARK.search(self.text, position)) is not None:
            if mark[0] in ("{", "["):
                position = self._value(mark.start())
            elif mark[2] is not None:
                position = self._fenced(mark)
            else:
                position = self._tag(mark)

    def chosen(self) -> Any:
        """Return the value that counts; see the rules of this module."""
        for kinds, unwrap in self._preferences():
            of_kind = [each for each in self.found if isinstance(each.value, kinds)]
            strong = [each for each in of_kind if not each.weak]
            candidates = strong or of_kind
            if not candidates:
                continue
            if self.broken is not None and (not strong or self.broken[0] >= candidates[-1].end):
                raise self._unreadable(*self.broken)
            value = unwrap(self._only(candidates))
            if value is not None:
                return value
        if self.broken is not None:
            raise self._unreadable(*self.broken)
        if self.want == "any" and not self.found:
            return self._scalar()
        raise StructureError(self._nothing())

    def _preferences(self) -> list[tuple[Any, Any]]:
        if self.want == "object":
            return [(dict, lambda value: value), (list, _sole_object)]
        if self.want == "array":
            return [(list, lambda value: value), (dict, _sole_list)]
        return [((dict, list), lambda value: value)]

    def _only(self, candidates: list[_Found]) -> Any:
        for group in (candidates, [each for each in candidates if each.fenced] if candidates[-1].fenced else []):
            if len({canonical(each.value) for each in group}) == 1:
                return group[0].value
        different = {canonical(each.value): None for each in candidates}
        shown = ", ".join(_short(each) for each in list(different)[:3])
        raise StructureError(
            f"The reply holds {len(different)} different JSON values ({shown}), and one {self._wanted()} is expected: "
            "write the answer once, and nothing else in JSON."
        )

    def _value(self, start: int) -> int:
        """Read the value that begins here, if one does; return where to look on."""
        self._starts -= 1
        if self._starts < 0:
            raise StructureError(_TOO_MANY)
        try:
            value, end = read_value(self.text, start)
        except Unreadable as problem:
            return self._not_read(start, problem)
        fenced = bool(self._fence)
        weak = not fenced and self._in_passing(value, start, end)
        self.found.append(_Found(value, end, fenced, weak))
        return end

    def _not_read(self, start: int, problem: Unreadable) -> int:
        matters = problem.has_object or self.want != "object"
        if problem.deep:
            raise self._unreadable(start, problem)
        if problem.serious and matters:
            lone = bisect_right(self._lone, start)
            if lone < len(self._lone):  # it was part of the reasoning
                return self._lone[lone]
            end = None if problem.cut else _balanced(self.text, problem.position, problem.depth)
            if end is None:
                raise self._unreadable(start, problem)
            self.broken = (start, problem)
            return end
        self._spare -= problem.position - start
        if self._spare < 0:
            raise StructureError(_TOO_MANY)
        return start + 1

    def _fenced(self, mark: re.Match[str]) -> int:
        """Enter or leave a fence, or pass over program code."""
        text, ticks, language = self.text, mark[2], mark[3].lower()
        if self._fence:
            if ticks.startswith(self._fence) and not language:
                self._fence = ""
            return mark.end()
        line_end = text.find("\n", mark.end())
        line_end = len(text) if line_end < 0 else line_end
        if ticks in text[mark.end() : line_end]:
            return mark.end()  # code inside of a line, not a block
        if _CODE.fullmatch(language) is None:
            self._fence = ticks
            return mark.end()
        begin = re.compile(r"\s*").match(text, line_end).end()  # type: ignore[union-attr]
        closing = re.compile(rf"^[ \t]*{re.escape(ticks)}+[ \t]*$", re.MULTILINE)
        if begin < len(text) and text[begin] in "{[":
            try:
                value, end = read_value(text, begin)
            except Unreadable:
                end = begin
            close = closing.search(text, end)
            block_end = len(text) if close is None else close.start()
            if end > begin and not text[end:block_end].strip():
                self.found.append(_Found(value, end, True, True))
        close = closing.search(text, line_end)
        return len(text) if close is None else close.end()

    def _tag(self, mark: re.Match[str]) -> int:
        """Pass over reasoning."""
        if mark[1]:  # a lone closing tag: all before it was reasoning
            self.found.clear()
            self.broken, self._fence, self.after_reasoning = None, "", mark.end()
            return mark.end()
        following = bisect_right(self._closings, mark.start())
        if following < len(self._closings):
            self._fence, self.after_reasoning = "", self._closings[following]
            return self.after_reasoning
        before = self.text[max(mark.start() - 80, 0) : mark.start()].rpartition("\n")
        if mark.start() > 0 and (before[2].strip() or (not before[1] and mark.start() > 80)):
            return mark.end()  # a tag that is talked about
        self.reasoning_open = True
        return len(self.text)

    def _in_passing(self, value: Any, start: int, end: int) -> bool:
        """Whether this is ``{}`` or ``[ ]`` with words after it, or a mark like ``[1]`` in the middle of a line."""
        ends_line = _LINE_END.match(self.text, end) is not None
        if not value:
            return not ends_line
        mark = isinstance(value, list) and len(value) == 1 and type(value[0]) is int
        return mark and not (ends_line and (start == 0 or self.text[start - 1] == "\n"))

    def _scalar(self) -> Any:
        bare = _bare(self.text[self.after_reasoning :])
        if bare and not self.reasoning_open and len(bare) <= 2000:
            try:
                return read_value(f"[{bare}\n]", 0)[0][0]
            except (Unreadable, IndexError):
                pass
        raise StructureError(self._nothing())

    def _unreadable(self, start: int, problem: Unreadable) -> StructureError:
        kind = "object" if self.text[start] == "{" else "array"
        where = "" if problem.cut else f", at {_short(self.text[problem.position : problem.position + 40])}"
        return StructureError(
            f"The JSON {kind} that begins at character {start} of the reply cannot be read: {problem.reason} "
            f"(character {problem.position}{where})."
        )

    def _nothing(self) -> str:
        if self.reasoning_open:
            return "The reply ends inside its reasoning, before any answer."
        if not self.text.strip():
            return f"The reply is empty; {self._wanted(article=True)} is expected."
        found = " but other JSON" if self.found else ""
        return f"The reply holds no {self._wanted()}{found}; it begins: {_short(self.text.strip())}"

    def _wanted(self, *, article: bool = False) -> str:
        name = {"object": "JSON object", "array": "JSON array", "any": "JSON value"}[self.want]
        return f"a {name}" if article else name


def _closing_tags(text: str) -> tuple[list[int], list[int]]:
    """Return where the closing tags of reasoning end, and where those end that no opening tag comes before."""
    closings, lone, opened = [], [], False
    for tag in _TAG.finditer(text):
        if tag[1]:
            closings.append(tag.end())
            if not opened:
                lone.append(tag.end())
        opened = not tag[1]
    return closings, lone


def _balanced(text: str, position: int, depth: int) -> int | None:
    """Return where a value ends of which ``depth`` containers are open at ``position``; nothing if it never does."""
    for bracket in _BRACKET.finditer(text, position):
        if bracket[0] in ("{", "["):
            depth += 1
        elif bracket[0] in ("}", "]"):
            depth -= 1
            if not depth:
                return bracket.end()
    return None


def _sole_object(value: list[Any]) -> Any:
    return value[0] if len(value) == 1 and isinstance(value[0], dict) else None


def _sole_list(value: dict[str, Any]) -> Any:
    only = next(iter(value.values()), None)
    return only if len(value) == 1 and isinstance(only, list) else None


def _short(text: str) -> str:
    shown = repr(text[:60])
    return shown if len(text) <= 60 else f"{shown}…"
