"""A provider out of a line of text, as it stands on a command line or in an environment variable."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from brain.errors import ConfigurationError, WrongType

__all__ = ["provider"]

_FORMS = (
    "echo, openai:MODEL, responses:MODEL, anthropic:MODEL, ollama:MODEL, http://HOST:PORT/v1#MODEL "
    "(also as anthropic+http://… and responses+http://…)"
)


def provider(spec: Any = None, *, max_retries: int = 2, **options: Any) -> Any:
    """Return the provider that a text names: ``echo``, ``openai:gpt-5-mini``, ``http://localhost:8080/v1#qwen3``.

    Args:
        spec: the text; ``None`` takes the environment variable ``BRAIN_MODEL``, and the echo where there is
            none. A provider is returned as it is.
        max_retries: how many times a failed request is sent again; 0 leaves ``Retrying`` away.
        options: passed to the provider: ``api_key``, ``max_tokens``, ``timeout``, ...

    Raises:
        ConfigurationError: nothing is named so, or its key is missing; the message says what to do.
    """
    if spec is not None and callable(getattr(spec, "generate", None)):
        return spec
    if spec is None:
        spec = os.environ.get("BRAIN_MODEL", "").strip() or "echo"
    if not isinstance(spec, str):
        raise WrongType(f"a model is a text ({_FORMS}) or a provider; got {type(spec).__name__}")
    made = _made(spec.strip(), options)
    from brain.providers.echo import LocalEchoProvider

    if max_retries == 0 or isinstance(made, LocalEchoProvider):
        return made
    from brain.providers.retrying import Retrying

    return Retrying(made, max_retries=max_retries)


def _made(spec: str, options: dict[str, Any]) -> Any:
    if spec == "echo":
        from brain.providers.echo import LocalEchoProvider

        return LocalEchoProvider()
    if "://" in spec:
        base, _, model = spec.partition("#")
        if not model:
            raise ConfigurationError(f"which model? write it after a #, as {_bare(base)}#MODEL")
        dialect, plus, rest = base.partition("+")
        if not plus or "://" in dialect:
            dialect, rest = "chat", base
        if dialect not in _DIALECTS:
            raise ConfigurationError(f"there is no dialect {dialect!r}; known are {', '.join(_DIALECTS)}")
        return _DIALECTS[dialect]()(rest, model, **options)
    name, colon, model = spec.partition(":")
    if colon and not model.strip():
        raise ConfigurationError(f"which model? write it after the colon, as {name}:MODEL")
    if name == "ollama" and colon:
        return _chat()(_ollama(), model, **options)
    if name in _HOSTED and colon:
        make, url = _HOSTED[name]
        made = make()(url, model, **options)
        if not made.endpoint.key.reveal() and not options.get("headers"):
            raise ConfigurationError(f"{spec} needs a key: set the environment variable {made.variable}")
        return made
    hint = f"; did you mean openai:{spec}?" if spec and not colon else ""
    raise ConfigurationError(f"no provider is named {spec!r}{hint} Known forms: {_FORMS}")


def _chat() -> Any:
    from brain.providers.chat_completions import ChatCompletionsProvider

    return ChatCompletionsProvider


def _messages() -> Any:
    from brain.providers.anthropic import AnthropicProvider

    return AnthropicProvider


def _responses() -> Any:
    from brain.providers.responses import ResponsesProvider

    return ResponsesProvider


_DIALECTS: dict[str, Callable[[], Any]] = {"chat": _chat, "anthropic": _messages, "responses": _responses}

_HOSTED: dict[str, tuple[Callable[[], Any], str]] = {
    "openai": (_chat, "https://api.openai.com/v1"),
    "responses": (_responses, "https://api.openai.com/v1"),
    "anthropic": (_messages, "https://api.anthropic.com"),
}


def _ollama() -> str:
    """Return Ollama's address; ``OLLAMA_HOST`` may hold the one it listens at."""
    host = os.environ.get("OLLAMA_HOST", "").strip() or "localhost:11434"
    scheme, _, place = host.rpartition("://")
    place = place.rstrip("/").replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - "everywhere" is no place to ask
    if ":" not in place:
        place += ":11434"
    return f"{scheme or 'http'}://{place}/v1"


def _bare(url: str) -> str:
    scheme, _, place = url.partition("://")
    return f"{scheme}://{place.rpartition('@')[2].partition('?')[0]}"
