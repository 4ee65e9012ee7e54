"""Reading what Chat Completions answers, whole or streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.providers.failures import failed
from brain.providers.http import Assembler
from brain.providers.wire import check_end, finish_reason, function_of, malformed, text_of, usage_of
from brain.types import Reply, Usage

__all__ = ["Chunks", "read_reply", "read_usage"]


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
        reasoning if isinstance(reasoning, str) else "",
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


class Chunks(Assembler):
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
