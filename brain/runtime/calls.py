"""The calls that one program makes: recorded as they are made, and answered from the record when it runs again.

A program acts on the world through its calls alone. When a run is taken up in the middle of a program, the program
starts anew, and the calls it had made are answered from the journal instead of being made again.
"""

from __future__ import annotations

from brain.errors import ReplayMismatch
from brain.messages import canonical
from brain.policy import Act
from brain.redact import MASK
from brain.runtime.codec import Lost
from brain.runtime.journal import Entry, Journal, described, digest_of
from brain.types import Observation

__all__ = ["Calls"]


class Calls:
    """The calls of the program of one action.

    Args:
        journal: the journal of the run; it holds the calls that the program made before the run was taken up.
        index: the index of the action.
    """

    __slots__ = ("_index", "_journal", "_made")

    def __init__(self, journal: Journal, index: int) -> None:
        self._journal, self._index = journal, index
        self._made = 0

    def entries(self) -> list[Entry]:
        """Return the calls made so far."""
        return self._journal.within.get(self._index, [])[: self._made]

    def known(self, wanted: Act) -> Observation | None:
        """Return what came of this call when the program ran before; ``None`` if it had not come so far.

        Raises:
            ReplayMismatch: the program makes another call now, or what came of it was not kept in full.
        """
        before = self._journal.within.get(self._index, ())
        if self._made >= len(before):
            return None
        entry, where = before[self._made], f"call {self._made} of the program of action {self._index}"
        seen = entry.outcome
        if digest_of(entry.action) != digest_of(wanted) or not isinstance(seen, Observation):
            recorded, asked = described(entry.action), described(wanted)
            raise ReplayMismatch(
                f"{where} is another one than when it ran before.\n  recorded: {recorded}\n  asked:    {asked}\n"
                "What it had done cannot be continued; a program that is taken up must make the same calls.",
                index=self._index,
                recorded=recorded,
                asked=asked,
            )
        if isinstance(seen.value, Lost) or MASK.encode() in canonical(seen.value):
            raise ReplayMismatch(
                f"{where}, {described(entry.action)}, has returned something that the journal file does not hold "
                "in full; the program cannot go on without it",
                index=self._index,
            )
        self._made += 1
        return seen

    def begin(self, wanted: Act) -> None:
        """Note that a call is about to be made."""
        self._journal.begin(f"{self._index}.{self._made}", wanted)

    def made(self, call: Act, seen: Observation, seconds: float) -> None:
        """Record a call and what came of it."""
        self._journal.called(self._index, Entry(call, seen, digest_of(call), seconds=seconds))
        self._made += 1
