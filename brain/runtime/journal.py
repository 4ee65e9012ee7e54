"""The journal: the only record of a run. Steps are folded from it, and a run resumes from it.

Rules:

- An entry holds what the policy wanted, what came of it, and a digest of the former. Digests are
  chained through the transcript, so each message is hashed once however long the run is.
- In memory, transcripts share their storage; as JSON lines, an entry writes only the messages that
  are new since an earlier entry. Either way the size is linear in the number of steps.
- The first line is a header that names the format, the library's version, the pattern and the task.
- A journal file is untrusted: reading one builds values of this library and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, overload

from brain._version import __version__
from brain.errors import BrainError, ConfigurationError, ProviderError
from brain.messages import Transcript, canonical
from brain.policy import Act, Ask, Execute, Note, Work
from brain.runtime import codec
from brain.types import Observation, Reply, Usage

if TYPE_CHECKING:
    from brain.sandbox.base import ProgramReport

    Outcome = Reply | Observation | ProgramReport | BrainError

__all__ = ["Entry", "ExecutionReport", "Journal", "digest_of"]

_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading a line raises that does not say what it should."""

FORMAT = 1
"""Version of the JSON lines; a reader refuses a newer one."""


class Sink(Protocol):
    """Where a journal is written as it grows."""

    def begun(self, index: int | str, wanted: Work) -> None:
        """Write that an action is about to be performed."""

    def called(self, index: int, number: int, entry: Entry) -> None:
        """Write a call that the program of an action has made."""

    def ended(self, journal: Journal, index: int) -> None:
        """Write an entry."""

    def asks(self, question: str) -> None:
        """Write which call the run is interrupted to ask about."""

    def over(self, said: dict[str, Any]) -> None:
        """Write what the run has come to."""

    def close(self) -> None:
        """Write nothing more."""


@dataclass(slots=True)
class Entry:
    """One action of a run and what came of it."""

    action: Work | Note
    """What the policy wanted."""
    outcome: Outcome | None
    """What came of it: a reply, an observation, a program's report, an error, or ``None`` for a note."""
    digest: str
    """Stands for the action in comparisons: equal digests, equal actions."""
    performed: Work | None = None
    """What was done instead, where a hook replaced the action."""
    at: float = 0.0
    """When it began, in seconds since the epoch."""
    seconds: float = 0.0
    """How long it took."""
    masked: str = ""
    """The digest of the action with its secrets masked, in a journal from a file that masks some."""


@dataclass(frozen=True, slots=True)
class ExecutionReport:
    """What a run has done, counted."""

    model_calls: int = 0
    """Replies and failures together."""
    tool_calls: int = 0
    """Calls of tools, those of programs included."""
    programs: int = 0
    """Programs that were run."""
    usage: Usage | None = None
    """Tokens of all model calls; ``None`` when no provider told."""


