"""Models: where replies come from."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.providers.chat_completions import ChatCompletionsProvider
    from brain.providers.echo import LocalEchoProvider

__all__ = ["ChatCompletionsProvider", "LocalEchoProvider"]

_HOMES = {"ChatCompletionsProvider": "chat_completions", "LocalEchoProvider": "echo"}


def __getattr__(name: str) -> Any:
    # A provider is imported when it is named: most programs use one, or none.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"brain.providers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'brain.providers' has no attribute {name!r}")
