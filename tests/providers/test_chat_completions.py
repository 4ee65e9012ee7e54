from __future__ import annotations

import json

import pytest

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.messages import Transcript, assistant, system, tool_result, user
from brain.providers import ChatCompletionsProvider
from brain.types import Reply, ToolCall, Usage
from tests.providers.server import FakeServer, chat

HI = [user("hi")]
SPEC = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def ask(response=None, messages=HI, *arguments, **options):
    """Ask a fake server; return the reply and the body that was sent."""
    with FakeServer([response or {"body": chat()}]) as server:
        given = {key: options.pop(key) for key in ("tools", "tool_choice", "schema") if key in options}
        reply = ChatCompletionsProvider(server.url, "m", **options).generate(messages, *arguments, **given)
        return reply, server.asked[-1].body


def sent(messages=HI, **options):
    return ask(None, messages, **options)[1]


def reply_to(message=None, **answer):
    return ask({"body": {**chat(), **answer} if message is None else chat(**message)})[0]


def error_of(response, **options):
    with pytest.raises(ProviderError) as caught:
        ask(response, **options)
    return caught.value


def test_the_smallest_request():
    """Model, messages, a token cap, and nothing a strict server would refuse."""
    assert sent() == {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4096}
    assert sent(tools=[], tool_choice="none") == sent()


def test_options_are_sent_when_they_are_set():
    """And extra keys win over the library's own."""
    body = sent(temperature=0, stop="X", max_tokens=7, extra_body={"seed": 1, "model": "other"})
    assert (body["temperature"], body["stop"], body["max_tokens"]) == (0, ["X"], 7)
    assert (body["seed"], body["model"]) == (1, "other")
    assert sent(max_tokens_key="max_completion_tokens")["max_completion_tokens"] == 4096


def test_openai_is_sent_its_own_name_of_the_cap():
    """``max_tokens`` is refused by its reasoning models."""
    openai = ChatCompletionsProvider("https://api.openai.com/v1", "m", "k")
    assert openai.max_tokens_key == "max_completion_tokens"
    assert ChatCompletionsProvider("https://api.example.test/v1", "m").max_tokens_key == "max_tokens"


def test_private_keys_never_reach_the_wire():
    """Of each role the known keys go out, in messages and in their parts."""
    messages = [
        system("s", cache_stable=True),
        {"role": "user", "content": [{"type": "text", "text": "t", "cache_stable": True}], "mine": 1},
        {**assistant("", [{"id": "1", "function": {"name": "f", "arguments": "{}"}, "mine": 1}]), "reasoning": "r"},
        {**tool_result("1", "42"), "is_error": True},
        {"role": "assistant", "content": None, "tool_calls": None},
    ]
    body = sent(Transcript(messages))
    assert body["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "t"}]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "42"},
        {"role": "assistant", "content": ""},
    ]


def test_tool_calls_go_out_with_their_arguments_as_text():
    """Whether they come as a ``ToolCall``, decoded or not."""
    calls = [ToolCall("f", {"a": 1}, "1"), {"id": "2", "function": {"name": "g", "arguments": {"b": 2}}}]
    body = sent([{"role": "assistant", "content": "x", "tool_calls": calls}])
    assert [each["function"]["arguments"] for each in body["messages"][0]["tool_calls"]] == ['{"a": 1}', '{"b": 2}']


def test_a_role_nobody_knows_is_refused_before_it_is_sent():
    """A server may take it for anything, and go on without end."""
    with pytest.raises(ProviderError, match="message 0 has the role 'robot'") as caught:
        ChatCompletionsProvider("http://localhost:1/v1", "m").generate([{"role": "robot", "content": "x"}])
    assert caught.value.kind == "config"


def test_what_is_no_json_is_refused_before_it_is_sent():
    """The error says that the request is at fault."""
    for bad in (object(), float("nan")):
        provider = ChatCompletionsProvider("http://localhost:1/v1", "m", extra_body={"x": bad})
        with pytest.raises(ProviderError, match="cannot be written as JSON") as caught:
            provider.generate(HI)
        assert caught.value.kind == "config"


