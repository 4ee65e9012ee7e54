"""The text protocol of ReAct: what a reply with ``Thought``, ``Action`` and ``Final Answer`` says.

Rules:

- A label counts at the start of a line only, in any case, with or without markdown around it, with an
  ASCII or a full-width colon, with or without a step number. Inside a code fence or a JSON value it is text.
- What follows the first ``Observation`` label is invented and cut off.
- The first action counts. A final answer that comes before any action wins over it.
- ``<think>`` blocks are reasoning, not protocol.

The reply is read once, from the front; the work is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from brain.patterns.react_action import FENCE, WRAPPING, json_end, read_action, read_input

__all__ = ["Parsed", "parse"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a reply says."""

    outcome: Literal["action", "final", "plain", "invalid"]
    """``plain``: no label that acts or answers; ``invalid``: labels that cannot be used."""
    thought: str = ""
    action: str = ""
    """The tool to call: a known name, or what the model wrote where no known one fits."""
    action_input: str = ""
    final: str = ""
    """The answer, of ``final`` and ``plain``."""
    problem: str = ""
    """What is wrong, as a sentence for the model, of ``invalid``."""
    kept: str = ""
    """The reply without what follows an invented observation."""


def parse(text: str, tools: Collection[str] = ()) -> Parsed:
    """Read a reply.

    Args:
        text: the reply as the model wrote it.
        tools: the names of the tools there are.
    """
    plain_form = _PLAIN_FORM.fullmatch(text)
    if plain_form is not None and plain_form["action"] in tools:
        thought, action, action_input = plain_form.groups("")
        return Parsed("action", thought.strip(), action, action_input.strip(), kept=text.strip())
    reply = text.replace("\r\n", "\n").strip().lstrip("\ufeff")
    body = _unfenced(_without_thinking(reply))
    sections = list(_sections(body, tools))
    end = next((each.start for each in sections if each.label == "observation"), None)
    kept = text.strip() if end is None else _kept(reply, body, end)
    sections = [each for each in sections if end is None or each.start < end]

    thoughts: list[str] = []
    for position, section in enumerate(sections):
        if section.label == "thought":
            thoughts.append(section.value)
            continue
        thought = "\n".join(thoughts) if section.label != "observation" else ""
        if section.label == "final answer":
            if section.value:
                return Parsed("final", thought, final=section.value, kept=kept)
            return Parsed("invalid", thought, problem="`Final Answer:` is empty.", kept=kept)
        if section.label == "action":
            following = sections[position + 1] if position + 1 < len(sections) else None
            given = following.value if following is not None and following.label == "action input" else None
            said = read_action(section.value, given, tools)
            if said is not None:
                outcome, name, value = said
                if outcome == "final":
                    return Parsed("final", thought, final=value, kept=kept)
                if outcome == "action":
                    return Parsed("action", thought, name, value, kept=kept)
                return Parsed("invalid", thought, problem=value, kept=kept)
            # The model says that it needs no tool: what counts is whether it answers.
            if not any(each.label == "final answer" for each in sections[position:]):
                return Parsed("invalid", thought, problem="`Action:` names no tool.", kept=kept)
    plain = (body if end is None else body[:end]).strip()
    if not plain:
        return Parsed("invalid", problem="The reply holds no answer and no action.", kept=kept)
    if any(each.label == "action input" for each in sections):
        return Parsed("invalid", "\n".join(thoughts), problem="`Action Input:` without `Action:`.", kept=kept)
    return Parsed("plain", "\n".join(thoughts), final=plain, kept=kept)


# Most replies of models that know the protocol have this form, in which nothing is left to interpret: one line for
# each label, a known tool, and an input that no JSON value and no fence begins.
_PLAIN_FORM = re.compile(
    r"\s{0,9}(?:Thought: ([^\n<]+)\n)?Action: (?P<action>[^\n<]+)\nAction Input: ([^\s{\[`~<][^\n<]*)\s{0,9}"
)

# Labels ---------------------------------------------------------------------------------------------

_LABEL = re.compile(
    r"[ \t]{0,40}(?P<before>[>#*+\-_`~•]{0,8}[ \t]{0,4}(?:\d{1,3}[.)][ \t]{0,4})?[*_`~]{0,4})"
    r"(?P<label>thoughts?|action[ _-]?input|action|observations?|final[ _-]?answer|question)"
    r"(?:[ \t]{0,2}\#?\d{1,4})?[ \t]{0,4}(?P<inner>[*_`~]{0,4})[ \t]{0,4}[:\uff1a](?P<after>[*_`~]{0,4}(?![\w`]))?",
    re.IGNORECASE,
)
_NAMES = {
    **dict.fromkeys(("thought", "thoughts"), "thought"),
    **dict.fromkeys(("observation", "observations"), "observation"),
    **dict.fromkeys(("action input", "action_input", "action-input", "actioninput"), "action input"),
    **dict.fromkeys(("final answer", "final_answer", "final-answer", "finalanswer"), "final answer"),
    **{name: name for name in ("action", "question")},
}
"""The names of the labels, by how models spell them."""


@dataclass(slots=True)
class _Section:
    label: str
    start: int
    """Where the label's line begins."""
    value: str


