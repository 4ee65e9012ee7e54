"""A journal as a file, written while the run goes on; the only file that the runtime touches.

Rules:

- Write-ahead: an action is noted before it is performed, and an entry is on the disk before the policy hears of it.
- Every line is flushed and fsynced. A crash can tear the last line only; it is cut off when the file is taken up.
- Secrets are masked (``brain.redact``). From the first line in which something was, entries also hold the digest
  of the masked action, so that a run can be taken up from what the file still says.
- One process writes a file at a time, where the system has locks; a new journal never replaces a file.
- Only its owner may read it: a journal holds the whole conversation.
"""

from __future__ import annotations

import json
import os
from typing import Any

from brain.errors import ConfigurationError, WrongType
from brain.policy import Work
from brain.redact import MASK, Redaction
from brain.runtime import codec
from brain.runtime.journal import Entry, Journal
from brain.runtime.masking import Masking

__all__ = ["FilePath", "JournalFile", "read_journal"]

FilePath = str | os.PathLike[str]
"""The name of a file."""

_MOST_BYTES = 1 << 30
"""A file that is larger is not read: a journal of 10,000 long steps has some hundred megabytes."""


def read_journal(path: FilePath) -> Journal:
    """Read a journal file; a torn last line is left out.

    Raises:
        ConfigurationError: it is no journal, or damaged before its last line.
        OSError: it cannot be read.
    """
    lines, _ = _lines(path)
    return Journal.from_lines(lines)


def _lines(path: FilePath) -> tuple[list[str], int]:
    """Return the whole lines of a file and their length in bytes; a last line that is not JSON is not whole."""
    size = os.stat(path).st_size
    if size > _MOST_BYTES:
        raise ConfigurationError(
            f"{os.fspath(path)} has {size} bytes; a journal of more than {_MOST_BYTES} is not read"
        )
    with open(path, "rb") as file:
        raw = file.read(size)
    pieces = raw.split(b"\n")
    torn = pieces.pop()  # what follows the last line break was not finished
    whole = len(raw) - len(torn)
    if pieces:
        try:
            json.loads(pieces[-1])
        except (ValueError, RecursionError):
            if len(pieces) > 1:
                whole -= len(pieces.pop()) + 1
    return [piece.decode("utf-8", "replace") for piece in pieces], whole


class JournalFile:
    """The file of one run.

    Args:
        path: the file; a new run makes it, a resumed run goes on at its end.
        redact: masks secrets; by default ``Redaction()``.
    """

    def __init__(self, path: FilePath, redact: Redaction | None = None) -> None:
        if not isinstance(path, str | os.PathLike):
            raise WrongType(f"a journal must be a Journal or the path of one, not {type(path).__name__} ({path!r:.80})")
        self.path = os.fspath(path)
        self.masking = Masking(Redaction() if redact is None else redact)
        self._file: Any = None
        self._saved = 0
        self._written: dict[int, tuple[int, int]] = {}

    def create(self) -> None:
        """Make the file; one that is there is never replaced."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        except FileExistsError:
            raise ConfigurationError(
                f"{self.path} is there already; resume that run, or choose another name for the journal of this one"
            ) from None
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        self._saved, self._written = 0, {}
        self._lock()

    def take_up(self) -> Journal:
        """Open the file of a run that was stopped and return its journal; a torn last line is cut off."""
        self._file = open(self.path, "r+b", buffering=0)  # noqa: SIM115  (closed by close)
        self._lock()
        lines, whole = _lines(self.path)
        journal = Journal.from_lines(lines)
        self._file.truncate(whole)
        self._file.seek(whole)
        self._saved, self._written = len(journal), {}
        self.masking = Masking(self.masking.redaction)
        self.masking.on = any(entry.masked for entry in journal) or MASK in journal.task
        return journal

    def attach(self, journal: Journal) -> None:
        """Write a journal from now on: its header and entries, as far as the file has them not, and all that follow."""
        if self._file is None:
            self.create()
        if not self._file.tell():
            self._write(self.masking.value(journal.header()))
            folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY) if os.name == "posix" else None
            if folder is not None:  # a file is on the disk when its name is
                os.fsync(folder)
                os.close(folder)
        journal.sink = self
        for index in range(self._saved, len(journal)):
            self.ended(journal, index)

    def begun(self, index: int | str, wanted: Work) -> None:
        """Write that an action is about to be performed."""
        self._write(self.masking.value(codec.begun_to_dict(index, wanted)))

    def called(self, index: int, number: int, entry: Entry) -> None:
        """Write a call that the program of an action has made."""
        self._write(self.masking.value(codec.call_to_dict(index, number, entry)))

    def ended(self, journal: Journal, index: int) -> None:
        """Write an entry."""
        entry = journal.entries[index]
        line = codec.entry_to_dict(entry, index, self._written)
        said = self.masking.value(line)
        if self.masking.on:
            said["masked"] = self.masking.digest_of(entry.action)
        self._write(said)
        self._saved = index + 1

    def asks(self, question: str) -> None:
        """Write which call the run is interrupted to ask about."""
        self._write({"asks": question})

    def over(self, said: dict[str, Any]) -> None:
        """Write what the run has come to, for readers; nothing depends on this line."""
        self._write({"over": self.masking.value(said)})

    def close(self) -> None:
        """Write nothing more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: dict[str, Any]) -> None:
        data = memoryview((json.dumps(line, allow_nan=False) + "\n").encode("ascii"))
        while data:  # an unbuffered file may write a part
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise ConfigurationError(f"{self.path} is being written by another run") from None