@pytest.mark.parametrize(
    ("choice", "on_the_wire"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("f", {"type": "function", "function": {"name": "f"}}),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_tools_and_the_choice_among_them(choice, on_the_wire):
    """They are sent as the dialect has them."""
    body = sent(tools=[SPEC], tool_choice=choice)
    assert body["tools"] == [SPEC]
    assert body["tool_choice"] == on_the_wire


def test_a_schema_becomes_a_response_format():
    """It is strict where the schema meets the demands of strictness, and has a name every server accepts."""
    loose = {"title": "My Reply!", "type": "object", "properties": {"a": {"type": "string"}}}
    body = sent(schema=loose)
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "My_Reply", "schema": loose}}
    closed = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
    assert sent(schema=closed)["response_format"]["json_schema"] == {"name": "reply", "schema": closed, "strict": True}


def test_cache_marks_are_opt_in():
    """Only OpenAI knows them; other servers refuse them."""
    messages = [system("stable", cache_stable=True), user("x")]
    assert "prompt_cache" not in json.dumps(sent(messages))
    marked = sent(messages, cache_breakpoints=True)["messages"]
    part = {"type": "text", "text": "stable", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert marked == [{"role": "system", "content": [part]}, {"role": "user", "content": "x"}]


def test_the_stable_prefix_is_the_same_bytes_from_turn_to_turn():
    """Which is what a server's prefix cache needs."""
    with FakeServer([{"body": chat()}]) as server:
        provider = ChatCompletionsProvider(server.url, "m")
        first = Transcript([system("s" * 50, cache_stable=True), user("q")])
        for messages in (first, first + [assistant("a"), user("b")]):
            provider.generate(messages, [SPEC], "auto")
        one, two = (each.text for each in server.asked)
    shared = one[: one.index('"q"}')]
    assert len(shared) > 50
    assert two.startswith(shared)


def test_a_whole_reply():
    """Text, calls, usage, reason, reasoning and model are read."""
    usage = {
        "prompt_tokens": 47,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 42, "cache_write_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    message = {"role": "assistant", "content": "hi", "tool_calls": [call], "reasoning_content": "hm"}
    got = reply_to(choices=[{"message": message, "finish_reason": "tool_calls"}], usage=usage, unknown={"x": 1})
    assert got == Reply(
        "hi", (ToolCall("f", {"a": 1}, "c"),), Usage(47, 9, 42, 1, 5), "tool_calls", reasoning="hm", model="m"
    )


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        (None, {}),
        ("null", {}),
        ([], {}),
        ({"a": 1}, {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": 1', '{"a": 1'),
        ("[1]", "[1]"),
        ("3", "3"),
        (7, "7"),
    ],
)
def test_arguments_are_decoded_leniently(raw, arguments):
    """And stay the text they are where that fails."""
    got = reply_to({"text": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": raw}}]})
    assert got.tool_calls == (ToolCall("f", arguments, "1"),)


def test_odd_tool_calls():
    """The old single form is read; what is no call is none."""
    assert reply_to({"text": "", "function_call": {"name": "f", "arguments": "{}"}}).tool_calls == (ToolCall("f", {}),)
    assert reply_to({"text": "x", "tool_calls": [None, 3, {}, {"function": None}]}).tool_calls == ()
    assert reply_to({"text": "x", "tool_calls": "none"}).tool_calls == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("<think>a</think>b", "<think>a</think>b"),
        ([{"type": "text", "text": "a"}, "b", {"type": "image_url"}, None, {"type": "text"}], "ab"),
        ({"type": "text", "text": "a"}, "a"),
        ({"answer": 1}, '{"answer": 1}'),
        (42, "42"),
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
    ],
)
def test_content_in_all_its_forms(content, text):
    """A string, parts, a thing that is neither: always a text that can be written down."""
    got = reply_to({"text": content})
    assert got.text == text
    got.text.encode()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("eos", "stop"),
        (None, None),
        (7, None),
        ("other", "other"),
    ],
)
def test_stop_reasons(said, reason):
    """They come in this library's words."""
    assert reply_to(choices=[{"message": {"content": "x"}, "finish_reason": said}]).finish_reason == reason


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": None}, None),
        ({"prompt_tokens": "9", "total_tokens": 11}, Usage(9, 2)),
        ({"completion_tokens": 2, "total_tokens": 11}, Usage(9, 2)),
        ({"prompt_tokens": 3}, Usage(3, 0)),
        ({"prompt_tokens": -1, "completion_tokens": True}, None),
        ({"prompt_tokens": "many", "completion_tokens": 1.0}, Usage(0, 1)),
        ([1], None),
    ],
)
def test_usage_in_all_its_forms(usage, read):
    """What is not told is not made up."""
    assert reply_to(usage=usage).usage == read


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"choices": []}, "malformed"),
        ({"choices": None}, "malformed"),
        ({"choices": [None]}, "malformed"),
        ({"choices": [{}]}, "malformed"),
        ({}, "malformed"),
        ([], "malformed"),
        ("", "malformed"),
        ("null", "malformed"),
        ('{"choices": [{"mess', "malformed"),
        ("<html><body>Log in</body></html>", "malformed"),
        ({"error": {"message": "no", "type": "invalid_request_error"}}, "bad_request"),
        ({"error": {"message": "no", "code": 401}}, "auth"),
        ({"error": {"message": "no", "code": "429"}}, "rate_limit"),
        ({"error": "something"}, "api"),
        ({"object": "error", "message": "model missing", "code": 404}, "not_found"),
        ([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}], "server"),
        ({"detail": "Not authenticated"}, "api"),
        ({"choices": [{"error": {"message": "died", "code": 502}, "finish_reason": "error"}]}, "server"),
        (chat("half", reason="error"), "api"),
        (chat(None, reason="content_filter"), "content_filter"),
        (chat("I cannot", reason="content_filter"), "content_filter"),
        (chat(None, refusal="I will not"), "refusal"),
    ],
)
def test_answers_that_are_no_replies(body, kind):
    """Are errors of the kind that fits, status 200 or not."""
    assert error_of({"body": body}).kind == kind


