"""What every provider does. To enrol one, add a line to ``PROVIDERS``."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import pytest

from brain.messages import Transcript, assistant, system, tool_result, user
from brain.providers import (
    AnthropicClientProvider,
    AnthropicProvider,
    Cached,
    ChatCompletionsProvider,
    Fallback,
    FaultyProvider,
    LocalEchoProvider,
    OpenAIClientProvider,
    RateLimited,
    Recording,
    ResponsesProvider,
    Retrying,
)
from brain.testing import ScriptedProvider
from brain.types import LLMProvider, Reply, ToolCall, Usage
from tests.providers.clients import Client
from tests.providers.model import model
from tests.providers.server import FakeServer

KEY = "sk-conformance-key"
SPEC = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}},
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}

# name: how to make it (of a server's address and a folder), whether it calls tools, and whether it travels
PROVIDERS = {
    "echo": (lambda url, folder: LocalEchoProvider(), False, True),
    "scripted": (lambda url, folder: ScriptedProvider(lambda messages, **_: messages[-1]["content"]), False, False),
    "chat": (lambda url, folder: ChatCompletionsProvider(url, "m", KEY), True, True),
    "messages": (lambda url, folder: AnthropicProvider(url, "m", KEY), True, True),
    "responses": (lambda url, folder: ResponsesProvider(url, "m", KEY), True, True),
    "openai client": (lambda url, folder: OpenAIClientProvider(Client(), "m"), True, False),
    "anthropic client": (lambda url, folder: AnthropicClientProvider(Client(), "m"), True, False),
    "retrying": (lambda url, folder: Retrying(ChatCompletionsProvider(url, "m", KEY)), True, True),
    "fallback": (lambda url, folder: Fallback(ChatCompletionsProvider(url, "m", KEY)), True, True),
    "limited": (lambda url, folder: RateLimited(AnthropicProvider(url, "m", KEY), max_concurrent=2), True, True),
    "cached": (lambda url, folder: Cached(ResponsesProvider(url, "m", KEY)), True, True),
    "faulty": (lambda url, folder: FaultyProvider(ChatCompletionsProvider(url, "m", KEY), {}), True, True),
    "recording": (
        lambda url, folder: Recording(ChatCompletionsProvider(url, "m", KEY), folder / "c.jsonl"),
        True,
        True,
    ),
}


@pytest.fixture(scope="module")
def server():
    with FakeServer([model]) as running:
        yield running


@pytest.fixture(params=PROVIDERS)
def made(request, server, tmp_path):
    make, calls, travels = PROVIDERS[request.param]
    return lambda: make(server.url, tmp_path), calls, travels


def test_it_replies(made):
    """To a list, a transcript, with and without the arguments that patterns pass."""
    provider = made[0]()
    assert isinstance(provider, LLMProvider)
    for reply in (
        provider.generate([user("hello")]),
        provider.generate([user("hello")], [], "none"),
        provider.generate([system("s"), user("hello")], tools=[], tool_choice="none"),
    ):
        assert type(reply) is Reply
        assert (reply.text, reply.tool_calls) == ("hello", ())
    if getattr(provider, "accepts_transcript", False):
        assert provider.generate(Transcript([user("hello")])).text == "hello"


def test_it_leaves_what_it_is_given_alone(made):
    """Messages, tools and schema are the same afterwards."""
    provider = made[0]()
    messages = [system("s", cache_stable=True), user("hello"), assistant("a"), user("b")]
    given = (messages, [SPEC], {"type": "function", "function": {"name": "f"}})
    before = copy.deepcopy(given)
    provider.generate(*given)
    if getattr(provider, "accepts_schema", False):
        provider.generate(messages, schema=SCHEMA)
    assert given == before


def test_a_stream_ends_in_the_reply_that_is_not_streamed(made):
    """And its chunks are the text of the reply, also with tool calls and a schema."""
    make, calls, _ = made
    if getattr(make(), "stream", None) is None:
        pytest.skip("it does not stream")
    asked = [(([user("hello there")],), {})]
    asked += [(([user("q")], [SPEC], "auto"), {})] if calls else []
    asked += [(([user("q")],), {"schema": SCHEMA})] if getattr(make(), "accepts_schema", False) else []
    for arguments, options in asked:
        *chunks, reply = make().stream(*arguments, **options)
        assert all(type(each) is str and each for each in chunks)
        assert "".join(chunks) == reply.text
        assert reply == make().generate(*arguments, **options)


def test_it_keeps_to_a_schema_where_it_says_so(made):
    """The reply is an instance."""
    provider = made[0]()
    if not getattr(provider, "accepts_schema", False):
        pytest.skip("it takes no schema")
    if isinstance(provider, ScriptedProvider):
        pytest.skip("it says what its script says")
    assert json.loads(provider.generate([user("q")], schema=SCHEMA).text) == {"n": 3}


def test_it_calls_tools_and_is_told_what_they_returned(made):
    """Natively; usage and reason come along."""
    make, calls, _ = made
    if not calls:
        pytest.skip("it calls no tools")
    provider = make()
    reply = provider.generate([user("q")], [SPEC], "required")
    assert reply.tool_calls == (ToolCall("f", {"x": 1}, "c1"),)
    assert reply.finish_reason == "tool_calls"
    assert reply.usage == Usage(10, 2, cache_read=4)
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    talk = [user("q"), assistant(reply.text, [call]), tool_result("c1", "42")]
    assert provider.generate(talk, [SPEC], "auto").text == "the tool said 42"
    assert provider.generate(talk).text == "the tool said 42"


def test_it_shows_no_key_and_travels_without_it(made):
    """In ``repr``, ``str`` and a pickle."""
    make, _, travels = made
    provider = make()
    for shown in (repr(provider), str(provider)):
        assert KEY not in shown
        assert "sk-of-the-client" not in shown
    if travels:
        packed = pickle.dumps(provider)
        assert KEY.encode() not in packed
        assert type(pickle.loads(packed)) is type(provider)


def test_threads_share_it(made):
    """Each gets the reply to its own question."""
    provider, wrong = made[0](), []

    def work(word):
        for number in range(3):
            if provider.generate([user(f"{word}{number}")]).text != f"{word}{number}":
                wrong.append(word)

    threads = [threading.Thread(target=work, args=(f"w{n}-",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
