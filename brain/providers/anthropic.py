"""Anthropic's Messages dialect; llama.cpp's server speaks it, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message
from brain.providers.http import Assembler, HTTPProvider
from brain.providers.wire import (
    arguments_of,
    check_end,
    declared,
    finish_reason,
    malformed,
    named_choice,
    text_of,
    tool_calls_out,
    usage_of,
)
from brain.types import Reply, ToolCall, ToolSpec, Usage

__all__ = ["AnthropicProvider"]

_VERSION = "2026-10-21"
_CHOICES = {"none": "none", "auto": "auto", "required": "any"}
_REMEMBERED = 1000  # turns whose reasoning is kept to be sent back; far more than one conversation has


class AnthropicProvider(HTTPProvider):
    """Asks a model over Anthropic's Messages API.

    Messages marked ``cache_stable`` carry a cache mark on their last block. Reasoning that comes with
    tool calls goes back with them unchanged, as the API demands, as long as it is this provider object
    that is asked again. ``ANTHROPIC_API_KEY`` is read for ``api.anthropic.com``; the arguments are those
    of ``HTTPProvider``. The current version of the API refuses ``temperature``.
    """

    path = "v1/messages"
    home = "api.anthropic.com"
    variable = "ANTHROPIC_API_KEY"

    @cached_property
    def _thoughts(self) -> dict[str, list[Any]]:
        return {}

    def _headers(self) -> dict[str, str]:
        return {"anthropic-version": _VERSION}

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> dict[str, Any]:
        system, turns = _written(messages, self._thoughts)
        body: dict[str, Any] = {"model": self.model, "max_tokens": self.max_tokens}
        if system:
            body["system"] = system
        body["messages"] = turns
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.stop:
            body["stop_sequences"] = self.stop
        if tools:
            body["tools"] = [_tool(*declared(each)) for each in tools]
            body["tool_choice"] = _choice(tool_choice)
        elif used := _used(turns):  # the API wants the tools of a conversation declared to its end
            body["tools"] = [_tool(*declared({"name": name})) for name in used]
            body["tool_choice"] = {"type": "none"}
        if schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def _reply(self, data: Any) -> Reply:
        reply = read_reply(data, where=self.endpoint.shown)
        thoughts = [each for each in data["content"] if _kind(each) in ("thinking", "redacted_thinking")]
        if thoughts and reply.tool_calls and reply.tool_calls[0].id:
            self._thoughts[reply.tool_calls[0].id] = thoughts
            if len(self._thoughts) > _REMEMBERED:
                self._thoughts.pop(next(iter(list(self._thoughts))), None)
        return reply

    def _assembler(self) -> Assembler:
        return _Blocks()


def _written(messages: Sequence[Message], thoughts: Mapping[str, list[Any]]) -> tuple[list[Any], list[Any]]:
    """Return the system blocks and the turns for messages in the shape of Chat Completions."""
    system: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    stable: dict[str, Any] | None = None
    for index, message in enumerate(messages):
        role = message.get("role")
        if role in ("system", "developer") and not turns:
            blocks = system
            blocks += _texts(message.get("content"))
        else:
            speaker = "assistant" if role == "assistant" else "user"
            if role not in ("system", "developer", "user", "assistant", "tool"):
                raise ProviderError(
                    f"message {index} has the role {role!r}, which this API does not know", kind="config"
                )
            if not turns or turns[-1]["role"] != speaker:  # neighbours of one role are one turn here
                turns.append({"role": speaker, "content": []})
            blocks = turns[-1]["content"]
            blocks += _blocks(role, message, thoughts)
        if message.get("cache_stable") and blocks:
            stable = blocks[-1]
    if stable is not None:
        stable["cache_control"] = {"type": "ephemeral"}
    for turn in turns:
        turn["content"] = turn["content"] or [{"type": "text", "text": "(empty)"}]  # the API refuses nothing at all
    if not turns:  # and a request that is all system
        return [], [{"role": "user", "content": system or [{"type": "text", "text": "(empty)"}]}]
    last = turns[-1]["content"][-1]
    if turns[-1]["role"] == "assistant" and last.get("type") == "text":
        last["text"] = last["text"].rstrip() or "…"  # and white space at the end of a reply to be gone on with
    return system, turns


def _blocks(role: Any, message: Message, thoughts: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    content = message.get("content")
    if role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.get("tool_call_id") or "", "content": text_of(content)}
        return [{**result, "is_error": True} if message.get("is_error") else result]
    if role != "assistant":
        return _texts(content)
    calls = list(tool_calls_out(message.get("tool_calls") or ()))
    blocks = list(thoughts.get(calls[0].id, ())) if calls else []
    blocks += _texts(content)
    for call in calls:
        given = arguments_of(call.arguments)
        if not isinstance(given, dict):  # what could not be decoded goes back where it can be seen
            given = {"arguments": given}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return blocks


def _texts(content: Any) -> list[dict[str, Any]]:
    parts = content if isinstance(content, list | tuple) else [text_of(content)]
    blocks: list[dict[str, Any]] = []
    for part in parts:
        image = part.get("image_url") if isinstance(part, Mapping) else None
        if image:
            url = image.get("url") if isinstance(image, Mapping) else image
            blocks.append({"type": "image", "source": _source(str(url))})
        elif (text := text_of([part])).strip():  # the API refuses a block of white space
            blocks.append({"type": "text", "text": text})
    return blocks


def _source(url: str) -> dict[str, str]:
    head, comma, data = url.partition(",")
    if url.startswith("data:") and comma and head.endswith(";base64"):
        return {"type": "base64", "media_type": head[5:-7], "data": data}
    return {"type": "url", "url": url}


def _tool(function: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    tool = {key: function[key] for key in ("name", "description", "strict") if function.get(key) is not None}
    return {**tool, "input_schema": parameters}


def _used(turns: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [each["name"] for turn in turns for each in turn["content"] if each.get("type") == "tool_use"]
    return list(dict.fromkeys(names))


def _choice(tool_choice: Any) -> Any:
    if isinstance(tool_choice, str) and tool_choice in _CHOICES:
        return {"type": _CHOICES[tool_choice]}
    name = named_choice(tool_choice)
    return tool_choice if name is None else {"type": "tool", "name": name}


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, Mapping) else None


def read_reply(data: Any, *, where: str = "") -> Reply:
    """Read the body of a Messages answer.

    Raises:
        ProviderError: it holds no reply, or a refusal.
    """
    content = data.get("content") if isinstance(data, Mapping) else None
    if not isinstance(content, list):
        raise malformed("it has no content", where)
    text = text_of([each for each in content if _kind(each) == "text"])
    reason = finish_reason(data.get("stop_reason"))
    check_end(reason, text, None, where)
    calls = []
    for block in content:
        if _kind(block) == "tool_use":
            name, given = block.get("name"), block.get("id")
            calls.append(
                ToolCall(
                    name if isinstance(name, str) else "",
                    arguments_of(block.get("input")),
                    given if isinstance(given, str) else "",
                )
            )
    thoughts = [each.get("thinking") for each in content if _kind(each) == "thinking"]
    model = data.get("model")
    return Reply(
        text,
        tuple(calls),
        read_usage(data.get("usage")),
        reason,
        "".join(each for each in thoughts if isinstance(each, str)),
        model if isinstance(model, str) else "",
    )


def read_usage(usage: Any) -> Usage | None:
    """Read the ``usage`` of a Messages answer, whose ``input_tokens`` leave out what concerns the cache."""
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("output_tokens_details")
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return usage_of(
        [usage.get("input_tokens"), read, written],
        usage.get("output_tokens"),
        cache_read=read,
        cache_write=written,
        reasoning=details.get("thinking_tokens") if isinstance(details, Mapping) else None,
    )


class _Blocks(Assembler):
    """Puts a streamed Messages reply together."""

    def __init__(self) -> None:
        self._top: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[Any, dict[str, Any]] = {}

    def add(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        if kind == "message_start" and isinstance(event.get("message"), Mapping):
            self._top = dict(event["message"])
            self._count(self._top.get("usage"))
        elif kind == "content_block_start" and isinstance(event.get("content_block"), Mapping):
            block = dict(event["content_block"])
            self._blocks[str(event.get("index"))] = {**block, "json": []}
            return block["text"] if _kind(block) == "text" and isinstance(block.get("text"), str) else ""
        elif kind == "content_block_delta" and isinstance(event.get("delta"), Mapping):
            return self._delta(str(event.get("index")), event["delta"])
        elif kind == "message_delta":
            delta = event.get("delta")
            if isinstance(delta, Mapping) and delta.get("stop_reason"):
                self._top["stop_reason"] = delta["stop_reason"]
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.complete = self.done = True
        return ""

    def _count(self, usage: Any) -> None:
        if isinstance(usage, Mapping):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _delta(self, index: str, delta: Mapping[str, Any]) -> str:
        names = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
        block = self._blocks.setdefault(index, {"type": "text", "json": []})
        name = names.get(str(delta.get("type")))
        if name is not None and isinstance(delta.get(name), str):
            before = block.get(name)
            block[name] = (before if isinstance(before, str) else "") + delta[name]
            return str(delta[name]) if name == "text" else ""
        if isinstance(delta.get("partial_json"), str):
            block["json"].append(delta["partial_json"])
        return ""

    def body(self) -> Any:
        content = []
        for block in self._blocks.values():
            written = "".join(block.pop("json"))
            if written:
                block["input"] = written
            content.append(block)
        return {**self._top, "content": content, "usage": self._usage or None}
