from __future__ import annotations

import json
import pickle

import pytest

from brain.errors import ConfigurationError, ProviderError
from brain.messages import assistant, system, tool_result, user
from brain.providers import AnthropicProvider
from brain.types import Reply, ToolCall, Usage
from tests.providers.server import FakeServer

HI = [user("hi")]
SPEC = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
CALL = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def message(*content, reason="end_turn", **more):
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 42, "cache_creation_input_tokens": 3, "output_tokens": 7}
    return {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        "stop_reason": reason,
        "usage": usage,
        **more,
    }


def ask(messages=HI, tools=(), tool_choice="none", schema=None, body=None, **options):
    with FakeServer([{"body": body or message("hello")}]) as server:
        reply = AnthropicProvider(server.url, "m", "sk-1", **options).generate(
            messages, tools, tool_choice, schema=schema
        )
        return reply, server.asked[-1]


def sent(*arguments, **options):
    return ask(*arguments, **options)[1].body


def test_the_smallest_request():
    """A cap, the version of the API, a bearer, and no sampling parameters, which that version refuses."""
    _, asked = ask()
    hi = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    assert asked.body == {"model": "m", "max_tokens": 4096, "messages": [hi]}
    assert asked.path == "/v1/messages"
    assert asked.headers["anthropic-version"] == "2026-10-21"
    assert asked.headers["authorization"] == "Bearer sk-1"
    assert "x-api-key" not in asked.headers
    assert ask(headers={"Anthropic-Version": "2023-06-01"})[1].headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("https://gw.test/anthropic", "https://gw.test/anthropic/v1/messages"),
        ("https://gw.test/v1/messages", "https://gw.test/v1/messages"),
    ],
)
def test_addresses(base, url):
    """The version belongs to this dialect's path."""
    assert AnthropicProvider(base, "m").endpoint.url == url


def test_a_conversation_with_tools():
    """System on top, calls and results as blocks, neighbours of one role in one turn."""
    messages = [
        system("one"),
        system("two"),
        user("q"),
        assistant("let me", [CALL, {**CALL, "id": "t2"}]),
        tool_result("t1", "42"),
        {**tool_result("t2", "no"), "is_error": True},
        system("late"),
        user(
            [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, {"type": "text", "text": "see"}]
        ),
        user([{"type": "image_url", "image_url": "https://x.test/a.png"}]),
        assistant("so: "),
    ]
    body = sent(messages, [SPEC], "required")
    text = {"type": "text", "text": "let me"}
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    assert body["system"] == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {"role": "assistant", "content": [text, use, {**use, "id": "t2"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "42"},
                {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
                {"type": "text", "text": "late"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "text", "text": "see"},
                {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "so:"}]},
    ]
    assert body["tools"] == [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "any"}


@pytest.mark.parametrize(
    ("choice", "on_the_wire"),
    [
        ("none", {"type": "none"}),
        ("auto", {"type": "auto"}),
        ("f", {"type": "tool", "name": "f"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        ({"type": "auto", "disable_parallel_tool_use": True}, {"type": "auto", "disable_parallel_tool_use": True}),
    ],
)
def test_the_choice_among_tools(choice, on_the_wire):
    """Is sent as the dialect has it."""
    assert sent(HI, [SPEC], choice)["tool_choice"] == on_the_wire


def test_a_conversation_with_calls_declares_its_tools_to_the_end():
    """The API refuses a ``tool_use`` of a tool that is not declared."""
    body = sent([user("q"), assistant("", [CALL]), tool_result("t1", "x")])
    assert body["tools"] == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    assert body["tool_choice"] == {"type": "none"}


def test_what_the_api_refuses_is_not_sent():
    """Empty blocks, no turns at all, arguments that are no object."""
    empty = {"role": "user", "content": [{"type": "text", "text": "(empty)"}]}
    assert sent([user("  ")])["messages"] == [empty]
    assert sent([])["messages"] == [empty]
    assert sent([system("s")])["messages"] == [{"role": "user", "content": [{"type": "text", "text": "s"}]}]
    bad = {"id": "t", "function": {"name": "f", "arguments": '{"a'}}
    blocks = sent([user("q"), assistant("", [bad])], [SPEC])["messages"][1]["content"]
    assert blocks == [{"type": "tool_use", "id": "t", "name": "f", "input": {"arguments": '{"a'}}]
    with pytest.raises(ProviderError, match="role 'robot'"):
        sent([{"role": "robot", "content": "x"}])


def test_the_last_stable_block_carries_the_cache_mark():
    """And the prefix is the same bytes when the conversation has grown."""
    messages = [system("a", cache_stable=True), system("b", cache_stable=True), user("q")]
    first = sent(messages)
    assert first["system"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}},
    ]
    assert "cache_stable" not in json.dumps(first)
    second = sent([*messages, assistant("x"), user("y")])
    assert json.dumps(second).startswith(json.dumps(first).removesuffix("]}"))
    assert "cache_control" not in json.dumps(sent([system("a"), user("q")]))


def test_options():
    """Are sent when they are set."""
    schema = {"type": "object"}
    body = sent(schema=schema, temperature=0.5, stop=["X"], max_tokens=9, extra_body={"thinking": {"type": "adaptive"}})
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    assert (body["temperature"], body["stop_sequences"], body["max_tokens"]) == (0.5, ["X"], 9)
    assert body["thinking"] == {"type": "adaptive"}


