"""What the dialects share: reading leniently what servers send, and writing strictly what they accept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from brain.errors import ConfigurationError, ProviderError
from brain.types import ToolCall, Usage

__all__ = [
    "arguments_of",
    "as_schema",
    "check_end",
    "declared",
    "encode",
    "finish_reason",
    "function_of",
    "malformed",
    "mended",
    "named_choice",
    "only",
    "positive",
    "text_of",
    "tokens",
    "tool_calls_out",
    "usage_of",
    "whole",
]

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*(.*?)\s*```\s*$", re.DOTALL)
_MOST_TOKENS = 1 << 53  # what JSON numbers hold exactly; no call takes so many
_SURROGATE = re.compile("[\ud800-\udfff]")

_REASONS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",  # the model has more to say: no answer yet
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
}


def malformed(what: str, where: str = "", *, retryable: bool = True) -> ProviderError:
    """Return the error for an answer that is not what the dialect says."""
    return ProviderError(
        f"the answer{f' of {where}' if where else ''} cannot be used: {what}", kind="malformed", retryable=retryable
    )


def encode(body: Mapping[str, Any]) -> bytes:
    """Write a request body; the same body gives the same bytes.

    Raises:
        ProviderError: something in it is not JSON.
    """
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        problem = f"the request cannot be written as JSON: {error}"
    raise ProviderError(problem, kind="config")


def text_of(content: Any) -> str:
    """Return the text of a message's content: a string, a list of parts, or nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "".join(_part(each) for each in content)
    if isinstance(content, Mapping):
        return _part(content) or json.dumps(content, ensure_ascii=False, default=str)
    return json.dumps(content, default=str)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text", "input_text"):
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return ""


def whole(text: str) -> str:
    """Join the halves of characters that JSON escapes tore apart; a lone half becomes U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mended(value: Any) -> Any:
    """Return a JSON value with ``whole`` texts in it."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [mended(each) for each in value]
    if isinstance(value, dict):
        return {whole(key): mended(each) for key, each in value.items()}
    return value


def arguments_of(raw: Any) -> dict[str, Any] | str:
    """Decode the arguments of a tool call; what cannot be decoded stays as the text it is."""
    if raw is None or raw == [] or (isinstance(raw, str) and not raw.strip()):
        return {}
    if isinstance(raw, Mapping):
        return dict(raw)
    if not isinstance(raw, str):
        return json.dumps(raw, ensure_ascii=False)
    text = fenced[1] if (fenced := _FENCE.match(raw)) else raw
    for _ in range(2):  # some gateways encode them twice
        try:
            value = mended(json.loads(text, strict=False))
        except (ValueError, RecursionError):
            return raw
        if isinstance(value, dict):
            return value
        if value is None or value == []:
            return {}
        if not isinstance(value, str):
            break
        text = value
    return raw


def tool_calls_out(calls: Iterable[Any]) -> Iterator[ToolCall]:
    """Yield the tool calls of an assistant message as they go out: arguments as JSON text."""
    for call in calls:
        if isinstance(call, ToolCall):
            identity, name, given = call.id, call.name, call.arguments
        elif isinstance(call, Mapping):
            function = call.get("function")
            inner = function if isinstance(function, Mapping) else call
            identity, name, given = call.get("id") or "", inner.get("name") or "", inner.get("arguments") or {}
        else:
            raise ProviderError(f"tool_calls holds {type(call).__name__}; expected a dict or a ToolCall", kind="config")
        yield ToolCall(name, given if isinstance(given, str) else json.dumps(given, default=str), identity)


def function_of(raw: Any) -> ToolCall | None:
    """Read one tool call in the shape of Chat Completions; ``None`` if there is none in it."""
    if not isinstance(raw, Mapping):
        return None
    function = raw.get("function")
    inner = function if isinstance(function, Mapping) else raw
    name = inner.get("name")
    if not isinstance(name, str) and "arguments" not in inner:
        return None
    given = raw.get("id")
    return ToolCall(
        name.strip() if isinstance(name, str) else "",
        arguments_of(inner.get("arguments")),
        given if isinstance(given, str) else "",
    )


