"""One policy being executed, without any input or output.

A ``Run`` says what its policy wants (``pending``) and is told what came of it (``send``, ``throw``).
Who performs the action, and how, is somebody else's business: the kernel in this package, an event
loop of your own, or a person at a prompt.

    run = Run(policy)
    run.start()
    while not run.done:
        run.send(perform(run.current))
    print(run.pending.answer)

Rules:

- Every outcome goes into the journal before the policy hears of it.
- Notes are answered here, at once: they need nobody.
- Of a ``Batch``, the actions are answered one by one, in order; the policy hears of them together.
- A bug in a policy is raised; an error that a policy lets through ends the run.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from brain.errors import (
    BrainError,
    ConfigurationError,
    PolicyError,
    ProviderError,
    ReplayMismatch,
    TransitionError,
)
from brain.policy import Act, Ask, Batch, Execute, Finish, Note, Policy, Work
from brain.runtime.journal import Entry, Journal, described, digest_of
from brain.runtime.machine import Egress, State, Symbol, move
from brain.runtime.steps import Fold
from brain.types import Observation, PatternResult, Reply

__all__ = ["Run"]

if TYPE_CHECKING:
    from brain.runtime.masking import Masking
    from brain.sandbox.base import ProgramReport

    Outcome = Reply | Observation | ProgramReport | BrainError


class Run:
    """One policy being executed.

    Args:
        policy: the generator to execute.
        pattern: the name under which the journal files it.
        task: the task, for the journal.
    """

    def __init__(self, policy: Policy[Any], *, pattern: str = "", task: str = "") -> None:
        self.policy = policy
        self.journal = Journal(pattern, task)
        self.fold = Fold()
        self.state = State.IDLE
        self.egress: Egress | None = None
        self.pending: Work | Batch | Finish | None = None
        """What the policy wants; a ``Finish`` when it has ended, ``None`` before the start."""
        self.error: BrainError | None = None
        """The error that ended the run, if one did."""
        self.masking: Masking | None = None
        """How a journal file masks secrets, if this run is taken up from one."""
        self._answers: list[Outcome] = []
        self._digest = ""

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self.state is State.TERMINATED

    @property
    def current(self) -> Work:
        """The next action that waits for its outcome."""
        action = self.pending
        if isinstance(action, Batch):
            return action.actions[len(self._answers)]
        if isinstance(action, Ask | Act | Execute):
            return action
        raise TransitionError("the run waits for nothing: " + ("it has ended" if self.done else "start() it first"))

    @property
    def waiting(self) -> tuple[Work, ...]:
        """All actions that wait for their outcome; several when the policy wants a batch."""
        if isinstance(self.pending, Batch):
            return self.pending.actions[len(self._answers) :]
        return (self.current,)

    def start(self) -> None:
        """Run the policy up to its first action."""
        if self.pending is not None or self.done:
            raise TransitionError("this run was started before; a run is executed once")
        self._resume(self.policy.send, None)

    def send(
        self,
        outcome: Reply | Observation | ProgramReport,
        *,
        performed: Work | None = None,
        at: float = 0.0,
        seconds: float = 0.0,
    ) -> None:
        """Tell the run what came of its current action."""
        self._record(Entry(self.current, outcome, self._current_digest(), performed, at, seconds))

    def throw(self, error: BrainError, *, performed: Work | None = None, at: float = 0.0, seconds: float = 0.0) -> None:
        """Tell the run that its current action failed; the policy sees the error at its ``yield from``."""
        self._record(Entry(self.current, error, self._current_digest(), performed, at, seconds))

    def replay(self, entry: Entry) -> None:
        """Repeat one outcome from a journal without performing the action again."""
        if isinstance(entry.action, Note):
            return  # the policy notes it again by itself
        if self.done or not self._fits(entry):
            asked = described(self.pending) if isinstance(self.pending, Ask | Act | Execute) else "the end of the run"
            if not self.done:
                asked = described(self.current)
            recorded, index = described(entry.action), len(self.journal)
            raise ReplayMismatch(
                f"entry {index} of the journal does not fit this policy.\n"
                f"  recorded: {recorded}\n  asked:    {asked}\n"
                "The journal belongs to another run, or the pattern, its settings or its prompts have changed since.",
                index=index,
                recorded=recorded,
                asked=asked,
            )
        times = entry.at, entry.seconds
        self._record(Entry(self.current, entry.outcome, entry.digest, entry.performed, *times, entry.masked))

    def interrupt(self) -> None:
        """Stop between two actions; the journal stays complete, and the run can be taken up again."""
        self.state, self.egress = move(self.state, Symbol.INTERRUPT)

    def fail(self, error: BrainError) -> None:
        """End the run with an error that the policy is not asked about."""
        self.policy.close()
        self._end(Finish("", ok=False, error=str(error)), Symbol.FAIL, error)

    def result(self, *, seconds: float = 0.0) -> PatternResult:
        """Return what the run has come to; an unfinished run gives an interrupted result."""
        fold, finish, error = self.fold, self.pending, self.error
        if not isinstance(finish, Finish):
            finish = Finish("", ok=False, error="the run was interrupted; resume it from its journal")
        return PatternResult(
            answer=finish.answer,
            steps=fold.steps,
            iterations=fold.iterations,
            ok=finish.ok,
            error=finish.error if error is None else self.sentence(error),
            exception=error,
            usage=fold.usage,
            seconds=seconds,
            journal=self.journal,
            path=fold.path,
            state=self.state.value if self.done else State.INTERRUPTED.value,
        )

    def sentence(self, error: BrainError) -> str:
        """Say which pattern failed, in which stage, and why."""
        entries = self.journal.entries
        last = next((entry.action for entry in reversed(entries) if entry.outcome is not None), None)
        stage = ""
        if isinstance(error, ProviderError) and isinstance(last, Ask):
            stage = f", model call {self.fold.replies + 1}" + (f" ({last.phase})" if last.phase else "")
        elif entries and self.done and (phase := getattr(entries[-1].action, "phase", "")):
            stage = f" ({phase})"
        return f"{self.journal.pattern or 'run'}{stage}: {error}"

    def _fits(self, entry: Entry) -> bool:
        """Return whether an entry is of the current action, as it is or as a file that masks secrets has it."""
        if entry.digest == self._current_digest():
            return True
        if not entry.masked:
            return False
        if self.masking is None:
            from brain.redact import Redaction
            from brain.runtime.masking import Masking

            self.masking = Masking(Redaction())
        return entry.masked == self.masking.digest_of(self.current)

    def _current_digest(self) -> str:
        if not self._digest:
            self._digest = digest_of(self.current)
        return self._digest

    def _record(self, entry: Entry) -> None:
        if self.state is State.INTERRUPTED:  # taken up again
            self.state, self.egress = move(self.state, self._symbol(self.pending))
        self._keep(entry)
        self._digest = ""
        outcome: Any = entry.outcome
        if isinstance(self.pending, Batch):
            self._answers.append(outcome)
            if len(self._answers) < len(self.pending.actions):
                return
            outcome, self._answers = tuple(self._answers), []
        self._resume(self.policy.throw if isinstance(outcome, BrainError) else self.policy.send, outcome)

    def _keep(self, entry: Entry) -> None:
        self.journal.append(entry)
        self.fold.feed(entry)

    def _resume(self, resume: Callable[[Any], Any], value: Any) -> None:
        """Let the policy go on to its next action, or to its end."""
        while True:
            try:
                action = resume(value)
            except StopIteration as stop:
                self._end(self._finish(stop.value), Symbol.FINISH, None)
                return
            except (ConfigurationError, PolicyError, TransitionError):
                raise  # the programmer's mistake, not the world's
            except BrainError as error:
                self._end(Finish("", ok=False, error=str(error)), Symbol.FAIL, error)
                return
            if isinstance(action, Note):
                self._keep(Entry(action, None, digest_of(action)))
                resume, value = self.policy.send, None
            elif isinstance(action, Batch) and not action.actions:
                resume, value = self.policy.send, ()
            else:
                break
        self.state, self.egress = move(self.state, self._symbol(action))
        self.pending = action

    def _end(self, finish: Finish, symbol: Symbol, error: BrainError | None) -> None:
        if symbol is Symbol.FAIL and self.state is State.INTERRUPTED:
            self.state, _ = move(self.state, self._symbol(self.pending))
        self.state, self.egress = move(self.state, symbol)
        self.pending, self.error = finish, error
        self.fold.finish(finish.thought)

    def _finish(self, value: Any) -> Finish:
        if isinstance(value, Finish):
            if not value.ok and value.error is None:
                raise PolicyError(f"{self._name()} returned Finish(ok=False) without an error that says why")
            return value
        if isinstance(value, str):
            return Finish(value)
        raise PolicyError(f"{self._name()} returned {value!r}: a policy that is run returns Finish(answer) or a str")

    def _symbol(self, action: Any) -> Symbol:
        if isinstance(action, Batch):
            action = action.actions[0]
        if isinstance(action, Ask):
            return Symbol.ASK
        if isinstance(action, Act | Execute):
            return Symbol.ACT
        if isinstance(action, GeneratorType):
            raise PolicyError(f"{self._name()} yielded the generator {action.__name__}(): `yield from` it instead")
        if isinstance(action, Finish):
            raise PolicyError(f"{self._name()} yielded Finish: `return` it instead")
        raise PolicyError(f"{self._name()} yielded {action!r}, which is not an action")

    def _name(self) -> str:
        return f"policy {getattr(self.policy, '__qualname__', type(self.policy).__name__)}"
