"""Requests as JSON, and as the keys of what was replied to them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brain.errors import ProviderError
from brain.messages import Message, canonical
from brain.types import Reply, ToolCall, ToolSpec, Usage

__all__ = [
    "Redact",
    "Redactor",
    "error_from",
    "error_record",
    "reply_from",
    "reply_record",
    "request_key",
    "request_record",
]

Redact = Callable[[str], str]

# What counts of a message. A key that never reaches a model makes no other request of it.
_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")

# How widespread kinds of keys look: OpenAI, Anthropic and their kin; Google; AWS; GitHub; Slack; any bearer.
_KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|r8)[-_][A-Za-z0-9_-]{8,}|\bAIza[\w-]{20,}|\bAKIA[0-9A-Z]{12,}"
    r"|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bxox[a-z]-[\w-]{8,}|(?<=Bearer )[\w.~+/-]{8,}=*"
)


class Redactor:
    """Masks secrets: a provider's own, what looks like a key, and what the caller names.

    Args:
        redact: texts to mask, or a function that masks them.
        provider: the provider whose keys are masked.
    """

    def __init__(self, redact: Iterable[str] | Redact | None = None, provider: Any = None) -> None:
        self._function = redact if callable(redact) else None
        self._named = [] if redact is None or callable(redact) else [each for each in redact if each]
        self._own = _scrubbers(provider)

    def __call__(self, text: str) -> str:
        for scrub in self._own:
            text = scrub(text)
        for each in self._named:
            text = text.replace(each, "***")
        text = _KEY_SHAPES.sub("***", text)
        return self._function(text) if self._function is not None else text


def _scrubbers(provider: Any) -> list[Redact]:
    found, waiting = [], [provider]
    while waiting:
        each = waiting.pop()
        scrub = getattr(getattr(each, "endpoint", None), "scrub", None)
        if callable(scrub):
            found.append(scrub)
        waiting += [
            inner for inner in (getattr(each, "inner", None), *getattr(each, "providers", ())) if inner is not None
        ]
    return found


def request_record(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    tool_choice: Any,
    schema: Mapping[str, Any] | None,
    redact: Redact,
) -> dict[str, Any]:
    """Return a request as JSON: what a model is told, and nothing else."""
    record: dict[str, Any] = {
        "messages": [{key: each[key] for key in _KEYS if each.get(key) is not None} for each in messages]
    }
    if tools:
        record["tools"], record["tool_choice"] = list(tools), tool_choice
    if schema is not None:
        record["schema"] = dict(schema)
    return masked(json.loads(canonical(record)), redact)  # type: ignore[no-any-return]


def request_key(record: Mapping[str, Any]) -> str:
    """Return the text that is equal for equal requests."""
    from hashlib import blake2b

    return blake2b(canonical(record), digest_size=16).hexdigest()


def masked(value: Any, redact: Redact) -> Any:
    """Return a JSON value with every text in it redacted, keys included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(each, redact) for each in value]
    if isinstance(value, dict):
        return {redact(key): masked(each, redact) for key, each in value.items()}
    return value


def reply_record(reply: Reply) -> dict[str, Any]:
    """Return a reply as JSON, without what it leaves empty."""
    return {key: value for key, value in asdict(reply).items() if value or key == "text"}


def reply_from(record: Mapping[str, Any]) -> Reply:
    """Return the reply that a record stands for."""
    return Reply(
        str(record.get("text", "")),
        tuple(ToolCall(each["name"], each["arguments"], each.get("id", "")) for each in record.get("tool_calls", ())),
        Usage(**record["usage"]) if record.get("usage") else None,
        record.get("finish_reason"),
        record.get("reasoning", ""),
        record.get("model", ""),
    )


def error_record(error: ProviderError) -> dict[str, Any]:
    """Return an error as JSON."""
    fields = ("kind", "status", "retryable", "request_id", "retry_after")
    return {"message": str(error), **{name: getattr(error, name) for name in fields}}


def error_from(record: Mapping[str, Any]) -> ProviderError:
    """Return the error that a record stands for."""
    return ProviderError(
        str(record.get("message", "")),
        kind=record.get("kind", "unknown"),
        status=record.get("status"),
        retryable=bool(record.get("retryable")),
        request_id=record.get("request_id", ""),
        retry_after=record.get("retry_after"),
    )
