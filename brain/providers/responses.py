"""OpenAI's Responses dialect, for the models that speak no other; llama.cpp and Ollama speak it, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message
from brain.providers.http import Assembler, HTTPProvider
from brain.providers.wire import (
    as_schema,
    check_end,
    declared,
    finish_reason,
    function_of,
    malformed,
    named_choice,
    text_of,
    tool_calls_out,
    usage_of,
)
from brain.types import Reply, ToolCall, ToolSpec, Usage

__all__ = ["ResponsesProvider"]

_ROLES = ("system", "developer", "user", "assistant", "tool")


class ResponsesProvider(HTTPProvider):
    """Asks a model over OpenAI's Responses API, without leaving the conversation on the server.

    ``OPENAI_API_KEY`` is read for ``api.openai.com``; the arguments are those of ``HTTPProvider``.
    """

    path = "responses"
    home = "api.openai.com"
    variable = "OPENAI_API_KEY"
    knows_stop = False

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "input": [item for index, message in enumerate(messages) for item in _items(index, message)],
            "max_output_tokens": self.max_tokens,
            "store": False,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if tools:
            body["tools"] = [_tool(*declared(each)) for each in tools]
            name = None if tool_choice in ("none", "auto", "required") else named_choice(tool_choice)
            body["tool_choice"] = tool_choice if name is None else {"type": "function", "name": name}
        if schema is not None:
            body["text"] = {"format": {"type": "json_schema", "strict": False, **as_schema(schema)}}
        return body

    def _reply(self, data: Any) -> Reply:
        reply = read_reply(data, where=self.endpoint.shown)
        if reply.finish_reason == "stop" and reply.usage and reply.usage.output_tokens >= self.max_tokens:
            return replace(reply, finish_reason="length")  # llama.cpp calls a reply complete that the cap cut off
        return reply

    def _assembler(self) -> Assembler:
        return _Items()


def _items(index: int, message: Message) -> list[dict[str, Any]]:
    """Return the input items for a message in the shape of Chat Completions."""
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        raise ProviderError(f"message {index} has the role {role!r}, which this API does not know", kind="config")
    if role == "tool":
        return [
            {"type": "function_call_output", "call_id": message.get("tool_call_id") or "", "output": text_of(content)}
        ]
    calls = list(tool_calls_out(message.get("tool_calls") or ())) if role == "assistant" else []
    items: list[dict[str, Any]] = []
    if role == "assistant":
        text = text_of(content)
        if text or not calls:
            part = {"type": "output_text", "text": text, "annotations": []}
            items.append({"type": "message", "role": role, "content": [part]})
    else:
        items.append({"type": "message", "role": role, "content": _parts(content)})
    items += [
        {"type": "function_call", "call_id": each.id, "name": each.name, "arguments": each.arguments} for each in calls
    ]
    return items


def _parts(content: Any) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for part in content if isinstance(content, list | tuple) else [text_of(content)]:
        image = part.get("image_url") if isinstance(part, Mapping) else None
        if image:
            parts.append(
                {"type": "input_image", "image_url": image.get("url") if isinstance(image, Mapping) else image}
            )
        else:
            parts.append({"type": "input_text", "text": text_of([part])})
    return parts


def _tool(function: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    tool = {key: function[key] for key in ("name", "description") if function.get(key) is not None}
    # Left out, `strict` would mean true here, and most schemas do not meet its demands.
    return {"type": "function", **tool, "parameters": parameters, "strict": bool(function.get("strict"))}


def read_reply(data: Any, *, where: str = "") -> Reply:
    """Read the body of a Responses answer.

    Raises:
        ProviderError: it holds no reply, a refusal, or what a content filter left.
    """
    output = data.get("output") if isinstance(data, Mapping) else None
    if not isinstance(output, list):
        raise malformed("it has no output", where)
    status = data.get("status")
    if status in ("failed", "cancelled", "queued", "in_progress"):
        raise ProviderError(f"{where}: the response is {status}", kind="api", retryable=status == "failed")
    texts, refusals, thoughts = list[Any](), list[Any](), list[Any]()
    calls: list[ToolCall] = []
    for item in output:
        kind = item.get("type") if isinstance(item, Mapping) else None
        if kind == "message":
            content = item.get("content")
            for part in content if isinstance(content, list) else [content]:
                if isinstance(part, Mapping) and part.get("type") == "refusal":
                    refusals.append(part.get("refusal"))
                else:
                    texts.append(part)
        elif kind == "function_call":
            call = function_of({**item, "id": item.get("call_id") or item.get("id")})
            calls += [call] if call is not None else []
        elif kind == "reasoning":
            for parts in (item.get("summary"), item.get("content")):
                found = (
                    [each.get("text") for each in parts or () if isinstance(each, Mapping)]
                    if isinstance(parts, list)
                    else []
                )
                thoughts += [each for each in found if isinstance(each, str)]
    text = text_of(texts)
    details = data.get("incomplete_details")
    cut = details.get("reason") if isinstance(details, Mapping) else None
    if status == "incomplete":
        reason = finish_reason(cut) or "length"
    else:
        reason = "tool_calls" if calls else "stop"
    check_end(reason, text, "".join(each for each in refusals if isinstance(each, str)), where)
    model = data.get("model")
    return Reply(
        text,
        tuple(calls),
        read_usage(data.get("usage")),
        reason,
        "\n".join(thoughts),
        model if isinstance(model, str) else "",
    )


def read_usage(usage: Any) -> Usage | None:
    """Read the ``usage`` of a Responses answer; ``None`` if it tells nothing."""
    if not isinstance(usage, Mapping):
        return None
    given, written = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    given, written = (each if isinstance(each, Mapping) else {} for each in (given, written))
    return usage_of(
        [usage.get("input_tokens")],
        usage.get("output_tokens"),
        usage.get("total_tokens"),
        cache_read=given.get("cached_tokens"),
        cache_write=given.get("cache_write_tokens"),
        reasoning=written.get("reasoning_tokens"),
    )


class _Items(Assembler):
    """Puts a streamed Responses reply together; its last event holds the whole of it."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._items: list[Any] = []

    def add(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        if kind == "response.output_text.delta":
            return event["delta"] if isinstance(event.get("delta"), str) else ""
        if kind == "response.output_item.done":
            self._items.append(event.get("item"))
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self.complete = self.done = True
            if isinstance(event.get("response"), Mapping):
                self._response = dict(event["response"])
        return ""

    def body(self) -> Any:
        return {**self._response, "output": self._response.get("output") or self._items}
