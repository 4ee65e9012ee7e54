"""The three dialects against a real server: what must hold whatever the model says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.errors import ProviderError
from brain.messages import assistant, system, tool_result, user
from brain.providers import AnthropicProvider, ChatCompletionsProvider, ResponsesProvider
from brain.types import Reply

DIALECTS = {"chat": ChatCompletionsProvider, "messages": AnthropicProvider, "responses": ResponsesProvider}
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["yes", "no"]}, "score": {"type": "integer"}},
    "required": ["verdict", "score"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
TALK = [system("You are brief.", cache_stable=True), user("Say hello.")]


@pytest.fixture(params=DIALECTS)
def make(request: Any) -> Any:
    return DIALECTS[request.param]


@pytest.fixture
def ask(make: Any, live_server: Any) -> Any:
    return lambda **options: make(live_server.base_url, live_server.model, timeout=60, temperature=0, **options)


def test_a_reply_has_text_usage_and_a_reason(ask: Any) -> None:
    """Eight tokens are too few for a story: the reply says that it was cut off."""
    reply = ask(max_tokens=8).generate([user("Tell a very long story.")])
    assert reply.text.strip()
    assert reply.cut_off
    assert reply.usage.output_tokens == 8
    assert reply.usage.input_tokens > 5


def test_a_stream_adds_up_to_its_reply(ask: Any) -> None:
    """The chunks are the text of the reply, which has all that one that is not streamed has."""
    *chunks, reply = ask(max_tokens=16).stream(TALK)
    assert len(chunks) > 1
    assert "".join(chunks) == reply.text
    assert isinstance(reply, Reply)
    assert reply.usage is not None
    assert reply.finish_reason in ("stop", "length")


def test_a_schema_is_kept_to(ask: Any, make: Any) -> None:
    """The text is an instance, streamed or not, where the server reads the schema of the dialect."""
    extra = {}
    if make is ResponsesProvider:  # llama.cpp reads this key there, and not the one of the Responses API
        extra = {"response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}}}
    provider = ask(max_tokens=64, extra_body=extra)
    question = [user("Is water wet? Reply as JSON.")]
    *_, streamed = provider.stream(question, schema=SCHEMA)
    for reply in (provider.generate(question, schema=SCHEMA), streamed):
        assert isinstance(reply, Reply)
        if make is not AnthropicProvider:  # llama.cpp passes the schema over there
            verdict = json.loads(reply.text)
            assert verdict.keys() == {"verdict", "score"}
            assert verdict["verdict"] in ("yes", "no")
            assert isinstance(verdict["score"], int)


def _shown(city: str, number: int) -> list[Any]:
    """A turn with a call: a model this small does what it has been shown."""
    call = {"id": f"c{number}", "function": {"name": "weather", "arguments": json.dumps({"city": city})}}
    return [user(f"Weather in {city}?"), assistant("", [call]), tool_result(f"c{number}", "sunny"), assistant("sunny")]


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_a_tool_is_called_and_its_result_understood(make: Any, tool_server: Any, choice: str) -> None:
    """A call comes natively, streamed or not; the conversation with its result goes on."""
    provider = make(tool_server.base_url, tool_server.model, timeout=60, temperature=0, max_tokens=64)
    question = [*_shown("Rome", 1), *_shown("Oslo", 2), user("Weather in Paris?")]
    *_, streamed = provider.stream(question, [WEATHER], choice)
    for reply in (provider.generate(question, [WEATHER], choice), streamed):
        (call,) = reply.tool_calls
        assert (call.name, call.arguments) == ("weather", {"city": "Paris"})
        assert call.id
        assert reply.finish_reason == "tool_calls"
    told = {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
    final = provider.generate(
        [*question, assistant(reply.text, [told]), tool_result(call.id, "sunny")], [WEATHER], "none"
    )
    assert final.text.strip()
    assert final.tool_calls == ()


def test_a_request_that_is_too_long_is_a_bad_request(ask: Any) -> None:
    """The server says so in its own words; it is not worth another try."""
    with pytest.raises(ProviderError) as caught:
        ask(max_tokens=8).generate([user("word " * 5000)])
    assert (caught.value.kind, caught.value.status, caught.value.retryable) == ("bad_request", 400, False)
    assert "context" in str(caught.value)