@dataclass(slots=True)
class Journal(Sequence[Entry]):
    """The entries of one run, in order, under a header; and what was begun when it stopped."""

    pattern: str = ""
    task: str = ""
    version: str = __version__
    """The library's version that made the record."""
    entries: list[Entry] = field(default_factory=list)
    begun: dict[int | str, Work] = field(default_factory=dict)
    """Actions that were begun and have no entry yet, by the index theirs would have; ``"3.0"`` is the first call
    of the program of action 3."""
    within: dict[int, list[Entry]] = field(default_factory=dict)
    """Calls that programs without an entry have made so far."""
    question: str = ""
    """The digest of the call that the run was interrupted to ask about."""
    sink: Sink | None = field(default=None, repr=False, compare=False)
    """Where it is written as it grows."""

    def append(self, entry: Entry) -> None:
        """Add an entry; it is written before anybody hears of it."""
        index = len(self.entries)
        self.entries.append(entry)
        self._forget(index)
        if self.sink is not None:
            self.sink.ended(self, index)

    def take_up(self, before: Journal) -> None:
        """Remember what was under way when the journal that was replayed had stopped."""
        for key, wanted in before.begun.items():
            if int(str(key).split(".")[0]) >= len(self.entries):
                self.begun[key] = wanted
        self.within = {index: list(calls) for index, calls in before.within.items() if index >= len(self.entries)}

    def begin(self, index: int | str, wanted: Work) -> None:
        """Note that an action is about to be performed."""
        self.begun[index] = wanted
        if self.sink is not None:
            self.sink.begun(index, wanted)

    def called(self, index: int, entry: Entry) -> None:
        """Add a call that the program of an action has made."""
        calls = self.within.setdefault(index, [])
        self.begun.pop(f"{index}.{len(calls)}", None)
        calls.append(entry)
        if self.sink is not None:
            self.sink.called(index, len(calls) - 1, entry)

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        return self.entries[index]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def report(self) -> ExecutionReport:
        """Count what the run has done."""
        # What a hook refused was not done: only an outcome, or a failure of the provider itself, is a call.
        done = [
            each
            for each in self.entries
            if isinstance(each.outcome, ProviderError) or not isinstance(each.outcome, BrainError)
        ]
        models = [entry for entry in done if isinstance(entry.action, Ask)]
        ran = [entry.outcome for entry in done if isinstance(entry.action, Execute)]
        calls = sum(isinstance(entry.action, Act) for entry in done)
        usage: Usage | None = None
        for entry in models:
            used = getattr(entry.outcome, "usage", None)
            usage = used if usage is None else usage if used is None else usage + used
        within = sum(getattr(each, "tool_calls", 0) for each in ran)
        return ExecutionReport(len(models), calls + within, len(ran), usage)

    def until(self, count: int) -> Journal:
        """Return the journal as it was when it had ``count`` entries."""
        return Journal(self.pattern, self.task, self.version, self.entries[:count])

    def forked(self, at: int, outcome: Any) -> Journal:
        """Return the journal up to and with entry ``at``, of which something else has come.

        Args:
            at: the index of the entry; not of a note.
            outcome: a ``Reply``, an ``Observation``, a ``BrainError``, or the text of one of the first two.

        Raises:
            ConfigurationError: there is no such entry, it is a note, or the outcome is none of its kind.
        """
        if not 0 <= at < len(self.entries) or isinstance(self.entries[at].action, Note):
            raise ConfigurationError(f"fork: entry {at} is not a call of this journal, which has {len(self)} entries")
        entry = self.entries[at]
        kind = Reply if isinstance(entry.action, Ask) else Observation
        if isinstance(outcome, str) and not isinstance(entry.action, Execute):
            outcome = kind(outcome)
        fits = type(outcome).__name__ == "ProgramReport" if isinstance(entry.action, Execute) else type(outcome) is kind
        if not fits and not isinstance(outcome, BrainError):
            raise ConfigurationError(
                f"fork: entry {at} is {described(entry.action)}; {type(outcome).__name__} is no outcome of that"
            )
        forked = self.until(at)
        forked.entries.append(Entry(entry.action, outcome, entry.digest, masked=entry.masked))
        return forked

    def header(self) -> dict[str, Any]:
        """Return the first line, as a dict."""
        return {"brain_journal": FORMAT, "version": self.version, "pattern": self.pattern, "task": self.task}

    def to_lines(self) -> Iterator[str]:
        """Yield the journal as lines of JSON, the header first."""
        yield json.dumps(self.header())
        # For each storage that transcripts share: the last entry written from it, and how long that was.
        written: dict[int, tuple[int, int]] = {}
        for index, entry in enumerate(self.entries):
            yield json.dumps(codec.entry_to_dict(entry, index, written), allow_nan=False)
        for place, wanted in self.begun.items():
            yield json.dumps(codec.begun_to_dict(place, wanted), allow_nan=False)
        for index, calls in self.within.items():
            for number, entry in enumerate(calls):
                yield json.dumps(codec.call_to_dict(index, number, entry), allow_nan=False)
        if self.question:
            yield json.dumps({"asks": self.question})

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> Journal:
        """Read a journal from lines of JSON; a torn last line, as a crash leaves it, is dropped.

        Raises:
            ConfigurationError: it is not a journal, of a newer format, or damaged before its last line.
        """
        every = [line for line in lines if line.strip()]
        values: list[Any] = []
        for number, line in enumerate(every, 1):
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                if number == len(every) and number > 1:
                    break
                raise ConfigurationError(f"line {number} of the journal cannot be read: {error}") from None
        if not values or not isinstance(values[0], dict) or "brain_journal" not in values[0]:
            raise ConfigurationError("this is not a journal: the first line has no 'brain_journal' header")
        header = values[0]
        if header["brain_journal"] != FORMAT:
            raise ConfigurationError(
                f"the journal has format {header['brain_journal']!r}; this version of brain reads format {FORMAT}"
            )
        journal = cls(str(header.get("pattern")), str(header.get("task")), str(header.get("version")))
        transcripts: list[Transcript] = []
        for number, value in enumerate(values[1:], 2):
            try:
                journal._read(value, transcripts)
            except (
                KeyError,
                TypeError,
                ValueError,
                IndexError,
                AttributeError,
                ArithmeticError,
                RecursionError,
            ) as error:
                raise ConfigurationError(f"line {number} of the journal does not hold an entry: {error!r}") from None
        return journal

    def _forget(self, index: int) -> None:
        """An action has its entry: how far it had come before does not matter any more."""
        if self.begun:
            self.begun = {key: each for key, each in self.begun.items() if str(key).split(".")[0] != str(index)}
        self.within.pop(index, None)

    def _read(self, value: dict[str, Any], transcripts: list[Transcript]) -> None:
        """Take in a line after the header."""
        if "begin" in value:
            int(str(value["begin"]).replace(".", "", 1))  # an index, or that of a call within
            self.begun[value["begin"]] = codec.work_from_dict(value)
        elif "within" in value:
            index, entry = int(value["within"]), codec.entry_from_dict(value, [])
            if value["n"] == len(self.within.get(index, ())):  # one that is written again is the one before
                self.called(index, entry)
        elif "asks" in value:
            self.question = str(value["asks"])
        elif "over" not in value:
            self.append(codec.entry_from_dict(value, transcripts))
            self.question = ""