def test_a_whole_reply():
    """``input_tokens`` counts all input here, though the API leaves out what concerns the cache."""
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    got, _ = ask(body=message(thought, "a", "b", use, {"type": "new"}, reason="tool_use"))
    assert got == Reply("ab", (ToolCall("f", {"a": 1}, "t"),), Usage(50, 7, 42, 3), "tool_calls", "hm", "m")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        (None, None),
    ],
)
def test_stop_reasons(said, reason):
    """They come in this library's words."""
    assert ask(body=message("x", reason=said))[0].finish_reason == reason


@pytest.mark.parametrize(
    ("response", "kind", "retryable"),
    [
        ({"body": message("no", reason="refusal")}, "refusal", False),
        ({"body": {"type": "message", "content": None}}, "malformed", True),
        ({"body": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}}, "server", True),
        (
            {"status": 529, "body": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}},
            "server",
            True,
        ),
        (
            {"status": 400, "body": {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}},
            "bad_request",
            False,
        ),
        (
            {"status": 403, "body": {"type": "error", "error": {"type": "permission_error", "message": "x"}}},
            "auth",
            False,
        ),
        (
            {"status": 413, "body": {"type": "error", "error": {"type": "request_too_large", "message": "x"}}},
            "bad_request",
            False,
        ),
    ],
)
def test_errors(response, kind, retryable):
    """Are of the kind that fits; an empty content is none."""
    with FakeServer([response]) as server, pytest.raises(ProviderError) as caught:
        AnthropicProvider(server.url, "m").generate(HI)
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
    assert ask(body=message())[0].text == ""


def test_reasoning_goes_back_with_the_calls_it_led_to():
    """Unchanged, signature and all; from another provider object it does not."""
    thoughts = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}]
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}
    talk = [user("q"), assistant("", [CALL]), tool_result("t1", "x")]
    with FakeServer([{"body": message(*thoughts, use)}, {"body": message("done")}]) as server:
        provider = AnthropicProvider(server.url, "m")
        provider.generate(HI, [SPEC])
        provider.generate(talk, [SPEC])
        pickle.loads(pickle.dumps(provider)).generate(talk, [SPEC])
        AnthropicProvider(server.url, "m").generate(talk, [SPEC])
        back = [each.body["messages"][1]["content"] for each in server.asked[1:]]
    assert back == [[*thoughts, use], [*thoughts, use], [use]]


def events(*said):
    return [line for each in said for line in (f"event: {each['type']}", f"data: {json.dumps(each)}", "")]


def test_a_stream_ends_in_the_reply_that_is_not_streamed():
    """Blocks in pieces, usage from both ends."""

    def part(index, **delta):
        return {"type": "content_block_delta", "index": index, "delta": delta}

    def begin(index, **block):
        return {"type": "content_block_start", "index": index, "content_block": block}

    start = message(reason=None, usage={"input_tokens": 5, "cache_read_input_tokens": 42, "output_tokens": 1})
    lines = events(
        {"type": "message_start", "message": start},
        begin(0, type="thinking", thinking="", signature=""),
        part(0, type="thinking_delta", thinking="hm"),
        part(0, type="signature_delta", signature="sig"),
        {"type": "ping"},
        begin(1, type="text", text=""),
        part(1, type="text_delta", text="Hel"),
        part(1, type="text_delta", text="lo"),
        begin(2, type="tool_use", id="t", name="f", input={}),
        part(2, type="input_json_delta", partial_json='{"a"'),
        part(2, type="input_json_delta", partial_json=": 1}"),
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    )
    with FakeServer([{"sse": lines}]) as server:
        provider = AnthropicProvider(server.url, "m")
        *chunks, reply = provider.stream(HI)
        provider.generate([user("q"), assistant("", [{**CALL, "id": "t"}])], [SPEC])
        assert server.asked[1].body["messages"][1]["content"][0] == {
            "type": "thinking",
            "thinking": "hm",
            "signature": "sig",
        }
    assert chunks == ["Hel", "lo"]
    assert reply == Reply("Hello", (ToolCall("f", {"a": 1}, "t"),), Usage(47, 7, 42), "tool_calls", "hm", "m")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (
            events(
                {"type": "message_start", "message": {}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            ),
            "truncated",
        ),
        (events({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), "server"),
    ],
)
def test_streams_that_are_no_replies(lines, kind):
    """Without ``message_stop``, or with an error in them."""
    with FakeServer([{"sse": lines}]) as server, pytest.raises(ProviderError) as caught:
        list(AnthropicProvider(server.url, "m").stream(HI))
    assert caught.value.kind == kind


def test_the_key_is_anthropics_own(monkeypatch):
    """The environment variable counts for ``api.anthropic.com`` alone."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    assert AnthropicProvider("https://api.anthropic.com", "m").endpoint.key.reveal() == "sk-ant"
    assert AnthropicProvider("http://localhost:8080", "m").endpoint.key.reveal() == ""
    with pytest.raises(ConfigurationError, match="max_tokens"):
        AnthropicProvider("https://api.anthropic.com", "m", max_tokens=1.5)
