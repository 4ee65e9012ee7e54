"""The nouns: what models are asked and reply, what tools return, and what a run leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from brain.errors import BrainError
from brain.messages import Message

if TYPE_CHECKING:
    from brain.runtime.journal import ExecutionReport, Journal

__all__ = [
    "LLMProvider",
    "Message",
    "Observation",
    "PatternResult",
    "Reply",
    "Step",
    "ToolCall",
    "ToolSpec",
    "Usage",
]

ToolSpec = dict[str, Any]
"""A tool as a model is told of it, in the shape of Chat Completions:
``{"type": "function", "function": {"name": ..., "description": ..., "parameters": JSON schema}}``."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that model calls took; adds up with ``+``.

    ``input_tokens`` counts all input, cached input included, on every provider.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    """Input tokens that came from the provider's cache."""
    cache_write: int = 0
    """Input tokens that were written to the provider's cache."""
    reasoning: int = 0
    """Output tokens spent on hidden reasoning; they are part of ``output_tokens``."""

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model made natively.

    Args:
        name: the tool.
        arguments: the decoded JSON object; the raw text where it could not be decoded.
        id: the provider's name for the call; ``""`` where it gave none.
    """

    name: str
    arguments: dict[str, Any] | str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied.

    Args:
        text: the text of the reply, ``""`` when there was none.
        tool_calls: the native tool calls it made, in order.
        usage: tokens the call took, where the provider says.
        finish_reason: ``stop``, ``length``, ``tool_calls`` or ``content_filter``; ``None`` if unknown.
        reasoning: reasoning text that the provider keeps apart.
        model: the model's own name for itself.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    reasoning: str = ""
    model: str = ""

    @property
    def cut_off(self) -> bool:
        """Whether the provider stopped the model before it had finished."""
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a tool call; ``str(observation)`` is the text that a model is shown.

    Args:
        text: the result as a reader would want it, or what went wrong.
        ok: whether the tool ran and returned.
        value: what the tool returned, unshortened.
        kind: why ``ok`` is false: ``unknown_tool``, ``bad_arguments``, ``raised`` or ``timeout``.
        detail: more than a model should see, for the trace: the traceback of a tool that raised.
    """

    text: str
    ok: bool = True
    value: Any = None
    kind: str = ""
    detail: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Step:
    """One step of a run: what the model thought, what it did, and what it was shown of that.

    Steps are folded from the journal of a run, never written by a pattern.
    """

    index: int
    """Position in the run, from 0."""
    thought: str = ""
    """The reasoning before the action."""
    action: str | None = None
    """The tool that was called, if one was."""
    action_input: Any = None
    """What the tool was given: text, or a mapping of arguments."""
    observation: str = ""
    """What the model was shown of it."""
    text: str = ""
    """The model's reply as it came, without surrounding white space."""
    phase: str = ""
    """The stage of the pattern: ``plan``, ``critique``, ...; empty for a pattern with one stage."""
    agent: str = ""
    """Who did it, in a run with several agents."""
    usage: Usage | None = None
    """Tokens of the model call, where the provider says."""
    seconds: float = 0.0
    """Time in the model and the tool together."""


@dataclass(slots=True)
class PatternResult:
    """What a run came to. A run that failed is a result too: ``ok`` is false and ``error`` says why."""

    answer: str
    """The answer the model wrote; ``""`` or the last reply when there is none."""
    steps: list[Step] = field(default_factory=list)
    """All that was done, in order."""
    iterations: int = 0
    """Model replies received in the pattern's main loop."""
    ok: bool = True
    """Whether the run ended with an answer the model wrote."""
    error: str | None = None
    """What went wrong, in one sentence."""
    exception: BaseException | None = field(default=None, repr=False)
    """The typed error, with its cause."""
    usage: Usage | None = None
    """Tokens of all model calls together; ``None`` when no provider told."""
    seconds: float = 0.0
    """Wall time of the run; a resumed run counts from its resumption."""
    journal: Journal | None = field(default=None, repr=False, compare=False)
    """The record the run can be replayed or resumed from."""
    path: list[str] = field(default_factory=list)
    """The stages executed, in order, of a pattern that has stages; every round of a tool loop counts."""
    state: str = "TERMINATED"
    """The machine's last state: ``TERMINATED`` or ``INTERRUPTED``."""
    warnings: list[str] = field(default_factory=list)
    """What the answer stands in spite of: a limit that its last model call went over."""

    @property
    def report(self) -> ExecutionReport:
        """What the run has done, counted."""
        if self.journal is None:
            raise BrainError("this result has no journal to count")
        return self.journal.report()

    def raise_for_error(self) -> PatternResult:
        """Return this result if it is ok; raise its typed error otherwise."""
        if self.ok:
            return self
        if self.exception is not None:
            raise self.exception
        raise BrainError(self.error or "the run failed without saying why")


@runtime_checkable
class LLMProvider(Protocol):
    """Anything with ``generate(messages, tools=[], tool_choice="none")`` that returns a reply.

    A provider declares further abilities as attributes, and they are used only where declared:
    ``accepts_schema = True`` (``generate(..., schema=...)`` constrains the reply to a JSON schema),
    ``accepts_transcript = True`` (``messages`` may be a ``Transcript`` instead of a fresh list),
    ``stream(messages, ...)`` (yields text chunks, then a ``Reply``).
    """

    def generate(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ..., tool_choice: Any = ...) -> Any:
        """Ask the model once; return a ``Reply`` or any object whose ``text`` is the reply's text."""
        ...