def digest_of(action: Work | Note) -> str:
    """Return what stands for an action in the journal."""
    from hashlib import blake2b

    if isinstance(action, Ask):
        told = blake2b(action.messages.digest(), digest_size=12)
        if action.tools or action.schema is not None or action.tool_choice != "none":
            told.update(canonical([action.tools, action.tool_choice, action.schema]))
        told.update(f"ask\0{action.phase}\0{action.agent}".encode("utf-8", "surrogatepass"))
    elif isinstance(action, Act):
        given = canonical(action.input) if type(action.input) is not str else b""
        text = "" if given else f"\0{action.input}"
        said = f"act\0{action.phase}\0{action.agent}\0{action.id}\0{action.tool}{text}"
        told = blake2b(given + said.encode("utf-8", "surrogatepass"), digest_size=12)
    elif isinstance(action, Execute):
        limits = [action.timeout, action.max_tool_calls]
        told = blake2b(canonical(["execute", action.program, limits, action.phase, action.agent]), digest_size=12)
    else:
        told = blake2b(canonical([action.kind, action.text, action.phase, action.agent]), digest_size=12)
    return told.hexdigest()


def described(action: Work | Note) -> str:
    """Say an action in one line, for people."""
    where = "".join(f" ({each})" for each in (action.phase, action.agent) if each)
    if isinstance(action, Ask):
        last = str(action.messages[-1].get("content")) if action.messages else ""
        return f"ask{where} with {len(action.messages)} messages, the last {short(last)}"
    if isinstance(action, Act):
        return f"act{where} {action.tool}({short(str(action.input))})"
    if isinstance(action, Execute):
        return f"execute{where} {short(action.program)}"
    return f"note{where} {action.kind}: {short(action.text)}"


def short(text: str, limit: int = 80) -> str:
    """Quote the beginning of a text on one line."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
