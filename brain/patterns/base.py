"""What every pattern is: a policy, joined to the runtime that executes it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from brain.errors import ConfigurationError, Interrupt, UnknownKeyword, WrongType, whole_number
from brain.policy import Finish, Policy
from brain.runtime import Event, Hook, Journal, JournalFile, Runtime, StepEnded, read_journal
from brain.runtime.journal import described
from brain.runtime.journal_file import FilePath
from brain.runtime.kernel import UNDECIDED
from brain.tools import Toolset
from brain.types import LLMProvider, PatternResult, Step

__all__ = ["BasePattern"]


class BasePattern(ABC):
    """A way of reasoning that can be run.

    A pattern writes one method, ``policy``; everything else it has from here. The object is
    configuration: it can be run again and again, from many threads, and no run leaves anything on it.

    Args:
        tools: what the model may call: a mapping of names to callables, or an iterable of callables.
        provider: the model to ask; without one, ``LocalEchoProvider``, which needs no network.
    """

    def __init__(self, tools: Mapping[str, Any] | Iterable[Any] | None = None, provider: LLMProvider | None = None):
        if provider is not None and not callable(getattr(provider, "generate", None)):
            raise WrongType(
                f"{type(self).__name__}: provider must have a method generate(messages, tools, tool_choice), "
                f"which {type(provider).__name__} has not ({provider!r:.80})"
            )
        self.tools = Toolset(tools)
        self._provider = provider
        self._hooks: tuple[Hook, ...] = ()
        self._sandbox: Any = None

    @property
    def name(self) -> str:
        """The name of the pattern, as journals and error messages have it."""
        return type(self).__name__

    def with_provider(self, provider: LLMProvider) -> Self:
        """Return a copy that asks another model."""
        other = copy.copy(self)
        other._provider = provider
        return other

    def with_hooks(self, *hooks: Hook) -> Self:
        """Return a copy whose runs all have these hooks, outside of those given to ``run``."""
        other = copy.copy(self)
        other._hooks = (*self._hooks, *hooks)
        return other

    @abstractmethod
    def policy(self, task: str) -> Policy[Finish]:
        """Return the generator of actions that carries out a task."""

    def run(self, task: str, **options: Any) -> PatternResult:
        """Carry out a task.

        What goes wrong in the world (the model, a tool, a budget) is in the result: ``ok`` is false and
        ``error`` says why.

        Args:
            task: what to do.
            **options: ``hooks``, an iterable of ``Hook``; ``on_event``, a callable that is given each event;
                ``max_workers``, how many actions of a batch may be under way at once (1); ``journal``, the path
                of a new file (or a ``JournalFile``) that the journal is written to while the run goes on.

        Raises:
            ConfigurationError: a mistake in the call: an unknown option, a task that is not a string.
        """
        return self._execute(task, None, options)

    def resume(self, journal: Journal | FilePath, *, approve: Any = UNDECIDED, **options: Any) -> PatternResult:
        """Go on with an interrupted run from its journal; nothing it records is performed again.

        Args:
            journal: the journal of the run, from ``result.journal``, or the path of its file, which is written on.
            approve: the decision about the call that the run stopped to ask about: ``True``, ``Approve(...)``,
                ``Deny(...)``, or an ``Observation`` that says what came of it.
            **options: as for ``run``.

        Raises:
            ReplayMismatch: the journal belongs to another run, or the pattern has changed since.
            ConfigurationError: it is of another pattern, is damaged, or there is nothing to decide about.
        """
        if isinstance(journal, Journal):
            return self._taken_up(journal, options, approve)
        if "journal" in options:
            raise UnknownKeyword(f"{self.name}.resume: the file that is resumed is written on; leave out journal=")
        file = _file(journal)
        try:
            return self._taken_up(file.take_up(), {**options, "journal": file}, approve)
        finally:
            file.close()

    def replay(self, journal: Journal | FilePath) -> PatternResult:
        """Run again from a journal alone, with no model asked and no tool called.

        A run that had not ended stops where it did.

        Raises:
            ReplayMismatch: the pattern wants something else than the journal has; both are shown.
        """
        journal = journal if isinstance(journal, Journal) else read_journal(journal)
        return self.resume(journal.until(len(journal)), hooks=[_Nothing()])

    def fork(self, recorded: Journal | FilePath, /, *, at: int, outcome: Any, **options: Any) -> PatternResult:
        """Go on from an entry of a journal as if something else had come of it; the journal stays as it is.

        Args:
            recorded: the journal, or the path of its file.
            at: the index of the entry.
            outcome: what came of it now: a ``Reply``, an ``Observation``, an error to raise, or the text of one of
                the first two.
            **options: as for ``run``.
        """
        journal = recorded if isinstance(recorded, Journal) else read_journal(recorded)
        return self._taken_up(journal.forked(at, outcome), options)

    def stream(self, task: str, **options: Any) -> Iterator[Event]:
        """Carry out a task, yielding each event as it happens; the last one holds the result."""
        runtime, on_event, file = self._runtime("stream", task, options)
        if on_event is not None:
            raise UnknownKeyword(f"{self.name}.stream: on_event belongs to run(); here the events are yielded")
        return runtime.stream(self.policy(task), pattern=self.name, task=task, file=file)

    def iter(self, task: str, **options: Any) -> Iterator[Step]:
        """Carry out a task, yielding each step as soon as it is complete.

        Leave the loop and the run is over; nothing further is asked or called.
        """
        for event in self.stream(task, **options):
            if isinstance(event, StepEnded):
                yield event.step

    def _execute(
        self, task: str, journal: Journal | None, options: dict[str, Any], approve: Any = UNDECIDED
    ) -> PatternResult:
        runtime, on_event, file = self._runtime("run", task, options)
        done = () if journal is None else journal
        policy = self.policy(task) if journal is None else self._policy_after(task, journal)
        return runtime.run(policy, done, pattern=self.name, task=task, on_event=on_event, approve=approve, file=file)

    def _taken_up(self, journal: Journal, options: dict[str, Any], approve: Any = UNDECIDED) -> PatternResult:
        if journal.pattern != self.name:
            raise ConfigurationError(
                f"{self.name}.resume: this journal is of a run of {journal.pattern or 'no pattern'}"
            )
        return self._execute(journal.task, journal, options, approve)

    def _policy_after(self, task: str, done: Journal) -> Policy[Finish]:  # noqa: ARG002
        """Return the policy of a run that is taken up; it hears the same as that of a new one."""
        return self.policy(task)

    def _runtime(
        self, method: str, task: str, options: dict[str, Any]
    ) -> tuple[Runtime, Callable[[Event], object] | None, JournalFile | None]:
        """Check what the caller gave, at once, and make the runtime for one run."""
        where = f"{self.name}.{method}"
        if not isinstance(task, str):
            raise WrongType(f"{where}: task must be a str, not {type(task).__name__} ({task!r:.80})")
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise UnknownKeyword(f"{where}: unknown keyword {', '.join(unknown)}; known are {', '.join(_OPTIONS)}")
        hooks: Iterable[Hook] = options.get("hooks", ())
        if isinstance(hooks, Hook) or not isinstance(hooks, Iterable):
            raise WrongType(f"{where}: hooks must be an iterable of Hook, not {type(hooks).__name__}; write [hook]")
        on_event = options.get("on_event")
        if on_event is not None and not callable(on_event):
            raise WrongType(f"{where}: on_event must be callable, not {type(on_event).__name__}")
        max_workers = whole_number(where, "max_workers", options.get("max_workers", 1))
        every = [*self._hooks, *hooks]
        provider, tools = self._get_provider(), self._toolset()
        file = None if options.get("journal") is None else _file(options["journal"])
        return Runtime(provider, tools, every, sandbox=self._sandbox, max_workers=max_workers), on_event, file

    def _toolset(self) -> Toolset:
        """Return the tools of a run; a pattern made of parts has those of its parts."""
        return Toolset(self.tools)

    def _get_provider(self) -> LLMProvider:
        if self._provider is not None:
            return self._provider
        from brain.providers.echo import LocalEchoProvider

        return LocalEchoProvider()


_OPTIONS = ("hooks", "journal", "max_workers", "on_event")


def _file(journal: Any) -> JournalFile:
    return journal if isinstance(journal, JournalFile) else JournalFile(journal)


class _Nothing(Hook):
    """Lets nothing be performed: the run stops where its journal ends."""

    def _stop(self, action: Any) -> None:
        raise Interrupt(f"the journal ends before: {described(action)}")

    pre_llm_call = pre_tool_call = _stop
