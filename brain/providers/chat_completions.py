"""Chat Completions: the one dialect that nearly every server speaks, local or hosted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message
from brain.providers.http import Assembler, HTTPProvider
from brain.providers.transport import Transport
from brain.providers.wire import (
    as_schema,
    check_end,
    finish_reason,
    function_of,
    malformed,
    only,
    positive,
    text_of,
    tool_calls_out,
    usage_of,
    whole,
)
from brain.types import Reply, ToolSpec, Usage

__all__ = ["ChatCompletionsProvider"]

# What goes out of a message, by role. Strict servers answer 400 to a key they do not know.
_KEYS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "tool_calls"),
    "tool": ("role", "tool_call_id", "content"),
    "function": ("role", "name", "content"),
}
_PART_KEYS = ("type", "text", "image_url", "input_audio", "file", "refusal")


class ChatCompletionsProvider(HTTPProvider):
    """Asks any server with an OpenAI-compatible ``/chat/completions``: llama.cpp, vLLM, Ollama, OpenAI, ...

    Args:
        base_url: where the server is: ``http://localhost:8080/v1``, ``https://api.openai.com/v1``, ...
        model: the model's name there.
        api_key: the key; for ``api.openai.com`` the environment variable ``OPENAI_API_KEY`` by default,
            for other hosts none.
        api_key_env: the environment variable to read the key from, whatever the host.
        max_tokens: the most tokens of a reply. There is always a cap: a model that finds no end would
            go on until the deadline.
        max_tokens_key: what the server calls the cap: by default ``max_completion_tokens`` for
            ``api.openai.com`` and ``max_tokens`` elsewhere.
        temperature: sent when set.
        stop: texts that end a reply; sent when set.
        timeout: seconds the server may be silent.
        deadline: seconds one call may take in all.
        headers: further HTTP headers.
        extra_body: further keys of the request body.
        cache_breakpoints: whether messages marked ``cache_stable`` are marked for OpenAI's explicit
            prompt cache; other servers refuse the mark or need none.
        transport: how requests are sent.
    """

    path = "chat/completions"
    home = "api.openai.com"
    variable = "OPENAI_API_KEY"

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        api_key_env: str | None = None,
        max_tokens: int = 4096,
        max_tokens_key: str | None = None,
        temperature: float | None = None,
        stop: Sequence[str] | str | None = None,
        timeout: float = 300.0,
        deadline: float = 600.0,
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        cache_breakpoints: bool = False,
        transport: Transport | None = None,
    ) -> None:
        super().__init__(
            base_url,
            model,
            api_key,
            api_key_env=api_key_env,
            timeout=timeout,
            deadline=deadline,
            headers=headers,
            extra_body=extra_body,
            transport=transport,
        )
        self.max_tokens: int = positive("max_tokens", max_tokens, whole=True)
        self.max_tokens_key = max_tokens_key or ("max_completion_tokens" if self.at_home else "max_tokens")
        self.temperature = temperature
        self.stop = [stop] if isinstance(stop, str) else list(stop or ())
        self.cache_breakpoints = cache_breakpoints
        self._stop_refused = False

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [self._message(index, each) for index, each in enumerate(messages)],
            self.max_tokens_key: self.max_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.stop and not self._stop_refused:
            body["stop"] = self.stop
        if tools:  # strict servers refuse an empty list, and a choice without tools
            body["tools"] = list(tools)
            body["tool_choice"] = _choice(tool_choice)
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": as_schema(schema)}
        return body

    def _message(self, index: int, message: Message) -> dict[str, Any]:
        role = message.get("role")
        if role not in _KEYS:
            raise ProviderError(
                f"message {index} has the role {role!r}; expected one of {', '.join(_KEYS)}", kind="config"
            )
        sent = only(message, _KEYS[role])
        content = sent.get("content")
        if isinstance(content, list | tuple):
            sent["content"] = [only(part, _PART_KEYS) if isinstance(part, Mapping) else part for part in content]
        elif not isinstance(content, str):
            sent["content"] = text_of(content)
        if sent.get("tool_calls"):
            sent["tool_calls"] = [
                {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
                for each in tool_calls_out(sent["tool_calls"])
            ]
        else:
            sent.pop("tool_calls", None)
        if self.cache_breakpoints and message.get("cache_stable") and sent["content"]:
            parts = sent["content"]
            parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
            sent["content"] = [*parts[:-1], {**parts[-1], "prompt_cache_breakpoint": {"mode": "explicit"}}]
        return sent

    def _streaming(self) -> dict[str, Any]:
        return {"stream": True, "stream_options": {"include_usage": True}}

    def _amended(self, body: dict[str, Any], error: ProviderError) -> dict[str, Any] | None:
        # Two refusals that can be met without changing what was asked. What the server wants is remembered.
        if error.status not in (400, 422):
            return None
        words, amended = str(error), dict(body)
        if "max_tokens" in body and "max_completion_tokens" in words:
            self.max_tokens_key = "max_completion_tokens"
            amended[self.max_tokens_key] = amended.pop("max_tokens")
            return amended
        if "stop" in body and re.search(r"""['"`]stop['"`]|param stop\b|\bstop (param|is not)""", words):
            self._stop_refused = True  # from now on replies are cut here
            del amended["stop"]
            return amended
        if "stream_options" in body and "stream_options" in words:
            del amended["stream_options"]
            return amended
        return None

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Ask the model once and yield its text as it comes, then the whole reply.

        Raises:
            ProviderError: as ``generate``; also when the stream ends without its end marker.
        """
        for each in super().stream(messages, tools, tool_choice, schema=schema):
            if not (self.stop and self._stop_refused):
                yield each
            elif isinstance(each, Reply):  # a stop text may lie across chunks: wait for the end, then cut
                if each.text:
                    yield each.text
                yield each

    def _reply(self, data: Any) -> Reply:
        reply = read_reply(data, where=self.endpoint.shown)
        if self._stop_refused:
            ends = [place for each in self.stop if (place := reply.text.find(each)) >= 0]
            if ends:
                return replace(reply, text=reply.text[: min(ends)], finish_reason="stop")
        return reply

    def _assembler(self) -> Assembler:
        return _Chunks()


def read_reply(data: Any, *, where: str = "") -> Reply:
    """Read the body of a Chat Completions answer.

    Raises:
        ProviderError: it holds no reply, a refusal, or what a content filter left.
    """
    choices = data.get("choices") if isinstance(data, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise malformed("it has no choices", where)
    if choice.get("error"):
        from brain.providers.failures import failed

        raise failed(200, choice, "", {}, where=where, now=0.0)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        if not isinstance(choice.get("text"), str):
            raise malformed("its first choice has no message", where)
        message = {"content": choice["text"]}
    text = text_of(message.get("content"))
    reason = finish_reason(choice.get("finish_reason"))
    check_end(reason, text, message.get("refusal"), where)
    raw = message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])
    calls = [function_of(each) for each in raw] if isinstance(raw, list) else []
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    model = data.get("model")
    return Reply(
        text,
        tuple(call for call in calls if call is not None),
        read_usage(data.get("usage")),
        reason,
        whole(reasoning) if isinstance(reasoning, str) else "",
        model if isinstance(model, str) else "",
    )


def read_usage(usage: Any) -> Usage | None:
    """Read the ``usage`` of a Chat Completions answer; ``None`` if it tells nothing."""
    if not isinstance(usage, Mapping):
        return None
    given, written = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    given, written = (each if isinstance(each, Mapping) else {} for each in (given, written))
    return usage_of(
        [usage.get("prompt_tokens")],
        usage.get("completion_tokens"),
        usage.get("total_tokens"),
        cache_read=given.get("cached_tokens"),
        cache_write=given.get("cache_write_tokens"),
        reasoning=written.get("reasoning_tokens"),
    )


def _choice(tool_choice: Any) -> Any:
    if isinstance(tool_choice, str) and tool_choice not in ("none", "auto", "required"):
        return {"type": "function", "function": {"name": tool_choice}}
    return tool_choice


class _Chunks(Assembler):
    """Puts a streamed Chat Completions reply together."""

    def __init__(self) -> None:
        self._top: dict[str, Any] = {}
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: Any = None
        self._choice_seen = False

    def add(self, event: Mapping[str, Any]) -> str:
        for key in ("model", "usage"):
            if event.get(key):
                self._top[key] = event[key]
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping) or choice.get("index") not in (0, None):
            return ""
        self._choice_seen = True
        if choice.get("finish_reason"):
            self._reason = choice["finish_reason"]
            self.complete = True
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return ""
        reasoning = delta.get("reasoning") or delta.get("reasoning_content")
        for text, store in ((reasoning, self._reasoning), (delta.get("refusal"), self._refusal)):
            if isinstance(text, str):
                store.append(text)
        raw = delta.get("tool_calls")
        for call in raw if isinstance(raw, list) else ():
            if isinstance(call, Mapping):
                self._call(call)
        content = delta.get("content")
        text = content if isinstance(content, str) else text_of(content)
        self._text.append(text)
        return text

    def _call(self, call: Mapping[str, Any]) -> None:
        index = call.get("index")
        if not isinstance(index, int):  # a server that leaves it out sends whole calls
            index = len(self._calls) if call.get("id") else max(len(self._calls) - 1, 0)
        known = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        if isinstance(call.get("id"), str):
            known["id"] = call["id"] or known["id"]
        if isinstance(function.get("name"), str):
            known["name"] = known["name"] or function["name"]
        arguments = function.get("arguments")
        if isinstance(arguments, str) and isinstance(known["arguments"], str):
            known["arguments"] += arguments
        elif arguments:
            known["arguments"] = arguments

    def body(self) -> Any:
        if not self._choice_seen:
            return {**self._top, "choices": []}
        message = {
            "content": "".join(self._text),
            "reasoning": "".join(self._reasoning),
            "refusal": "".join(self._refusal),
            "tool_calls": [
                {"id": each["id"], "function": {"name": each["name"], "arguments": each["arguments"]}}
                for _, each in sorted(self._calls.items())
            ],
        }
        return {**self._top, "choices": [{"message": message, "finish_reason": self._reason}]}
