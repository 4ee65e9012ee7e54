"""The lines of a script: what the model says, what a tool returns, what fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brain.errors import BrainError, ProviderError
from brain.types import Observation, Reply, ToolCall, Usage

__all__ = ["Fails", "Returns", "Says", "calls", "fails", "returns", "says"]


@dataclass(frozen=True, slots=True)
class Says:
    """A line of the model."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Returns:
    """A line of a tool."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class Fails:
    """A line that is an error."""

    error: BrainError


def says(
    text: str = "",
    *tool_calls: ToolCall,
    usage: Usage | None = None,
    finish_reason: str | None = None,
) -> Says:
    """The model says ``text``, and makes native tool calls, if any are given."""
    return Says(Reply(text, tool_calls, usage, finish_reason))


def calls(tool: str, /, **arguments: Any) -> ToolCall:
    """A native tool call, for ``says``."""
    return ToolCall(tool, arguments)


def returns(value: Any, *, ok: bool = True) -> Returns:
    """A tool returns ``value``; its text is what the model is shown."""
    return Returns(value if isinstance(value, Observation) else Observation(str(value), ok, value))


def fails(error: Exception | str) -> Fails:
    """The model call or the tool call fails; what is no error of this library becomes a ``ProviderError``."""
    if isinstance(error, BrainError):
        return Fails(error)
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    wrapped = ProviderError(text)
    if isinstance(error, Exception):
        wrapped.__cause__ = error
    return Fails(wrapped)