def finish_reason(said: Any) -> str | None:
    """Return a stop reason in this library's words; an unknown one as it is."""
    if not isinstance(said, str) or not said:
        return None
    word = said.strip().lower().replace("-", "_")
    return _REASONS.get(word, word)


def tokens(value: Any) -> int | None:
    """Return a count of tokens; ``None`` where none is told or it is no count."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_TOKENS:
        return None
    return int(value)


def usage_of(read: Sequence[Any], written: Any, total: Any = None, **details: Any) -> Usage | None:
    """Make a ``Usage`` of what a server counted; ``None`` if it counted nothing.

    Args:
        read: counts of input tokens that add up to all input.
        written: output tokens.
        total: both together, from which a missing one follows.
        details: the other fields of ``Usage``.
    """
    counted = [each for each in map(tokens, read) if each is not None]
    given: int | None = sum(counted) if counted else None
    output, both = tokens(written), tokens(total)
    if both is not None:
        if given is None:
            given = max(both - (output or 0), 0)
        elif output is None:
            output = max(both - given, 0)
    if given is None and output is None:
        return None
    return Usage(given or 0, output or 0, **{name: tokens(value) or 0 for name, value in details.items()})


def as_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Name a schema for a request, and ask for strictness where the schema meets what that demands."""
    title = schema.get("title")
    name = re.sub(r"[^a-zA-Z0-9_-]+", "_", title).strip("_")[:64] if isinstance(title, str) else ""
    named: dict[str, Any] = {"name": name or "reply", "schema": schema}
    return {**named, "strict": True} if _strict(schema) else named


def _strict(schema: Any) -> bool:
    """Whether every object in a schema is closed and requires all it has."""
    if isinstance(schema, list | tuple):
        return all(_strict(each) for each in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        names = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or set(schema.get("required") or ()) != set(names):
            return False
    return all(_strict(each) for each in schema.values())


def declared(tool: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the function that a tool declares, and the schema of its arguments."""
    function = tool.get("function")
    inner = function if isinstance(function, Mapping) else tool
    return inner, inner.get("parameters") or {"type": "object", "properties": {}}


def named_choice(tool_choice: Any) -> str | None:
    """Return the tool that a choice names, in the shape of any dialect; ``None`` if it names none."""
    if isinstance(tool_choice, str):
        return tool_choice
    if not isinstance(tool_choice, Mapping):
        return None
    inner = tool_choice.get("function")
    name = (inner if isinstance(inner, Mapping) else tool_choice).get("name")
    return name if isinstance(name, str) else None


def check_end(reason: str | None, text: str, refusal: Any, where: str) -> None:
    """Raise the error for a reply that ended otherwise than with an answer.

    A text that a filter has cut into, or put in the model's place, must not be taken for one.
    """
    end = f": {text[:500]}" if text else ""
    if isinstance(refusal, str) and refusal and not text:
        raise ProviderError(f"{where}: the model refused: {refusal[:500]}", kind="refusal")
    if reason == "content_filter":
        raise ProviderError(f"{where}: the content filter stopped the reply{end}", kind="content_filter")
    if reason == "refusal":
        raise ProviderError(f"{where}: the model refused{end}", kind="refusal")
    if reason == "error":
        raise ProviderError(f"{where}: the server broke off the reply{end}", kind="api", retryable=True)


def only(message: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return the keys of a message that a dialect knows and that are set, in the order of ``keys``."""
    return {key: message[key] for key in keys if message.get(key) is not None}


def positive(name: str, value: Any, *, whole: bool = False) -> Any:
    """Return the value of an option that must be a number above 0."""
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value > 0:
        raise ConfigurationError(f"{name} must be a {'whole ' if whole else ''}number above 0, got {value!r}")
    return value
