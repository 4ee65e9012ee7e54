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

from brain.errors import BrainError, HookError, Interrupt, Interrupted
from brain.policy import Act, Ask, Execute, Policy, Work
from brain.runtime.calls import Calls
from brain.runtime.chokepoints import Chokepoints
from brain.runtime.events import ActionEnded, ActionStarted, Event, ModelChunk, Noted, RunEnded, RunStarted, StepEnded
from brain.runtime.governors.approval import Question
from brain.runtime.hooks import Hook, Hooks
from brain.runtime.journal import Entry, Journal, described, digest_of
from brain.runtime.perform import Performer
from brain.runtime.run import Run
from brain.runtime.taken_up import TakenUp, question_of
from brain.tools import Toolset
from brain.types import LLMProvider, PatternResult

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from brain.runtime.journal import Outcome
    from brain.runtime.journal_file import JournalFile
    from brain.sandbox.base import Sandbox

__all__ = ["UNDECIDED", "Runtime"]

UNDECIDED: Any = object()
"""Stands for no decision, since any value might be one."""


class Runtime:
    """Performs the actions of policies.

    Args:
        provider: the model to ask.
        tools: the tools to call.
        hooks: what watches and governs, outermost first.
        sandbox: runs the programs that policies execute; by default the first executor here that gives every
            guarantee, looked for when the first program comes.
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
        sandbox: Sandbox | None = None,
        max_workers: int = 1,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.hooks = Hooks(hooks)
        self.max_workers = max_workers
        self._performer = Performer(provider, Toolset() if tools is None else tools, sandbox, timer)
        self._clock = clock
        self._timer = timer

    def run(
        self,
        policy: Policy[Any],
        journal: Iterable[Entry] = (),
        *,
        pattern: str = "",
        task: str = "",
        on_event: Callable[[Event], object] | None = None,
        chunks: bool = False,
        approve: Any = UNDECIDED,
        file: JournalFile | None = None,
    ) -> PatternResult:
        """Execute a policy and return what it came to.

        Args:
            policy: the generator to execute.
            journal: entries of an interrupted run to take up; they are not performed again.
            pattern: the name of the pattern, for the record and for error messages.
            task: the task, for the record.
            chunks: whether a provider that can is asked to stream, so that ``on_event`` sees replies being written.
            on_event: called with each event; when it raises, a warning says so once and the run goes on.
            approve: the decision about the call that the run was interrupted to ask about.
            file: where the journal is written while the run goes on.
        """
        events = self.stream(policy, journal, pattern=pattern, task=task, chunks=chunks, approve=approve, file=file)
        for event in events:
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
        self,
        policy: Policy[Any],
        journal: Iterable[Entry] = (),
        *,
        pattern: str = "",
        task: str = "",
        chunks: bool = True,
        approve: Any = UNDECIDED,
        file: JournalFile | None = None,
    ) -> Iterator[Event]:
        """Execute a policy, yielding each event as it happens; the last one is ``RunEnded``.

        Args:
            policy: the generator to execute.
            journal: entries of an interrupted run to take up; they are not performed again.
            pattern: the name of the pattern, for the record and for error messages.
            task: the task, for the record.
            chunks: whether a provider that can is asked to stream, so that replies are seen being written.
            approve: the decision about the call that the run was interrupted to ask about.
            file: where the journal is written while the run goes on.
        """
        began = self._timer()
        run, done = Run(policy, pattern=pattern, task=task), list(journal)
        before = journal if isinstance(journal, Journal) else Journal()
        run.masking = None if file is None else file.masking
        gate: Chokepoints | None = None
        executor: Executor | None = None
        try:
            try:
                run.start()
                for entry in done:
                    run.replay(entry)
                run.journal.take_up(before)
                if file is not None:
                    file.attach(run.journal)
                gate = self._gate(before, done, approve)
                refused = gate.open(pattern, task)
                if refused is not None and not run.done:
                    run.fail(refused)
                yield RunStarted(pattern, task, len(done))
                seen, told = len(done), len(run.fold.completed)
                yield from _noted(run.journal.entries[seen:])
                while not run.done:
                    seen = len(run.journal)
                    if self.max_workers > 1 and len(run.waiting) > 1:
                        executor = executor or self._executor()
                        yield from self._side_by_side(run, gate, executor)
                    else:
                        yield from self._one(run, gate, chunks)
                    yield from _noted(run.journal.entries[seen:])
                    for step in run.fold.completed[told:]:
                        yield StepEnded(step)
                    told = len(run.fold.completed)
            except Interrupt as stop:
                run.interrupt()
                if isinstance(stop, Question):
                    run.journal.question = digest_of(stop.call)
                run.error = Interrupted(str(stop) or f"interrupted before: {described(run.current)}")
            except HookError as error:
                run.fail(error)
            result = run.result(seconds=self._timer() - began)
            failed = None if gate is None else gate.close(result)
            if failed is not None:
                result.ok, result.error, result.exception = False, run.sentence(failed), failed
            if file is not None:
                if run.journal.question:
                    file.asks(run.journal.question)
                file.over({"state": result.state, "ok": result.ok, "answer": result.answer, "error": result.error})
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
            run.journal.sink = None
            if file is not None:
                file.close()

    def _gate(self, before: Journal, done: list[Entry], approve: Any) -> Chokepoints:
        """Return the chokepoints of a run, with a guard about what was under way when it stopped."""
        hooks = self.hooks
        taken_up = TakenUp(before, self._performer.tools) if before.begun or done else None
        if taken_up is not None and taken_up.needed:
            hooks = Hooks([taken_up, *hooks.listed])
        gate = Chokepoints(hooks, done)
        gate.under_way(each for each in before.begun.values() if isinstance(each, Execute))
        if approve is not UNDECIDED:
            gate.decide(question_of(before, self._performer.tools), approve)
        return gate

    def _one(self, run: Run, gate: Chokepoints, chunks: bool) -> Iterator[Event]:
        """Perform the current action."""
        index, wanted = len(run.journal), run.current
        yield ActionStarted(index, wanted)
        at, began = self._clock(), self._timer()
        calls = Calls(run.journal, index)
        action = wanted
        try:
            action, outcome = gate.before(wanted)
            if outcome is None:
                run.journal.begin(index, wanted)
            if outcome is None and chunks and self._performer.streams and isinstance(action, Ask) and not action.silent:
                for piece in self._performer.ask_piecewise(action):
                    if isinstance(piece, str):
                        yield ModelChunk(index, piece)
                    else:
                        outcome = piece
            if outcome is None:
                outcome = self._performer.perform(action, gate, calls)
            outcome = gate.after(action, outcome)
        except HookError:
            raise
        except BrainError as error:
            outcome = error
        seconds = self._timer() - began
        yield from _made_by_a_program(index, calls)
        self._tell(run, wanted, action, outcome, at, seconds)
        yield ActionEnded(index, run.journal[index])

    def _side_by_side(self, run: Run, gate: Chokepoints, executor: Executor) -> Iterator[Event]:
        """Perform all waiting actions at once: hooks before in order, the work on threads, hooks after in order."""
        index, waiting, at = len(run.journal), run.waiting, self._clock()
        prepared: list[tuple[Work, Outcome | None]] = []
        stop: Interrupt | None = None
        for position, wanted in enumerate(waiting):
            yield ActionStarted(index + position, wanted)
            try:
                prepared.append(gate.before(wanted))
            except HookError:
                raise
            except Interrupt as asked:  # what comes before it is performed first, as it would be in order
                stop = asked
                waiting = waiting[:position]
                break
            except BrainError as error:
                prepared.append((wanted, error))
        every = [Calls(run.journal, place) for place in range(index, index + len(waiting))]
        for position, (wanted, (_, ready)) in enumerate(zip(waiting, prepared, strict=True)):
            if ready is None:
                run.journal.begin(index + position, wanted)
        futures = [
            executor.submit(self._timed, action, gate, calls) if outcome is None else None
            for (action, outcome), calls in zip(prepared, every, strict=True)
        ]
        for position, (wanted, (action, ready), future) in enumerate(zip(waiting, prepared, futures, strict=True)):
            outcome, seconds = (ready, 0.0) if future is None else future.result()
            assert outcome is not None  # one of the two has made it
            if not isinstance(outcome, BrainError):
                try:
                    outcome = gate.after(action, outcome)
                except HookError:
                    raise
                except BrainError as error:
                    outcome = error
            yield from _made_by_a_program(index + position, every[position])
            self._tell(run, wanted, action, outcome, at, seconds)
            yield ActionEnded(index + position, run.journal[index + position])
        if stop is not None:
            raise stop

    def _timed(self, action: Work, gate: Chokepoints, calls: Calls) -> tuple[Outcome, float]:
        began = self._timer()
        try:
            outcome = self._performer.perform(action, gate, calls)
        except HookError:
            raise
        except BrainError as error:
            outcome = error
        return outcome, self._timer() - began

    def _tell(self, run: Run, wanted: Work, action: Work, outcome: Outcome, at: float, seconds: float) -> None:
        performed = None if action is wanted else action
        tell: Callable[..., None] = run.throw if isinstance(outcome, BrainError) else run.send
        tell(outcome, performed=performed, at=at, seconds=seconds)

    def _executor(self) -> Executor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.max_workers, thread_name_prefix="brain")


def _noted(entries: Iterable[Entry]) -> Iterator[Event]:
    for entry in entries:
        if entry.outcome is None:
            yield Noted(entry)


def _made_by_a_program(index: int, calls: Calls) -> Iterator[Event]:
    """Tell the calls of a program, once it has run; they are part of its action, and no entries of the journal."""
    for number, entry in enumerate(calls.entries(), 1):
        if isinstance(entry.action, Act):
            yield ActionStarted(f"{index}.{number}", entry.action)
            yield ActionEnded(f"{index}.{number}", entry)
