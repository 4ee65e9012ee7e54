"""A synchronous reference library of agent reasoning patterns, without dependencies.

    from brain.patterns import ReActAgent

    result = ReActAgent(tools={"search": search}).run("What is the capital of France?")
    print(result.answer)

A pattern is a policy, a generator of actions, and one kernel owns the only loop; so every pattern has
hooks, budgets, traces, interruption and replay.
"""

from typing import TYPE_CHECKING, Any

from brain._version import __version__
from brain.errors import (
    BrainError,
    BudgetExceeded,
    ConfigurationError,
    Interrupt,
    PolicyDenied,
    ProviderError,
    ReplayMismatch,
)
from brain.patterns import ReActAgent
from brain.policy import Act, Ask, Batch, Finish, Note, Policy, act, ask, delegate, note, together
from brain.runtime import Hook, Journal, Run, Runtime
from brain.types import LLMProvider, Message, Observation, PatternResult, Reply, Step, ToolCall, Usage

if TYPE_CHECKING:
    from brain.providers.chat_completions import ChatCompletionsProvider
    from brain.providers.echo import LocalEchoProvider

__all__ = [
    "Act",
    "Ask",
    "Batch",
    "BrainError",
    "BudgetExceeded",
    "ChatCompletionsProvider",
    "ConfigurationError",
    "Finish",
    "Hook",
    "Interrupt",
    "Journal",
    "LLMProvider",
    "LocalEchoProvider",
    "Message",
    "Note",
    "Observation",
    "PatternResult",
    "Policy",
    "PolicyDenied",
    "ProviderError",
    "ReActAgent",
    "ReplayMismatch",
    "Reply",
    "Run",
    "Runtime",
    "Step",
    "ToolCall",
    "Usage",
    "__version__",
    "act",
    "ask",
    "delegate",
    "note",
    "together",
]


def __getattr__(name: str) -> Any:
    # Providers are imported when they are named: most programs use one of them, or none.
    if name in ("ChatCompletionsProvider", "LocalEchoProvider"):
        from brain import providers

        return getattr(providers, name)
    raise AttributeError(f"module 'brain' has no attribute {name!r}")