def _sections(body: str, tools: Collection[str]) -> Iterator[_Section]:
    """Split a reply at its labels; a final answer runs to the end, but for what ``_answer_end`` cuts."""
    found = list(_labels(body))
    for position, (label, match, start) in enumerate(found):
        if label == "question":
            continue
        following = position + 1
        while following < len(found) and found[following][0] == "question":
            following += 1
        end = found[following][2] if following < len(found) else len(body)
        if label == "final answer":
            end = _answer_end(body, found, position + 1, tools)
        yield _Section(label, start, _value(body[match.end() : end], match, label))


def _labels(body: str) -> Iterator[tuple[str, re.Match[str], int]]:
    """Find the labels that count: those at the start of a line, outside of fences and JSON values."""
    position, fence = 0, ""
    scans = 8  # a reply with more unfinished JSON values than this is no reply worth more time
    while position < len(body):
        line_end = body.find("\n", position)
        line_end = len(body) if line_end < 0 else line_end
        mark = FENCE.match(body, position, line_end)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not body[mark.end() : line_end].strip():
                fence = ""
        elif mark is not None:
            fence = mark[1] if "`" not in body[mark.end() : line_end] else ""
        else:
            match = _LABEL.match(body, position, line_end)
            if match is not None:
                label = _NAMES[match["label"].lower()]
                yield label, match, position
                rest = body[match.end() : line_end].strip()
                if label in ("action", "action input"):
                    value_end = json_end(body, match.end()) if scans > 0 else 0
                    scans -= not value_end and rest[:1] in ("{", "[")
                    if value_end > line_end:
                        line_end = body.find("\n", value_end)
                        line_end = len(body) if line_end < 0 else line_end
                    elif FENCE.match(rest) and "```" not in rest[3:]:
                        fence = FENCE.match(rest)[1]  # type: ignore[index]
        position = line_end + 1


def _answer_end(body: str, found: list[tuple[str, re.Match[str], int]], first: int, tools: Collection[str]) -> int:
    """Say where a final answer ends: before a second one, an invented question, or an action that could be run.

    An answer may well talk of actions; but when the model goes on to use a tool there is, or to ask itself
    the next question and think about it, that is no part of the answer.
    """
    tail: int | None = None
    asked = False
    for position in range(first, len(found)):
        label, match, start = found[position]
        if label in ("final answer", "observation"):
            return start if tail is None or label == "final answer" else min(start, tail if asked else start)
        if label == "question":
            tail, asked = (start if tail is None else tail), True
        elif label == "thought":
            if asked and tail is not None:
                return tail
            tail = start if tail is None else tail
        elif label == "action":
            name = body[match.end() :].split("\n", 1)[0].strip(WRAPPING)
            if name in tools:
                return start if tail is None else tail
    return len(body)


def _value(raw: str, match: re.Match[str], label: str) -> str:
    value = raw.strip()
    opened = match["before"].strip(" \t>#+-~•0123456789.)")
    if opened and not match["inner"] and not match["after"]:  # **Final Answer: 42**
        first, newline, rest = value.partition("\n")
        if first.rstrip().endswith(opened[::-1]):
            value = first.rstrip()[: -len(opened)].rstrip() + newline + rest
    if label == "action input":
        return read_input(value)
    return value


# What surrounds the protocol ------------------------------------------------------------------------

_THINK = re.compile(r"^[ \t]*<think(?:ing)?>", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_CLOSED = re.compile(
    r"^[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*$|</think(?:ing)?>(?=\s*(?:thought|action|final answer)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER = re.compile(r"^[ \t>#*_`-]{0,12}final[ _-]?answer", re.IGNORECASE | re.MULTILINE)


def _without_thinking(reply: str) -> str:
    """Take out reasoning blocks: those that open a line, and what comes before a lone closing tag."""
    if "</think" not in reply.lower() and "<think" not in reply.lower():
        return reply
    opened, closed = _THINK.search(reply), _CLOSED.search(reply)
    if closed is not None and (opened is None or closed.start() < opened.start()):
        reply = reply[closed.end() :]
        opened = _THINK.search(reply)
    parts, position = [], 0
    answer = _ANSWER.search(reply)
    while opened is not None and (answer is None or opened.start() < answer.start()):
        parts.append(reply[position : opened.start()])
        end = _THOUGHT.search(reply, opened.end())
        position = len(reply) if end is None else end.end()
        opened = _THINK.search(reply, position)
        if answer is not None and answer.start() < position:
            answer = _ANSWER.search(reply, position)
    return ("".join(parts) + reply[position:]).strip() if parts else reply.strip()


def _unfenced(body: str) -> str:
    """Take off a fence around the whole reply."""
    fence = FENCE.match(body)
    if fence is None:
        return body
    first, _, rest = body.partition("\n")
    if first[fence.end() :].strip("`~ ").count(" ") or _LABEL.match(rest) is None:
        return body
    close = re.search(rf"^[ \t]*{re.escape(fence[1])}[ \t]*$", rest, re.MULTILINE)
    if close is None:
        return rest
    return rest[: close.start()].rstrip() if not rest[close.end() :].strip() else body


def _kept(reply: str, body: str, end: int) -> str:
    """Return the reply up to the invented observation; where the body was cut out of it, the body up to there."""
    start = reply.find(body)
    return (reply[: start + end] if start >= 0 else body[:end]).strip()
