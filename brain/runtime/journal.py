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
from typing import TYPE_CHECKING, Any, overload

from brain._version import __version__
from brain.errors import BrainError, ConfigurationError
from brain.messages import Transcript, canonical
from brain.policy import Act, Ask, Execute, Note, Work
from brain.runtime import codec
from brain.types import Observation, Reply, Usage

if TYPE_CHECKING:
    from brain.sandbox.base import ProgramReport

    Outcome = Reply | Observation | ProgramReport | BrainError

__all__ = ["Entry", "ExecutionReport", "Journal", "digest_of"]

FORMAT = 1
"""Version of the JSON lines; a reader refuses a newer one."""


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
    """The entries of one run, in order, under a header."""

    pattern: str = ""
    task: str = ""
    version: str = __version__
    """The library's version that made the record."""
    entries: list[Entry] = field(default_factory=list)

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
        models = [entry for entry in self.entries if isinstance(entry.action, Ask)]
        programs = [entry.outcome for entry in self.entries if isinstance(entry.action, Execute)]
        ran = [each for each in programs if each is not None and not isinstance(each, BrainError)]
        calls = sum(isinstance(entry.action, Act) for entry in self.entries)
        usage: Usage | None = None
        for entry in models:
            used = getattr(entry.outcome, "usage", None)
            usage = used if usage is None else usage if used is None else usage + used
        within = sum(getattr(each, "tool_calls", 0) for each in ran)
        return ExecutionReport(len(models), calls + within, len(ran), usage)

    def until(self, count: int) -> Journal:
        """Return the journal as it was when it had ``count`` entries."""
        return Journal(self.pattern, self.task, self.version, self.entries[:count])

    def to_lines(self) -> Iterator[str]:
        """Yield the journal as lines of JSON, the header first."""
        header = {"brain_journal": FORMAT, "version": self.version, "pattern": self.pattern, "task": self.task}
        yield json.dumps(header)
        # For each storage that transcripts share: the last entry written from it, and how long that was.
        written: dict[int, tuple[int, int]] = {}
        for index, entry in enumerate(self.entries):
            yield json.dumps(codec.entry_to_dict(entry, index, written), allow_nan=False)

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
                journal.entries.append(codec.entry_from_dict(value, transcripts))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise ConfigurationError(f"line {number} of the journal does not hold an entry: {error!r}") from None
        return journal


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
