"""Models: where replies come from.

``ChatCompletionsProvider``, ``AnthropicProvider`` and ``ResponsesProvider`` ask servers over HTTP;
``LocalEchoProvider`` needs none. The others are providers made of providers: they retry, fall back, pace,
remember, record and replay. ``provider("openai:gpt-5-mini")`` makes one from a line of text.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.providers.anthropic import AnthropicProvider
    from brain.providers.cached import Cached
    from brain.providers.cassettes import CassetteMismatch, Recording, Replaying, cassette
    from brain.providers.chat_completions import ChatCompletionsProvider
    from brain.providers.clients import AnthropicClientProvider, OpenAIClientProvider
    from brain.providers.echo import LocalEchoProvider
    from brain.providers.fallback import Fallback
    from brain.providers.faulty import FaultyProvider
    from brain.providers.limited import RateLimited
    from brain.providers.prices import Bill, Price, cost, estimate_tokens, tally
    from brain.providers.resolve import provider
    from brain.providers.responses import ResponsesProvider
    from brain.providers.retrying import Retrying
    from brain.providers.text_tools import TextToolsProvider
    from brain.providers.transport import Transport

_HOMES = {
    "AnthropicClientProvider": "clients",
    "AnthropicProvider": "anthropic",
    "Bill": "prices",
    "Cached": "cached",
    "CassetteMismatch": "cassettes",
    "ChatCompletionsProvider": "chat_completions",
    "Fallback": "fallback",
    "FaultyProvider": "faulty",
    "LocalEchoProvider": "echo",
    "OpenAIClientProvider": "clients",
    "Price": "prices",
    "RateLimited": "limited",
    "Recording": "cassettes",
    "Replaying": "cassettes",
    "ResponsesProvider": "responses",
    "Retrying": "retrying",
    "TextToolsProvider": "text_tools",
    "Transport": "transport",
    "cassette": "cassettes",
    "cost": "prices",
    "estimate_tokens": "prices",
    "provider": "resolve",
    "tally": "prices",
}

__all__ = [
    "AnthropicClientProvider",
    "AnthropicProvider",
    "Bill",
    "Cached",
    "CassetteMismatch",
    "ChatCompletionsProvider",
    "Fallback",
    "FaultyProvider",
    "LocalEchoProvider",
    "OpenAIClientProvider",
    "Price",
    "RateLimited",
    "Recording",
    "Replaying",
    "ResponsesProvider",
    "Retrying",
    "TextToolsProvider",
    "Transport",
    "cassette",
    "cost",
    "estimate_tokens",
    "provider",
    "tally",
]


def __getattr__(name: str) -> Any:
    # A provider is imported when it is named: most programs use one, or none.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"brain.providers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'brain.providers' has no attribute {name!r}")
