"""Providers over the SDK clients of OpenAI and Anthropic, which the user makes and sets up.

Whatever a client can do (Azure, Bedrock, Vertex, proxies, its own authentication) works; no SDK is
imported here. Requests and replies are written and read as by the dialect's own provider.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.providers.anthropic import AnthropicProvider
from brain.providers.chat_completions import ChatCompletionsProvider
from brain.providers.failures import failed
from brain.providers.http import HTTPProvider
from brain.providers.secrets import Secret
from brain.providers.transport import Answer

__all__ = ["AnthropicClientProvider", "OpenAIClientProvider"]


class _Client(HTTPProvider):
    """Sends requests through a client instead of a transport."""

    client: Any
    needs = ""

    def _take(self, client: Any) -> str:
        """Keep the client and return the address it asks, as far as it tells."""
        if not callable(self._create(client)):
            raise WrongType(f"{type(self).__name__} needs a client with {self.needs}; got {type(client).__name__}")
        self.client = client
        url = str(getattr(client, "base_url", "") or "")
        return url if url.startswith(("http://", "https://")) else "https://client.invalid/v1"

    def _create(self, client: Any) -> Any:
        raise NotImplementedError

    def _know(self) -> None:
        # Not to be sent, but to be masked wherever it turns up.
        key = getattr(self.client, "api_key", None) or getattr(self.client, "auth_token", None)
        try:
            self.endpoint.key = Secret(key if isinstance(key, str) else "")
        except ConfigurationError:
            self.endpoint.key = Secret()

    def _request(self, messages: Any, tools: Any, tool_choice: Any, schema: Any) -> dict[str, Any]:
        return self._body(messages, tools, tool_choice, schema)

    def _post(self, body: Mapping[str, Any]) -> Answer:
        said = self._call({**body})
        return Answer(_plain(said))

    def _lines(self, body: Mapping[str, Any]) -> Generator[str | Answer, None, None]:
        failure: ProviderError | None = None
        said = self._call({**body})
        try:
            for event in said:
                yield f"data: {json.dumps(_plain(event))}\n"
                yield "\n"
        except ProviderError:
            raise
        except Exception as error:
            failure = self._told(error)
        if failure is not None:
            raise failure

    def _call(self, body: dict[str, Any]) -> Any:
        if self.extra_body:
            body["extra_body"] = self.extra_body
        try:
            return self._create(self.client)(**body)
        except ProviderError:
            raise
        except Exception as error:
            failure = self._told(error)
        raise failure

    def _told(self, error: Exception) -> ProviderError:
        """Return the ``ProviderError`` for what an SDK raised, told by what all of them give their errors."""
        name, status = type(error).__name__, getattr(error, "status_code", None)
        if isinstance(status, int):
            response = getattr(error, "response", None)
            headers = {str(k).lower(): str(v) for k, v in dict(getattr(response, "headers", None) or {}).items()}
            body = getattr(error, "body", None)
            problem = failed(status, body, str(error), headers, where=self.endpoint.shown, now=self.transport.now())
        else:
            kind = "timeout" if "Timeout" in name else "connection" if "Connection" in name else "unknown"
            problem = ProviderError(f"{self.endpoint.shown}: {name}: {error}", kind=kind, retryable=kind != "unknown")
        problem.args = (self.endpoint.scrub(str(problem)),)
        if self.endpoint.scrub(repr(error) + str(error)) == repr(error) + str(error):
            # The frames of an SDK hold the headers, so the cause comes without them.
            problem.__cause__ = error.with_traceback(None)
            error.__context__ = error.__cause__ = None
        return problem

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.client).__name__}, {self.model!r})"


class OpenAIClientProvider(_Client, ChatCompletionsProvider):
    """Asks through the user's own ``openai.OpenAI`` client, or one that looks like it.

    Args:
        client: the client; ``client.chat.completions.create`` is called.
        model: the model to ask.
        options: those of ``ChatCompletionsProvider``; time limits and headers are the client's.
    """

    needs = "chat.completions.create"

    def __init__(self, client: Any, model: str, **options: Any) -> None:
        super().__init__(self._take(client), model, "", **options)
        self._know()

    def _create(self, client: Any) -> Any:
        return getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)


class AnthropicClientProvider(_Client, AnthropicProvider):
    """Asks through the user's own ``anthropic.Anthropic`` client, or one that looks like it.

    Args:
        client: the client; ``client.messages.create`` is called.
        model: the model to ask.
        options: those of ``AnthropicProvider``; time limits and headers are the client's.
    """

    needs = "messages.create"

    def __init__(self, client: Any, model: str, **options: Any) -> None:
        super().__init__(self._take(client), model, "", **options)
        self._know()

    def _create(self, client: Any) -> Any:
        return getattr(getattr(client, "messages", None), "create", None)


def _plain(said: Any) -> Any:
    """Return what an SDK returned as JSON values."""
    dump = getattr(said, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    return said
