"""The kernel: the only loop in the library.

It performs what a run wants, asks the hooks at the chokepoints, and tells the run what came of it.

Rules:

- ``stream`` is the loop; ``run`` drains it. What listens can never change what happens.
- An exception of a provider becomes a ``ProviderError`` with the original as its cause; one of a hook
  becomes a ``HookError`` and ends the run. ``KeyboardInterrupt``, ``SystemExit`` and their kin get
  through, carrying what was done so far as ``partial_result``.
- A batch is performed in order, or on threads; its journal is in order either way.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from brain.errors import BrainError, HookError, Interrupt, Interrupted, PolicyDenied, ProviderError
from brain.policy import Act, Ask, Policy
from brain.runtime.events import ActionEnded, ActionStarted, Event, Noted, RunEnded, RunStarted, StepEnded
from brain.runtime.hooks import Hook, Hooks, named
from brain.runtime.journal import Entry, described
from brain.runtime.run import Outcome, Run
from brain.tools import Toolset
from brain.types import LLMProvider, Observation, PatternResult, Reply, ToolCall, Usage

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Runtime"]


class Runtime:
    """Performs the actions of policies.

    Args:
        provider: the model to ask.
        tools: the tools to call.
        hooks: what watches and governs, outermost first.
        max_workers: how many actions of a batch may be under way at once; 1 performs them in order.
        clock: wall-clock time in seconds since the epoch, for the record.
        timer: monotonic time in seconds, for durations.
    """

    def __init__(
        self,
        provider: LLMProvider,
        tools: Toolset | None = None,
        hooks: Iterable[Hook] = (),
        *,
        max_workers: int = 1,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.provider = provider
        self.tools = Toolset() if tools is None else tools
        self.hooks = Hooks(hooks)
        self.max_workers = max_workers
        self._clock = clock
        self._timer = timer
        self._asked_with_schema = bool(getattr(provider, "accepts_schema", False))
        self._asked_with_transcript = bool(getattr(provider, "accepts_transcript", False))

    def run(
        self,
        policy: Policy[Any],
        journal: Iterable[Entry] = (),
        *,
        pattern: str = "",
        task: str = "",
        on_event: Callable[[Event], object] | None = None,
    ) -> PatternResult:
        """Execute a policy and return what it came to.

        Args:
            policy: the generator to execute.
            journal: entries of an interrupted run to take up; they are not performed again.
            pattern: the name of the pattern, for the record and for error messages.
            task: the task, for the record.
            on_event: called with each event; when it raises, a warning says so once and the run goes on.
        """
        for event in self.stream(policy, journal, pattern=pattern, task=task):
            if on_event is not None:
                try:
                    on_event(event)
                except Exception as error:
                    warnings.warn(
                        f"on_event raised {type(error).__name__}: {error}; the run goes on without it",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                    on_event = None
        if not isinstance(event, RunEnded):  # a stream always ends so; a hook cannot change it
            raise AssertionError("the stream of a run ended without RunEnded")
        return event.result

    def stream(
        self, policy: Policy[Any], journal: Iterable[Entry] = (), *, pattern: str = "", task: str = ""
    ) -> Iterator[Event]:
        """Execute a policy, yielding each event as it happens; the last one is ``RunEnded``."""
        began = self._timer()
        run, done, hooks = Run(policy, pattern=pattern, task=task), list(journal), self.hooks
        executor: Executor | None = None
        try:
            try:
                run.start()
                for entry in done:
                    run.replay(entry)
                hooks = self._hooks_of(done)
                self._open(run, hooks)
                yield RunStarted(pattern, task, len(done))
                seen, told = len(done), len(run.fold.completed)
                yield from _noted(run.journal.entries[seen:])
                while not run.done:
                    seen = len(run.journal)
                    if self.max_workers > 1 and len(run.waiting) > 1:
                        executor = executor or self._executor()
                        yield from self._side_by_side(run, hooks, executor)
                    else:
                        yield from self._one(run, hooks)
                    yield from _noted(run.journal.entries[seen:])
                    for step in run.fold.completed[told:]:
                        yield StepEnded(step)
                    told = len(run.fold.completed)
            except Interrupt as stop:
                run.interrupt()
                run.error = Interrupted(str(stop) or f"interrupted before: {described(run.current)}")
            except HookError as error:
                run.fail(error)
            result = run.result(seconds=self._timer() - began)
            self._close(run, hooks, result)
            yield RunEnded(result)
        except GeneratorExit:
            raise
        except BaseException as error:
            # What was done is not lost with what went wrong.
            error.partial_result = run.result(seconds=self._timer() - began)  # type: ignore[attr-defined]
            raise
        finally:
            policy.close()
            if executor is not None:
                executor.shutdown(wait=False, cancel_futures=True)

    def _hooks_of(self, done: list[Entry]) -> Hooks:
        try:
            return self.hooks.for_run(done)
        except BrainError:
            raise
        except Exception as error:
            raise HookError(f"for_run of a hook raised {type(error).__name__}: {error}") from error

    def _open(self, run: Run, hooks: Hooks) -> None:
        for tell in hooks.at("pre_execution"):
            try:
                self._ask_hook(tell, run.journal.pattern, run.journal.task)
            except BrainError as error:
                if not run.done:
                    run.fail(error)

    def _close(self, run: Run, hooks: Hooks, result: PatternResult) -> None:
        for tell in hooks.at("post_execution"):
            try:
                self._ask_hook(tell, result)
            except BrainError as error:
                result.ok, result.error, result.exception = False, run.sentence(error), error

    def _one(self, run: Run, hooks: Hooks) -> Iterator[Event]:
        """Perform the current action."""
        index, wanted = len(run.journal), run.current
        yield ActionStarted(index, wanted)
        at, began = self._clock(), self._timer()
        action = wanted
        try:
            action, outcome = self._before(hooks, wanted)
            if outcome is None:
                outcome = self._perform(action)
            outcome = self._after(hooks, action, outcome)
        except HookError:
            raise
        except BrainError as error:
            outcome = error
        self._tell(run, wanted, action, outcome, at, self._timer() - began)
        yield ActionEnded(index, run.journal[index])

    def _side_by_side(self, run: Run, hooks: Hooks, executor: Executor) -> Iterator[Event]:
        """Perform all waiting actions at once: hooks before in order, the work on threads, hooks after in order."""
        index, waiting, at = len(run.journal), run.waiting, self._clock()
        prepared: list[tuple[Ask | Act, Outcome | None]] = []
        for position, wanted in enumerate(waiting):
            yield ActionStarted(index + position, wanted)
            try:
                prepared.append(self._before(hooks, wanted))
            except HookError:
                raise
            except BrainError as error:
                prepared.append((wanted, error))
        futures = [executor.submit(self._timed, action) if outcome is None else None for action, outcome in prepared]
        for position, (wanted, (action, ready), future) in enumerate(zip(waiting, prepared, futures, strict=True)):
            outcome, seconds = (ready, 0.0) if future is None else future.result()
            assert outcome is not None  # one of the two has made it
            if not isinstance(outcome, BrainError):
                try:
                    outcome = self._after(hooks, action, outcome)
                except HookError:
                    raise
                except BrainError as error:
                    outcome = error
            self._tell(run, wanted, action, outcome, at, seconds)
            yield ActionEnded(index + position, run.journal[index + position])

    def _timed(self, action: Ask | Act) -> tuple[Outcome, float]:
        began = self._timer()
        try:
            outcome: Outcome = self._perform(action)
        except BrainError as error:
            outcome = error
        return outcome, self._timer() - began

    def _tell(
        self, run: Run, wanted: Ask | Act, action: Ask | Act, outcome: Outcome, at: float, seconds: float
    ) -> None:
        performed = None if action is wanted else action
        tell: Callable[..., None] = run.throw if isinstance(outcome, BrainError) else run.send
        tell(outcome, performed=performed, at=at, seconds=seconds)

    def _before(self, hooks: Hooks, action: Ask | Act) -> tuple[Ask | Act, Outcome | None]:
        """Ask the hooks; return the action to perform, or the outcome that makes performing it needless."""
        kind, answer = (Ask, Reply) if isinstance(action, Ask) else (Act, Observation)
        for check in hooks.at("pre_llm_call" if kind is Ask else "pre_tool_call"):
            try:
                said = self._ask_hook(check, action)
            except PolicyDenied as denial:
                if denial.denied_action is None:
                    denial.denied_action = action
                for tell in hooks.at("governance_denied"):
                    self._ask_hook(tell, action, denial)
                raise
            if isinstance(said, answer):
                return action, said
            if isinstance(said, kind):
                action = said
            elif said is not None:
                self._wrong(check, said, f"None, {kind.__name__} or {answer.__name__}")
        return action, None

    def _after(self, hooks: Hooks, action: Ask | Act, outcome: Outcome) -> Outcome:
        """Let the hooks see the outcome, and change it."""
        if isinstance(outcome, Reply):
            point = "post_llm_call"
        else:
            point = "post_tool_call" if getattr(outcome, "ok", True) else "tool_call_error"
        for look in hooks.at(point):
            said = self._ask_hook(look, action, outcome)
            if isinstance(said, type(outcome)):
                outcome = said
            elif said is not None:
                self._wrong(look, said, f"None or {type(outcome).__name__}")
        return outcome

    def _ask_hook(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except BrainError:
            raise
        except Exception as error:
            raise HookError(f"hook {named(method)} raised {type(error).__name__}: {error}") from error

    def _wrong(self, method: Callable[..., Any], said: Any, expected: str) -> None:
        problem = TypeError(f"{named(method)} returned {type(said).__name__}; expected {expected}")
        raise HookError(f"hook {problem}") from problem

    def _perform(self, action: Ask | Act) -> Reply | Observation:
        if isinstance(action, Ask):
            return self._generate(action)
        if action.id and isinstance(action.input, str):
            return self.tools.call_raw(action.tool, action.input)
        return self.tools.call(action.tool, action.input)

    def _generate(self, action: Ask) -> Reply:
        messages: Any = action.messages if self._asked_with_transcript else action.messages.to_list()
        extra = {"schema": action.schema} if action.schema is not None and self._asked_with_schema else {}
        try:
            said = self.provider.generate(messages, tools=list(action.tools), tool_choice=action.tool_choice, **extra)
        except BrainError:
            raise
        except Exception as error:
            raise ProviderError(f"{type(error).__name__}: {error}") from error
        return said if type(said) is Reply and type(said.text) is str else _as_reply(said)

    def _executor(self) -> Executor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.max_workers, thread_name_prefix="brain")


def _noted(entries: Iterable[Entry]) -> Iterator[Event]:
    for entry in entries:
        if entry.outcome is None:
            yield Noted(entry)


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
