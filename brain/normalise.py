"""Message lists that every server takes.

A transcript holds what was said, in the order in which it was said. Servers and chat templates are
stricter: one system message, and that first; user and assistant in turn; nothing empty; each tool call
answered, right after it was made. ``legal`` makes such a list of any list.

Nothing moves up in rank: a system message in the middle is sent where it stood, as the user's.
Nothing is lost without a word: what cannot be sent leaves a short text in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from brain.messages import Message
from brain.types import ToolCall

__all__ = ["flat", "legal"]

_ROLES = {"system": "system", "developer": "system", "assistant": "assistant", "model": "assistant", "ai": "assistant"}
_ROLES |= {"tool": "tool", "function": "tool"}
_EMPTY = "(empty)"
_NO_RESULT = "(no result)"
_NO_OUTPUT = "(no output)"


def legal(messages: Iterable[Message], *, keep_parts: bool = False) -> list[Message]:
    """Return messages that say the same in a form that every server takes; the given ones stay as they are.

    Args:
        messages: any messages in the shape of Chat Completions.
        keep_parts: leave the content of a user message a list of parts where it holds more than text,
            for models that see images; without it, such a part becomes a word in brackets.
    """
    taken = [_taken(message, keep_parts) for message in messages]
    first = next((index for index, each in enumerate(taken) if each["role"] != "system"), len(taken))
    system, rest = taken[:first], taken[first:]
    for message in rest:
        if message["role"] == "system":
            message["role"] = "user"
    turns = _merged(_answered(rest))
    if not turns or turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": _EMPTY})
    return _merged(system) + turns


def flat(content: Any) -> str:
    """Return the content of a message as text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(text for text in map(_part, content) if text)
    return _json(content) if isinstance(content, Mapping) else str(content)


def _part(part: Any) -> str:
    if isinstance(part, Mapping):
        for key in ("text", "content", "refusal"):
            if isinstance(part.get(key), str):
                return str(part[key])
        return f"[{part.get('type') or 'part'}]"
    return flat(part)


def _taken(message: Message, keep_parts: bool) -> Message:
    """Return a copy with a known role, content of one kind, and tool calls of one shape."""
    copy = dict(message)
    role = copy["role"] = _ROLES.get(str(message.get("role", "")).lower(), "user")
    content = copy.get("content")
    if keep_parts and role == "user" and isinstance(content, list) and any(_not_text(part) for part in content):
        copy["content"] = list(content)
    else:
        copy["content"] = flat(content)
    calls = copy.pop("tool_calls", None)
    old = copy.pop("function_call", None)  # the shape before tool calls
    if role == "assistant":
        if not calls and isinstance(old, Mapping):
            calls = [{"function": old}]
        if calls:
            copy["tool_calls"] = [_call(each) for each in calls if isinstance(each, Mapping | ToolCall)]
    return copy


def _not_text(part: Any) -> bool:
    return isinstance(part, Mapping) and not isinstance(part.get("text"), str)


def _call(call: Mapping[str, Any] | ToolCall) -> dict[str, Any]:
    """Return a tool call whose arguments are the text of a JSON object, as servers demand that read them."""
    if isinstance(call, ToolCall):
        call = {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
    function = call.get("function")
    function = function if isinstance(function, Mapping) else call
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = _json(arguments or {})
    try:
        readable = isinstance(json.loads(arguments, strict=False), dict)
    except (ValueError, RecursionError):
        readable = False
    return {
        "id": str(call.get("id") or ""),
        "type": "function",
        "function": {"name": str(function.get("name") or "unnamed"), "arguments": arguments if readable else "{}"},
    }


def _answered(messages: list[Message]) -> list[Message]:
    """Put the result of each tool call right after the call, in the order of the calls."""
    done: list[Message] = []
    waiting: dict[str, Message] = {}  # by id: the results that are still to come, in the order of the calls
    made = 0
    for message in messages:
        if message["role"] == "tool":
            call_id = str(message.get("tool_call_id") or "")
            # Old shapes have no ids: then results come in the order of the calls.
            slot = waiting.pop(call_id, None) or (waiting.pop(next(iter(waiting))) if waiting and not call_id else None)
            if slot is not None:
                slot["content"] = message["content"] if message["content"].strip() else _NO_OUTPUT
                if "name" in message:
                    slot["name"] = message["name"]
            elif message["content"].strip():
                done.append({"role": "user", "content": f"Result of a tool call: {message['content']}"})
            continue
        if message["role"] == "assistant":
            waiting = {}
        done.append(message)
        for call in message.get("tool_calls", ()):
            if not call["id"] or call["id"] in waiting:
                made += 1
                call["id"] = f"{call['id'] or 'call'}_{made}"
            waiting[call["id"]] = {"role": "tool", "tool_call_id": call["id"], "content": _NO_RESULT}
            done.append(waiting[call["id"]])
    return done


def _merged(messages: list[Message]) -> list[Message]:
    """Leave out what is empty, and join what one speaker says twice in a row."""
    merged: list[Message] = []
    for message in messages:
        calls, content = message.get("tool_calls"), message["content"]
        if not content or (isinstance(content, str) and not content.strip()):
            if not calls:
                continue
            message["content"] = None
        last = merged[-1] if merged else None
        if last is None or last["role"] != message["role"] or message["role"] == "tool":
            merged.append(message)
            continue
        last["content"] = _joined(last["content"], message["content"])
        for key, value in message.items():
            last.setdefault(key, value)
    return merged


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, list) or isinstance(second, list):
        return [*_parts(first), *_parts(second)]
    return "\n\n".join(text for text in (first, second) if text) or None


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
