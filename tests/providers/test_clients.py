from __future__ import annotations

from types import SimpleNamespace

import pytest

from brain.errors import ProviderError, WrongType
from brain.messages import user
from brain.providers import AnthropicClientProvider, OpenAIClientProvider
from tests.providers.clients import Client

HI = [user("hi")]


class APITimeoutError(Exception):
    pass


class APIConnectionError(Exception):
    pass


class StatusError(Exception):
    def __init__(self, message, status_code, body, headers):
        super().__init__(message)
        self.status_code, self.body = status_code, body
        self.response = SimpleNamespace(headers=headers)


def raising(error):
    def create(**_):
        raise error

    client = Client()
    client.chat.completions.create = client.messages.create = create
    return client


def test_requests_are_those_of_the_dialect():
    """Private keys stay here; extra keys go where the SDK takes them."""
    client = Client()
    OpenAIClientProvider(client, "m", extra_body={"seed": 1}).generate([{**HI[0], "cache_stable": True}])
    AnthropicClientProvider(client, "m", max_tokens=5).generate(HI)
    hi = {"role": "user", "content": "hi"}
    assert client.asked[0] == {"model": "m", "messages": [hi], "max_tokens": 4096, "extra_body": {"seed": 1}}
    assert client.asked[1]["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    assert client.asked[1]["max_tokens"] == 5


def test_a_client_for_openai_itself_is_sent_the_cap_it_wants():
    """As its ``base_url`` tells."""
    client = Client()
    client.base_url = "https://api.openai.com/v1/"
    OpenAIClientProvider(client, "m").generate(HI)
    assert "max_completion_tokens" in client.asked[0]


@pytest.mark.parametrize("make", [OpenAIClientProvider, AnthropicClientProvider])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (APITimeoutError("slow"), "timeout", True),
        (APIConnectionError("gone"), "connection", True),
        (StatusError("no", 401, {"message": "bad key"}, {}), "auth", False),
        (StatusError("no", 429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}), "rate_limit", True),
        (ValueError("odd"), "unknown", False),
    ],
)
def test_what_an_sdk_raises(make, stream, error, kind, retryable):
    """Becomes an error of the right kind, with the original as its cause, and without its frames."""
    provider = make(raising(error), "m")
    with pytest.raises(ProviderError) as caught:
        list(provider.stream(HI)) if stream else provider.generate(HI)
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
    assert caught.value.__cause__ is error
    assert error.__traceback__ is None
    assert caught.value.retry_after == (7.0 if kind == "rate_limit" else None)


def test_an_error_that_quotes_the_key_is_masked():
    """And is no cause, because it would show it."""
    provider = OpenAIClientProvider(raising(ValueError("key sk-of-the-client")), "m")
    with pytest.raises(ProviderError, match=r"key \*\*\*") as caught:
        provider.generate(HI)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_stream_of_a_client_that_breaks():
    """Ends as an error, and one without its end marker is one."""

    def broken():
        yield {"choices": [{"delta": {"content": "half"}}]}
        raise APIConnectionError("gone")

    client = Client()
    client.chat.completions.create = lambda **_: broken()
    got = []
    with pytest.raises(ProviderError) as caught:
        got.extend(OpenAIClientProvider(client, "m").stream(HI))
    assert caught.value.kind == "connection"
    client.chat.completions.create = lambda **_: iter([{"choices": [{"delta": {"content": "half"}}]}])
    client.messages.create = lambda **_: iter([{"type": "message_start", "message": {}}])
    for make in (OpenAIClientProvider, AnthropicClientProvider):
        with pytest.raises(ProviderError) as caught:
            list(make(client, "m").stream(HI))
        assert caught.value.kind == "truncated"


@pytest.mark.parametrize("make", [OpenAIClientProvider, AnthropicClientProvider])
def test_what_is_no_client(make):
    """Is an error at once."""
    with pytest.raises(WrongType, match=r"needs a client with .*create; got object"):
        make(object(), "m")
