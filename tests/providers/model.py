"""A model behind the fake server, in all three dialects: it echoes, calls the tool it may, and keeps to a schema."""

from __future__ import annotations

import json
from typing import Any

from brain.providers.smallest import smallest

NAMES = {"chat/completions": "chat", "messages": "messages", "responses": "responses"}


def model(asked: Any) -> dict[str, Any]:
    """The response to a request, streamed if that was asked for."""
    body = asked.body
    dialect = next(name for path, name in NAMES.items() if asked.path.endswith(path))
    text, call = _say(*_read(dialect, body))
    write = {"chat": _chat, "messages": _messages, "responses": _responses}[dialect]
    whole, events = write(text, call, body.get("model"))
    if not body.get("stream"):
        return {"body": whole}
    end = ["data: [DONE]", ""] if dialect == "chat" else []
    return {"sse": [line for each in events for line in (f"data: {json.dumps(each)}", "")] + end}


def _read(dialect: str, body: dict[str, Any]) -> tuple[list[tuple[str, str]], list[str], Any]:
    """What was said (by whom), the tools that may be called, and the schema."""
    choice = body.get("tool_choice", "none")
    choice = choice.get("type") if isinstance(choice, dict) else choice
    if dialect == "chat":
        said = [(each["role"], each["content"]) for each in body["messages"]]
        names = [each["function"]["name"] for each in body.get("tools", ())]
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    elif dialect == "messages":
        said = []
        for turn in body["messages"]:
            for block in turn["content"]:
                result = block["type"] == "tool_result"
                said.append(("tool" if result else turn["role"], block["content"] if result else block.get("text", "")))
        names = [each["name"] for each in body.get("tools", ())]
        schema = body.get("output_config", {}).get("format", {}).get("schema")
    else:
        said = [
            ("tool", each["output"])
            if each["type"] == "function_call_output"
            else (each.get("role", "assistant"), "".join(part["text"] for part in each.get("content", ())))
            for each in body["input"]
        ]
        names = [each["name"] for each in body.get("tools", ())]
        schema = body.get("text", {}).get("format", {}).get("schema")
    return said, [] if choice == "none" else names, schema


def _say(said: list[tuple[str, str]], tools: list[str], schema: Any) -> tuple[str, str]:
    """The text, and the tool to call."""
    if schema is not None:
        return json.dumps(smallest(schema)), ""
    if said[-1][0] == "tool":
        return f"the tool said {said[-1][1]}", ""
    if tools:
        return "", tools[0]
    return [text for role, text in said if role == "user"][-1], ""


ARGUMENTS = '{"x": 1}'


def _chat(text: str, call: str, name: str) -> tuple[Any, list[Any]]:
    calls = [{"id": "c1", "type": "function", "function": {"name": call, "arguments": ARGUMENTS}}] if call else []
    reason = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    message = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if call else {})}
    whole = {"model": name, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
    deltas: list[Any] = [{"content": text[:3]}, {"content": text[3:]}] if text else []
    deltas += [{"tool_calls": [{"index": 0, **each}]} for each in calls]
    events = [{"model": name, "choices": [{"index": 0, "delta": each}]} for each in deltas]
    last = {"model": name, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return whole, [*events, last, {"choices": [], "usage": usage}]


def _messages(text: str, call: str, name: str) -> tuple[Any, list[Any]]:
    use = {"type": "tool_use", "id": "c1", "name": call, "input": json.loads(ARGUMENTS)}
    block = use if call else {"type": "text", "text": text}
    reason = "tool_use" if call else "end_turn"
    usage = {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 2}
    whole = {"type": "message", "model": name, "content": [block], "stop_reason": reason, "usage": usage}
    opened = {**use, "input": {}} if call else {"type": "text", "text": ""}
    parts = (
        [
            {"type": "input_json_delta", "partial_json": ARGUMENTS[:4]},
            {"type": "input_json_delta", "partial_json": ARGUMENTS[4:]},
        ]
        if call
        else [{"type": "text_delta", "text": text[:3]}, {"type": "text_delta", "text": text[3:]}]
    )
    return whole, [
        {
            "type": "message_start",
            "message": {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}},
        },
        {"type": "content_block_start", "index": 0, "content_block": opened},
        *({"type": "content_block_delta", "index": 0, "delta": each} for each in parts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def _responses(text: str, call: str, name: str) -> tuple[Any, list[Any]]:
    spoken = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    item = {"type": "function_call", "call_id": "c1", "name": call, "arguments": ARGUMENTS} if call else spoken
    usage = {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    whole = {
        "object": "response",
        "status": "completed",
        "model": name,
        "output": [item],
        "usage": usage,
        "error": None,
    }
    words = [{"type": "response.output_text.delta", "delta": each} for each in (text[:3], text[3:]) if each]
    return whole, [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        *words,
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": whole},
    ]
