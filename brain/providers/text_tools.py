"""Tool calls for models that have none of their own: the same, through text.

The model is told of the tools in the system message and calls one by writing

    <tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>

which many open models were trained on. What comes of a call goes back as a message of the user's.
Tags and braces inside of JSON strings are text; a call inside of reasoning is no call; what a model
writes after a ``<tool_result>`` of its own is invented, and cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain.messages import Message
from brain.normalise import flat, legal
from brain.providers.wrap import Wrapper, ask, ask_streaming
from brain.structured.read import Unreadable, read_value
from brain.types import Reply, ToolCall, ToolSpec

__all__ = ["TextToolsProvider", "read_calls"]

_HOW = """You can call tools. To call one, write
<tool_call>{"name": "the tool's name", "arguments": {"an argument": "its value"}}</tool_call>
with the arguments as JSON that fits the tool's schema. You may make several calls in one reply, each in
tags of its own. After your calls, stop: the results are sent to you. Never write a result yourself.

The tools:
"""
_CHOICES = {"required": "\nYour next reply has to call a tool."}
_MARK = re.compile(r"<tool_call>|<tool_result\b|<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSE = re.compile(r"</tool_call>", re.IGNORECASE)
_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[\"']name[\"']\s{0,20}:\s{0,20}[\"']([^\"'\n]{1,200})[\"']")
_KEYS = ("arguments", "parameters", "args", "input")


class TextToolsProvider(Wrapper):
    """Gives native tool calls to a provider that knows none; requests without tools pass as they are.

    Args:
        provider: the provider to ask. It is never given tools, only messages of system, user and assistant.
    """

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model once; the calls it wrote are the reply's ``tool_calls``."""
        sent = as_text(messages, _offered(tools, tool_choice), tool_choice)
        if sent is messages:
            return ask(self.inner, messages, (), "none", schema)
        # A schema leaves no room to write a call.
        return _read(ask(self.inner, sent, (), "none", None if _offered(tools, tool_choice) else schema))

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """As ``generate``; where the text may hold calls, it comes in one piece."""
        if as_text(messages, _offered(tools, tool_choice), tool_choice) is messages:
            yield from ask_streaming(self.inner, messages, (), "none", schema)
            return
        reply = self.generate(messages, tools, tool_choice, schema=schema)
        if reply.text:
            yield reply.text
        yield reply


def _offered(tools: Sequence[ToolSpec], tool_choice: Any) -> Sequence[ToolSpec]:
    return () if tool_choice == "none" else tools


def _read(reply: Reply) -> Reply:
    text, calls = read_calls(reply.text)
    if not calls:
        return replace(reply, text=text) if text != reply.text else reply
    reason = "tool_calls" if reply.finish_reason in ("stop", None) else reply.finish_reason
    return replace(reply, text=text, tool_calls=(*reply.tool_calls, *calls), finish_reason=reason)


def read_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a reply into its text and the calls written in it.

    A call that cannot be read is a call all the same, with its raw text for arguments: whoever performs
    it explains to the model what is wrong.
    """
    kept, calls, position = [], [], 0
    while (mark := _MARK.search(text, position)) is not None:
        if mark[1]:  # reasoning stays in the text, and is not looked into
            close = re.compile(rf"</{mark[1]}>", re.IGNORECASE).search(text, mark.end())
            end = len(text) if close is None else close.end()
            kept.append(text[position:end])
            position = end
            continue
        kept.append(text[position : mark.start()])
        if mark[0].lower() != "<tool_call>":
            position = len(text)
            break
        call, position = _call(text, mark.end())
        calls.append(call)
    kept.append(text[position:])
    whole = "".join(kept)
    return (whole.strip() if calls else whole), tuple(calls)


def _call(text: str, start: int) -> tuple[ToolCall, int]:
    """Read the call that begins here, and return where it ends."""
    begin = _end_of_blank(text, start)
    if text.startswith("{", begin):
        try:
            value, end = read_value(text, begin)
        except Unreadable:
            pass
        else:
            close = _CLOSE.match(text, _end_of_blank(text, end))
            end = end if close is None else close.end()
            name = value.get("name")
            if isinstance(name, str):
                given: Any = next((value[key] for key in _KEYS if key in value), {})
                return ToolCall(name, given if isinstance(given, dict) else _json(given)), end
            return ToolCall("", _json(value)), end
    close = _CLOSE.search(text, start)
    body = text[start : len(text) if close is None else close.start()].strip()
    named = _NAME.search(body[:1000])
    return ToolCall(named[1] if named else "", body), len(text) if close is None else close.end()


def _end_of_blank(text: str, start: int) -> int:
    blank = _BLANK.match(text, start)
    return start if blank is None else blank.end()


def as_text(messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any) -> Sequence[Message]:
    """Return messages with tools, calls and results as text; those given, where there is nothing of the kind."""
    if not tools and not any(each.get("role") == "tool" or each.get("tool_calls") for each in messages):
        return messages
    written: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        if message.get("role") == "tool":
            # A result is somebody else's text: it cannot close its own tags.
            content = re.sub(r"<(?=/?tool_)", "< ", flat(message.get("content")), flags=re.IGNORECASE)
            name = _json(names.get(message.get("tool_call_id", ""), ""))
            written.append({"role": "user", "content": f"<tool_result name={name}>\n{content}\n</tool_result>"})
        elif message.get("tool_calls"):
            functions = [(call.get("id", ""), call.get("function") or {}) for call in message["tool_calls"]]
            names.update({identity: str(function.get("name", "")) for identity, function in functions})
            said = [flat(message.get("content")).strip(), *(_written(function) for _, function in functions)]
            written.append({"role": "assistant", "content": "\n".join(text for text in said if text)})
        else:
            written.append(message)
    return legal(_told(written, tools, tool_choice) if tools else written, keep_parts=True)


def _written(function: Mapping[str, Any]) -> str:
    arguments = function.get("arguments") or "{}"
    given = arguments if isinstance(arguments, str) else _json(arguments)
    return f'<tool_call>{{"name": {_json(function.get("name", ""))}, "arguments": {given}}}</tool_call>'


def _told(messages: list[Message], tools: Sequence[ToolSpec], tool_choice: Any) -> list[Message]:
    """Tell the model of the tools, at the end of the system message."""
    text = _HOW + "\n".join(_json(spec.get("function", spec)) for spec in tools)
    if isinstance(tool_choice, Mapping):
        wanted = (tool_choice.get("function") or tool_choice).get("name", "")
        text += f"\nYour next reply has to call the tool {wanted}."
    else:
        text += _CHOICES.get(str(tool_choice), "")
    if messages and messages[0].get("role") == "system":
        first = {**messages[0], "content": f"{flat(messages[0].get('content'))}\n\n{text}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
