"""Performing: the model is asked, tools are called, programs are run. Nothing else in the runtime does anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from brain.errors import BrainError, HookError, PolicyDenied, ProviderError, ReplayMismatch
from brain.policy import Act, Ask, Execute, Work
from brain.tools import Toolset
from brain.types import LLMProvider, Observation, Reply, ToolCall, ToolSpec, Usage

if TYPE_CHECKING:
    from brain.runtime.calls import Calls
    from brain.runtime.chokepoints import Chokepoints
    from brain.runtime.journal import Outcome
    from brain.sandbox.base import ProgramReport, Sandbox

__all__ = ["Performer"]


class Performer:
    """Performs actions with a provider, tools, and an executor for programs.

    Args:
        provider: the model to ask.
        tools: the tools to call.
        sandbox: runs programs; by default the first executor here that gives every guarantee, looked for when
            the first program comes.
        timer: monotonic time in seconds.
    """

    def __init__(
        self, provider: LLMProvider, tools: Toolset, sandbox: Sandbox | None, timer: Callable[[], float]
    ) -> None:
        self.provider, self.tools, self.sandbox = provider, tools, sandbox
        self._timer = timer
        self._takes_schema = bool(getattr(provider, "accepts_schema", False))
        self._takes_transcript = bool(getattr(provider, "accepts_transcript", False))
        self.streams = callable(getattr(provider, "stream", None))

    def perform(self, action: Work, gate: Chokepoints, calls: Calls) -> Outcome:
        """Perform an action and return its outcome.

        Args:
            action: what to do.
            gate: asked about each call that a program makes.
            calls: the record of them.
        """
        if isinstance(action, Ask):
            return self._ask(action)
        if isinstance(action, Execute):
            return self._execute(action, gate, calls)
        return self._act(action)

    def _act(self, action: Act) -> Observation:
        if action.id and isinstance(action.input, str):
            return self.tools.call_raw(action.tool, action.input)
        return self.tools.call(action.tool, action.input)

    def _ask(self, action: Ask) -> Reply:
        with _as_provider_error():
            said = self._generate(action)
        return said if type(said) is Reply and type(said.text) is str else _as_reply(said)

    def _generate(self, action: Ask) -> Any:
        messages, tools, choice = self._request(action)
        return self.provider.generate(messages, tools=tools, tool_choice=choice, **self._schema(action))

    def ask_piecewise(self, action: Ask) -> Iterator[str | Reply]:
        """Ask a provider that streams; yield the pieces of its reply, then the reply."""
        stream: Any = self.provider
        reply: Reply | None = None
        with _as_provider_error():
            messages, tools, choice = self._request(action)
            for piece in stream.stream(messages, tools=tools, tool_choice=choice, **self._schema(action)):
                if isinstance(piece, str):
                    yield piece
                else:
                    reply = _as_reply(piece)
        if reply is None:
            raise ProviderError("the provider's stream ended without a Reply", kind="malformed")
        yield reply

    def _request(self, action: Ask) -> tuple[Any, list[ToolSpec], Any]:
        messages = action.messages if self._takes_transcript else action.messages.to_list()
        return messages, list(action.tools), action.tool_choice

    def _schema(self, action: Ask) -> dict[str, Any]:
        return {"schema": action.schema} if action.schema is not None and self._takes_schema else {}

    def _execute(self, action: Execute, gate: Chokepoints, calls: Calls) -> ProgramReport:
        if self.sandbox is None:
            from brain.sandbox import sandbox

            self.sandbox = sandbox("auto")
        crashed: list[BrainError] = []

        def on_call(name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
            names = [each.name for each in self.tools[name].plan.parameters]
            given: Any = {**dict(zip(names, args, strict=False)), **kwargs}
            if self.tools[name].plan.opaque and len(args) == 1 and not kwargs:
                given = args[0] if not isinstance(args[0], str) else {"input": args[0]}
            wanted = Act(name, given, phase=action.phase, agent=action.agent)
            began = self._timer()
            try:
                known = calls.known(wanted)
                if known is not None:
                    if known.kind == "denied":
                        raise PolicyDenied(known.text)
                    return _value(name, known)
            except ReplayMismatch as error:
                crashed.append(error)
                raise
            try:
                call, answer = gate.before(wanted)
                if answer is None:
                    calls.begin(wanted)
                seen = self._act(call) if answer is None and isinstance(call, Act) else answer
                assert isinstance(seen, Observation)  # the gate gives nothing else for a tool call
                seen = gate.after(call, seen)
                assert isinstance(seen, Observation)
            except HookError as error:  # the program may catch it; the run must not go on all the same
                crashed.append(error)
                raise
            except BrainError as error:
                calls.made(wanted, Observation(str(error), ok=False, kind="denied"), self._timer() - began)
                raise
            calls.made(wanted, seen, self._timer() - began)
            return _value(name, seen)

        tools = {name: tool.call for name, tool in self.tools.items()}
        report = self.sandbox.run(
            action.program,
            tools,
            on_call=on_call,
            timeout=action.timeout,
            max_tool_calls=action.max_tool_calls,
        )
        if crashed:
            raise crashed[0]
        return report


def _value(tool: str, seen: Observation) -> Any:
    """Return what a program gets of an observation: the value itself, or the exception that the tool raised."""
    if seen.ok:
        return seen.text if seen.value is None and seen.text != "None" else seen.value
    kinds = {"bad_arguments": TypeError, "timeout": TimeoutError, "unknown_tool": NameError}
    if seen.kind in kinds:
        raise kinds[seen.kind](seen.text)
    name, _, said = seen.text.removeprefix(f"{tool} failed: ").partition(": ")
    if name == "KeyError" and said[:1] == said[-1:] and said[:1] in ("'", '"'):  # its text is the repr of the key
        said = said[1:-1]
    raise type(name if name.isidentifier() else "ToolError", (Exception,), {})(said or seen.text)


@contextmanager
def _as_provider_error() -> Iterator[None]:
    """What a provider raises is a ``ProviderError``, with the original as its cause."""
    try:
        yield
    except BrainError:
        raise
    except Exception as error:
        raise ProviderError(f"{type(error).__name__}: {error}") from error


def _as_reply(said: Any) -> Reply:
    """Read what a provider returned: anything with a ``text``, or the text itself."""
    text = said if isinstance(said, str) else getattr(said, "text", _MISSING)
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise ProviderError(
            f"the provider returned {type(said).__name__}; expected a Reply or an object whose text is a str",
            kind="malformed",
        )
    usage, calls = getattr(said, "usage", None), getattr(said, "tool_calls", None) or ()
    reason = getattr(said, "finish_reason", None)
    return Reply(
        text,
        tuple(call for call in calls if isinstance(call, ToolCall)),
        usage if isinstance(usage, Usage) else None,
        reason if isinstance(reason, str) else None,
        str(getattr(said, "reasoning", "") or ""),
        str(getattr(said, "model", "") or ""),
    )


_MISSING = object()
