from __future__ import annotations

import json

import pytest

from brain.errors import ConfigurationError, ProviderError
from brain.messages import assistant, system, tool_result, user
from brain.providers import ResponsesProvider
from brain.types import Reply, ToolCall, Usage
from tests.providers.server import FakeServer

HI = [user("hi")]
SPEC = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def said(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def response(*output, **more):
    usage = {
        "input_tokens": 47,
        "output_tokens": 9,
        "input_tokens_details": {"cached_tokens": 42},
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    return {
        "object": "response",
        "status": "completed",
        "model": "m",
        "error": None,
        "output": list(output),
        "usage": usage,
        **more,
    }


def ask(messages=HI, tools=(), tool_choice="none", schema=None, body=None, **options):
    with FakeServer([{"body": body or response(said("hello"))}]) as server:
        reply = ResponsesProvider(server.url, "m", "sk-1", **options).generate(
            messages, tools, tool_choice, schema=schema
        )
        return reply, server.asked[-1]


def sent(*arguments, **options):
    return ask(*arguments, **options)[1].body


def test_the_smallest_request():
    """Nothing is left on the server."""
    _, asked = ask()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    assert asked.body == {"model": "m", "input": [item], "max_output_tokens": 4096, "store": False}
    assert asked.path == "/v1/responses"
    assert sent(temperature=0)["temperature"] == 0
    with pytest.raises(ConfigurationError, match="stop"):
        ResponsesProvider("https://a.test", "m", stop="x")


def test_a_conversation_with_tools():
    """Calls and results are items of their own; private keys stay here."""
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    messages = [
        system("s", cache_stable=True),
        user([{"type": "text", "text": "q"}, image]),
        assistant("let me", [CALL]),
        tool_result("c1", "42"),
        assistant("", [CALL]),
        assistant("done"),
    ]
    body = sent(messages, [SPEC], "f")
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    spoken = {"type": "message", "role": "assistant"}
    assert body["input"] == [
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "s"}]},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "q"},
                {"type": "input_image", "image_url": "https://x.test/a.png"},
            ],
        },
        {**spoken, "content": [{"type": "output_text", "text": "let me", "annotations": []}]},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": "42"},
        call,
        {**spoken, "content": [{"type": "output_text", "text": "done", "annotations": []}]},
    ]
    assert body["tools"] == [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": False}
    ]
    assert body["tool_choice"] == {"type": "function", "name": "f"}
    assert sent(HI, [SPEC], "auto")["tool_choice"] == "auto"
    with pytest.raises(ProviderError, match="role 'robot'"):
        sent([{"role": "robot", "content": "x"}])


def test_a_schema_becomes_a_text_format():
    """With its name and its strictness beside it."""
    schema = {"type": "object"}
    assert sent(schema=schema)["text"] == {
        "format": {"type": "json_schema", "name": "reply", "schema": schema, "strict": False}
    }


def test_a_whole_reply():
    """Text, calls, reasoning and usage are read from the items."""
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": None}
    got, _ = ask(body=response(thought, said("a"), said("b"), call, {"type": "new"}, None))
    assert got == Reply("ab", (ToolCall("f", {"a": 1}, "c1"),), Usage(47, 9, 42, 0, 5), "tool_calls", "hm", "m")
    assert ask()[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (response(status="failed", error={"code": "server_error", "message": "broke"}), "server"),
        (response(status="failed"), "api"),
        (response(status="queued"), "api"),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter"),
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}), "refusal"),
        ({"output": None}, "malformed"),
        ([], "malformed"),
    ],
)
def test_answers_that_are_no_replies(body, kind):
    """Are errors of the kind that fits."""
    with FakeServer([{"body": body}]) as server, pytest.raises(ProviderError) as caught:
        ResponsesProvider(server.url, "m").generate(HI)
    assert caught.value.kind == kind


def test_a_reply_that_was_cut_off_says_so():
    """By the cap, or without a reason, or only by having taken all the tokens it might."""
    cut = response(said("half"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert ask(body=cut)[0].cut_off
    assert ask(body=response(said("half"), status="incomplete"))[0].cut_off
    assert ask(body=response(said("half")), max_tokens=9)[0].cut_off
    assert not ask(body=response(said("whole")), max_tokens=10)[0].cut_off


def events(*given):
    return [line for each in given for line in (f"event: {each['type']}", f"data: {json.dumps(each)}", "")]


def test_a_stream_ends_in_the_reply_that_is_not_streamed():
    """Its last event holds the whole; where that is bare, the items are taken as they came."""
    words = [{"type": "response.output_text.delta", "delta": each} for each in ("Hel", "lo")]
    item = {"type": "response.output_item.done", "item": said("Hello")}
    for last in (response(said("Hello")), response()):
        lines = events(
            {"type": "response.created", "response": {}}, *words, item, {"type": "response.completed", "response": last}
        )
        with FakeServer([{"sse": lines}, {"body": response(said("Hello"))}]) as server:
            provider = ResponsesProvider(server.url, "m")
            *chunks, reply = provider.stream(HI)
            assert chunks == ["Hel", "lo"]
            assert reply == provider.generate(HI)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (events({"type": "response.output_text.delta", "delta": "half"}), "truncated"),
        (events({"type": "error", "code": "server_error", "message": "broke"}), "server"),
        (
            events(
                {
                    "type": "response.failed",
                    "response": response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}),
                }
            ),
            "rate_limit",
        ),
    ],
)
def test_streams_that_are_no_replies(lines, kind):
    """Without an end, or with an error in them."""
    with FakeServer([{"sse": lines}]) as server, pytest.raises(ProviderError) as caught:
        list(ResponsesProvider(server.url, "m").stream(HI))
    assert caught.value.kind == kind