def test_odd_but_good_answers():
    """A byte order mark, white space before the body, and a completion of the old kind."""
    good = json.dumps(chat())
    assert ask({"body": b"\xef\xbb\xbf" + good.encode()})[0].text == "hello"
    assert ask({"body": "\n\n  " + good})[0].text == "hello"
    assert reply_to(choices=[{"text": "old", "finish_reason": "stop"}]).text == "old"
    assert reply_to(error=None).text == "hello"


def test_a_key_is_sent_as_a_bearer_and_only_when_there_is_one(monkeypatch):
    """The key of OpenAI's environment variable goes to OpenAI, and nowhere else by accident."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("MY_KEY", " sk-mine\n")
    with FakeServer([{"body": chat()}]) as server:
        for options in ({}, {"api_key": ""}, {"api_key": " sk-given\n"}, {"api_key_env": "MY_KEY"}):
            ChatCompletionsProvider(server.url, "m", **options).generate(HI)
        keys = [each.headers.get("authorization") for each in server.asked]
    assert keys == [None, None, "Bearer sk-given", "Bearer sk-mine"]
    assert ChatCompletionsProvider("https://api.openai.com/v1", "m").endpoint.key.reveal() == "sk-environment"
    assert ChatCompletionsProvider("https://api.openai.com/v1", "m", "").endpoint.key.reveal() == ""
    assert ChatCompletionsProvider("https://api.openai.com.evil.test/v1", "m").endpoint.key.reveal() == ""


def test_headers_of_the_user_win():
    """Azure's ``api-key``, a router's referer; the query goes along, too."""
    with FakeServer([{"body": chat()}]) as server:
        url = f"{server.url}?api-version=2026-01-01"
        headers = {"api-key": "abc", "authorization": "Custom x", "X-Title": "t"}
        ChatCompletionsProvider(url, "m", "sk-1", headers=headers).generate(HI)
        asked = server.asked[0]
    assert asked.path == "/v1/chat/completions?api-version=2026-01-01"
    assert asked.headers["api-key"] == "abc"
    assert asked.headers["authorization"] == "Custom x"
    assert asked.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"base_url": 3}, WrongType, "base_url"),
        ({"base_url": "ftp://x"}, ConfigurationError, "https://host/v1"),
        ({"base_url": "https://"}, ConfigurationError, "base_url"),
        ({"base_url": "https://a b/v1"}, ConfigurationError, "base_url"),
        ({"base_url": "https://a:99999/v1"}, ConfigurationError, "base_url"),
        ({"base_url": ""}, ConfigurationError, "base_url"),
        ({"model": ""}, ConfigurationError, "model"),
        ({"model": None}, WrongType, "model"),
        ({"api_key": 5}, WrongType, "API key"),
        ({"api_key": "sk\nx"}, ConfigurationError, "line break"),
        ({"api_key": "schlüssel"}, ConfigurationError, "no HTTP header can carry"),
        ({"max_tokens": 0}, ConfigurationError, "max_tokens"),
        ({"timeout": 0}, ConfigurationError, "timeout"),
        ({"deadline": True}, ConfigurationError, "deadline"),
        ({"headers": {"A b": "c"}}, ConfigurationError, "A b"),
        ({"headers": {"A": "b\r\nEvil: c"}}, ConfigurationError, "line break"),
        ({"headers": {"A": 1}}, WrongType, "headers"),
    ],
)
def test_wrong_options_are_errors_at_once(options, error, says):
    """That name the argument, and never show a key."""
    with pytest.raises(error, match=says) as caught:
        ChatCompletionsProvider(**{"base_url": "https://a.test/v1", "model": "m", **options})
    assert "sk\nx" not in str(caught.value)
    assert "schlüssel" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://a.test/v1/chat/completions/", "https://a.test/v1/chat/completions"),
        ("https://a.test//", "https://a.test/v1/chat/completions"),
        (
            "https://a.test/openai/deployments/d?api-version=1",
            "https://a.test/openai/deployments/d/chat/completions?api-version=1",
        ),
        ("https://g.test/v1beta/openai/", "https://g.test/v1beta/openai/chat/completions"),
        ("localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        ("[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
        ("api.example.test/v1", "https://api.example.test/v1/chat/completions"),
        ("HTTPS://a.test/v1", "https://a.test/v1/chat/completions"),
        ("'https://a.test/v1'", "https://a.test/v1/chat/completions"),
        ("https://a.test/v1#part", "https://a.test/v1/chat/completions"),
        ("https://user:pw@a.test/v1", "https://a.test/v1/chat/completions"),
    ],
)
def test_addresses_as_people_paste_them(base, url):
    """All lead to the endpoint."""
    assert ChatCompletionsProvider(base, "m").endpoint.url == url


def test_a_password_in_the_address_becomes_basic_authorization():
    """And is shown nowhere."""
    with FakeServer([{"body": chat()}]) as server:
        provider = ChatCompletionsProvider(f"http://me:p%40ssword@127.0.0.1:{server.port}/v1", "m")
        provider.generate(HI)
        assert server.asked[0].headers["authorization"] == "Basic bWU6cEBzc3dvcmQ="
    assert "ssword" not in repr(provider)


def test_a_server_that_wants_the_other_cap_gets_it():
    """At once, and from then on."""
    no = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    with FakeServer([{"status": 400, "body": no}, {"body": chat()}]) as server:
        provider = ChatCompletionsProvider(server.url, "m", max_tokens=5)
        assert provider.generate(HI).text == provider.generate(HI).text == "hello"
        assert [each.body.get("max_tokens") for each in server.asked] == [5, None, None]
        assert [each.body.get("max_completion_tokens") for each in server.asked] == [None, 5, 5]


def test_a_server_that_knows_no_stop_is_spared_it_and_the_reply_is_cut_here():
    """So that what was asked for is what comes back, streamed or not."""
    no = {"status": 400, "body": {"error": {"message": "Unsupported parameter: 'stop'", "param": "stop"}}}
    long = {"body": chat("Action: x\nObservation: made up")}
    with FakeServer([no, long]) as server:
        provider = ChatCompletionsProvider(server.url, "m", stop=["\nObservation:"])
        assert provider.generate(HI).text == "Action: x"
        assert list(provider.stream(HI))[:-1] == ["Action: x"]
        assert ["stop" in each.body for each in server.asked] == [True, False, False]


def events(*chunks, end=("data: [DONE]", "")):
    lines = []
    for each in chunks:
        lines += [f"data: {json.dumps(each)}", ""]
    return [*lines, *end]


def delta(content=None, reason=None, **more):
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": reason}], "model": "m"}


def streamed(lines, **response):
    with FakeServer([{"sse": lines, **response}]) as server:
        *chunks, reply = ChatCompletionsProvider(server.url, "m").stream(HI)
        body = server.asked[0].body
    assert body["stream"] is True
    return chunks, reply


CALL = {"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}


def test_a_stream_ends_in_the_reply_that_is_not_streamed():
    """Text, reasoning, tool calls in pieces, usage."""
    chunks, reply = streamed(
        events(
            delta("", role="assistant"),
            delta(None, reasoning="th"),
            delta(None, reasoning="ink"),
            delta("Hel"),
            delta("lo"),
            delta(None, tool_calls=[CALL]),
            delta(None, tool_calls=[{"index": 0, "function": {"arguments": '{"a":'}}]),
            delta(None, tool_calls=[{"index": 0, "function": {"arguments": " 1}"}}]),
            delta(None, tool_calls=[{"index": 1, "id": "d", "function": {"name": "g", "arguments": "{}"}}]),
            delta(None, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        )
    )
    assert chunks == ["Hel", "lo"]
    assert reply == Reply(
        "Hello", (ToolCall("f", {"a": 1}, "c"), ToolCall("g", {}, "d")), Usage(3, 4), "tool_calls", "think", "m"
    )


def test_streams_of_servers_that_do_it_their_way():
    """Comments, no index, no [DONE], carriage returns, half characters, no stream at all."""
    ok = delta("ok", "stop")
    assert streamed([": wait", "", *events(ok)])[0] == ["ok"]
    assert streamed(events(ok, end=()))[1].text == "ok"
    assert streamed(["\r\n".join(events(ok))])[1].text == "ok"
    assert streamed([f"data:{json.dumps(ok)}", "", "data:[DONE]"])[1].text == "ok"
    halves, reply = streamed(events(delta("\ud83d"), delta("\ude00 x", "stop")))
    assert (halves, reply.text) == (["\U0001f600 x"], "\U0001f600 x")
    whole = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    assert (
        streamed(events(delta(None, "stop", tool_calls=[whole, whole])))[1].tool_calls == (ToolCall("f", {}, "c"),) * 2
    )
    with FakeServer([{"body": chat()}]) as server:
        assert list(ChatCompletionsProvider(server.url, "m").stream(HI))[:-1] == ["hello"]


def test_a_server_that_streams_unasked_is_understood():
    """The events are put together."""
    with FakeServer([{"sse": events(delta("Hel"), delta("lo", "stop"))}]) as server:
        assert ChatCompletionsProvider(server.url, "m").generate(HI) == Reply("Hello", finish_reason="stop", model="m")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([], "truncated"),
        (events(delta("half"), end=()), "truncated"),
        (['data: {"choices": [{"del'], "truncated"),
        (['data: {"choi', "", *events(delta("x", "stop"))], "malformed"),
        (events({"error": {"message": "crashed", "code": 500}}), "server"),
        (events(delta("x"), {"error": "crashed"}), "api"),
        (['{"error": {"message": "crashed", "type": "overloaded_error"}}'], "server"),
        (events(), "malformed"),
        (events(delta("x", "content_filter")), "content_filter"),
    ],
)
def test_streams_that_are_no_replies(lines, kind):
    """Are errors, whatever of them has been handed on."""
    with FakeServer([{"sse": lines}]) as server, pytest.raises(ProviderError) as caught:
        list(ChatCompletionsProvider(server.url, "m").stream(HI))
    assert caught.value.kind == kind


def test_a_stream_can_be_left():
    """Closing the iterator closes the connection."""
    with FakeServer([{"sse": events(delta("a"), delta("b", "stop"))}]) as server:
        stream = ChatCompletionsProvider(server.url, "m").stream(HI)
        assert next(stream) == "a"
        stream.close()


def test_an_error_before_the_stream_begins_is_an_ordinary_one():
    """With its status."""
    with FakeServer([{"status": 401, "body": "no"}]) as server, pytest.raises(ProviderError) as caught:
        list(ChatCompletionsProvider(server.url, "m").stream(HI))
    assert (caught.value.kind, caught.value.status) == ("auth", 401)
