from __future__ import annotations

import pytest

from brain.errors import ConfigurationError, WrongType
from brain.providers import (
    AnthropicProvider,
    ChatCompletionsProvider,
    LocalEchoProvider,
    ResponsesProvider,
    Retrying,
    provider,
)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("BRAIN_MODEL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-a")


@pytest.mark.parametrize(
    ("spec", "kind", "url", "model", "key"),
    [
        (
            "openai:gpt-5-mini",
            ChatCompletionsProvider,
            "https://api.openai.com/v1/chat/completions",
            "gpt-5-mini",
            "sk-o",
        ),
        ("responses:gpt-5-pro", ResponsesProvider, "https://api.openai.com/v1/responses", "gpt-5-pro", "sk-o"),
        ("anthropic:claude-x", AnthropicProvider, "https://api.anthropic.com/v1/messages", "claude-x", "sk-a"),
        ("ollama:qwen3:8b", ChatCompletionsProvider, "http://localhost:11434/v1/chat/completions", "qwen3:8b", ""),
        (" http://h.test:1/v1#org/m ", ChatCompletionsProvider, "http://h.test:1/v1/chat/completions", "org/m", ""),
        ("http://h.test:1#m", ChatCompletionsProvider, "http://h.test:1/v1/chat/completions", "m", ""),
        ("anthropic+http://h.test:1#m", AnthropicProvider, "http://h.test:1/v1/messages", "m", ""),
        ("responses+https://h.test/v1#m", ResponsesProvider, "https://h.test/v1/responses", "m", ""),
    ],
)
def test_names(spec, kind, url, model, key):
    """Lead to a provider that asks again where that helps."""
    made = provider(spec)
    assert type(made) is Retrying
    inner = made.inner
    assert (type(inner), inner.endpoint.url, inner.model, inner.endpoint.key.reveal()) == (kind, url, model, key)
    assert type(provider(spec, max_retries=0)) is kind


def test_the_echo_and_the_environment(monkeypatch):
    """``BRAIN_MODEL`` counts where nothing is named, and the echo where there is none."""
    assert type(provider("echo")) is type(provider()) is LocalEchoProvider
    monkeypatch.setenv("BRAIN_MODEL", "http://h.test#m")
    assert provider().inner.model == "m"
    made = LocalEchoProvider()
    assert provider(made) is made


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:1234", "http://box:1234/v1"),
        ("https://box.test:1/", "https://box.test:1/v1"),
    ],
)
def test_ollama_may_be_elsewhere(monkeypatch, host, url):
    """``OLLAMA_HOST`` holds where it listens."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert provider("ollama:m").inner.endpoint.shown == url + "/chat/completions"


def test_options_reach_the_provider():
    """A key, a cap, a time limit."""
    made = provider("openai:m", api_key="sk-mine", max_tokens=7, timeout=3.0, max_retries=5)
    assert (made.max_retries, made.inner.max_tokens, made.inner.transport.timeout) == (5, 7, 3.0)
    assert made.inner.endpoint.key.reveal() == "sk-mine"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("gpt-5", "did you mean openai:gpt-5"),
        ("mistral:x", "Known forms: echo, openai:MODEL"),
        ("openai:", "openai:MODEL"),
        ("http://me:pw@h.test/v1?key=x", "after a #, as http://h.test/v1#MODEL"),
        ("soap+http://h.test#m", "no dialect 'soap'"),
        ("ftp://h.test#m", "https://host/v1"),
    ],
)
def test_names_nobody_has(spec, says):
    """Are errors that say what there is."""
    with pytest.raises(ConfigurationError, match=says.replace("?", r"\?")) as caught:
        provider(spec)
    assert "pw" not in str(caught.value)
    with pytest.raises(WrongType):
        provider(7)


@pytest.mark.parametrize("spec", ["openai:m", "responses:m", "anthropic:m"])
def test_a_missing_key_is_told_at_once(monkeypatch, spec):
    """With the name of the variable to set."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigurationError, match=r"set the environment variable (OPENAI|ANTHROPIC)_API_KEY"):
        provider(spec)
