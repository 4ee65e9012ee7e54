"""Chat Completions: the one dialect that nearly every server speaks, local or hosted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message
from brain.providers.chat_reply import Chunks, read_reply
from brain.providers.http import Assembler, HTTPProvider
from brain.providers.transport import Transport
from brain.providers.wire import as_schema, named_choice, only, text_of, tool_calls_out
from brain.types import Reply, ToolSpec

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
            max_tokens=max_tokens,
            temperature=temperature,
            stop=stop,
            timeout=timeout,
            deadline=deadline,
            headers=headers,
            extra_body=extra_body,
            transport=transport,
        )
        self.max_tokens_key = max_tokens_key or ("max_completion_tokens" if self.at_home else "max_tokens")
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

    def _streamed(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> Iterator[str | Reply]:
        for each in super()._streamed(messages, tools, tool_choice, schema):
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
        return Chunks()


def _choice(tool_choice: Any) -> Any:
    name = None if tool_choice in ("none", "auto", "required") else named_choice(tool_choice)
    return tool_choice if name is None else {"type": "function", "function": {"name": name}}
