"""Conversations made shorter: whole exchanges are left out, and what was cut says so.

An exchange is a message of the model with all that came of it: the results of its tool calls, or the
observation after its ``Action``. It is kept or left out as a whole, so that no result stands without its
call and nobody speaks twice in a row. System messages, the task (the first message of the user) and the
user's latest question are always kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from brain.errors import whole_number
from brain.messages import Message, user
from brain.normalise import flat

__all__ = ["compact"]

_OBSERVATION = re.compile(r"\s*observation\b", re.IGNORECASE)


def compact(
    messages: Iterable[Message], *, keep_last: int | None = None, max_chars: int | None = None
) -> list[Message]:
    """Return a conversation within limits; the given messages stay as they are.

    Args:
        messages: the conversation, in the shape of Chat Completions.
        keep_last: how many of the newest messages are kept; an exchange that begins before them and reaches
            into them is kept whole.
        max_chars: how many characters the contents and tool calls may have together. The oldest exchanges are
            left out first; if the newest alone is too long, its longest messages are cut. System messages, the
            task and the user's latest question are not, so that these alone may be more than this.

    Raises:
        ConfigurationError: a limit is below its least.
    """
    given = list(messages)
    if keep_last is not None:
        whole_number("compact", "keep_last", keep_last, 0)
    if max_chars is not None:
        whole_number("compact", "max_chars", max_chars)
    head, exchanges = _divided(given)
    left_out = 0
    if keep_last is not None:
        while left_out < len(exchanges) and sum(map(len, exchanges[left_out + 1 :])) >= keep_last:
            left_out += 1
    if max_chars is None or _size(given) <= max_chars:
        return given if not left_out else _joined(head, exchanges, left_out)
    kept = _joined(head, exchanges, left_out)
    while _size(kept) > max_chars and left_out < len(exchanges) - 1:
        left_out += 1
        kept = _joined(head, exchanges, left_out)
    newest = len(exchanges[-1]) if left_out < len(exchanges) else 0
    return _cut(kept, newest, max_chars)


def _divided(messages: list[Message]) -> tuple[list[Message], list[list[Message]]]:
    """Return the system messages and the task, and the exchanges after it."""
    head: list[Message] = []
    exchanges: list[list[Message]] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            head.append(message)
        elif role == "assistant":
            exchanges.append([message])
        else:
            (exchanges[-1] if exchanges else head).append(message)
    return head, exchanges


def _joined(head: list[Message], exchanges: list[list[Message]], left_out: int) -> list[Message]:
    """Return the conversation without its first exchanges; a mark stands for them, and the latest question."""
    if not left_out:
        return [*head, *(message for exchange in exchanges for message in exchange)]
    gone = [message for exchange in exchanges[:left_out] for message in exchange]
    kept = [message for exchange in exchanges[left_out:] for message in exchange]
    told = f"[{len(gone)} earlier messages are left out here]"
    if not any(map(_is_question, kept)):
        question = next((flat(each.get("content")) for each in reversed(gone) if _is_question(each)), "")
        told += f"\n\n{question}" if question else ""
    if head and head[-1].get("role") == "user":
        task = head[-1]
        content = task.get("content")
        if isinstance(content, list):
            content = [*content, {"type": "text", "text": told}]
        else:
            content = f"{flat(content)}\n\n{told}"
        return [*head[:-1], {**task, "content": content}, *kept]
    return [*head, user(told), *kept]


def _is_question(message: Message) -> bool:
    return message.get("role") == "user" and not _OBSERVATION.match(flat(message.get("content")))


def _size(messages: Iterable[Message]) -> int:
    return sum(len(flat(each.get("content"))) + sum(len(text) for _, text in _arguments(each)) for each in messages)


def _arguments(message: Message) -> list[tuple[dict[str, Any], str]]:
    """Return the tool calls of a message, each with its arguments as text."""
    found = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        arguments = function.get("arguments") or ""
        found.append((call, arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)))
    return found


def _cut(messages: list[Message], newest: int, max_chars: int) -> list[Message]:
    """Cut the longest texts of the newest messages until all is short enough."""
    first = len(messages) - newest
    question = next((i for i in range(len(messages) - 1, -1, -1) if _is_question(messages[i])), -1)
    places = [place for place in range(first, len(messages)) if place != question]
    for place in sorted(places, key=lambda place: -_size([messages[place]])):
        excess = _size(messages) - max_chars
        if excess <= 0:
            break
        messages[place] = _shorter(messages[place], excess)
    return messages


def _shorter(message: Message, excess: int) -> Message:
    """Return a message that is shorter by ``excess`` characters, if it has as many, with a mark."""
    text = flat(message.get("content"))
    shorter = dict(message)
    if text:
        shorter["content"] = _marked(text, excess)
        excess -= len(text) - len(shorter["content"])
    if excess > 0 and message.get("tool_calls"):
        shorter["tool_calls"] = [
            {
                **call,
                "function": {**call.get("function", {}), "arguments": json.dumps({"cut": f"{len(given)} characters"})},
            }
            for call, given in _arguments(message)
        ]
    return shorter


def _marked(text: str, excess: int) -> str:
    mark = f" [cut: the first {len(text)} of {len(text)} characters]"  # as long as it will be at most
    keep = max(len(text) - excess - len(mark), 0)
    marked = f"{text[:keep]} [cut: the first {keep} of {len(text)} characters]"
    return marked if len(marked) < len(text) else text
