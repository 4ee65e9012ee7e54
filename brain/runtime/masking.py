"""What a journal file leaves out, and how actions are told apart when it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brain.messages import Transcript
from brain.policy import Act, Ask, Execute, Note, Work
from brain.redact import Redaction
from brain.runtime.journal import digest_of

__all__ = ["Masking"]


class Masking:
    """Redaction of what a journal writes, and digests of actions as they look afterwards."""

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction
        self.on = False
        """Whether something was masked so far."""
        self._transcripts: dict[int, Transcript] = {}

    def value(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return a line with its secrets masked."""
        said: dict[str, Any] = self.redaction.value(line)
        self.on = self.on or said is not line
        return said

    def digest_of(self, action: Work | Note) -> str:
        """Return the digest of an action with its secrets masked."""
        if isinstance(action, Ask):
            return digest_of(replace(action, messages=self._masked(action.messages)))
        if isinstance(action, Act):
            return digest_of(replace(action, input=self.redaction.value(action.input)))
        if isinstance(action, Execute):
            return digest_of(replace(action, program=self.redaction.text(action.program)))
        return digest_of(replace(action, text=self.redaction.text(action.text)))

    def _masked(self, messages: Transcript) -> Transcript:
        """Each message is masked once, however often it is asked with."""
        known = self._transcripts.get(messages.storage, Transcript())
        if len(known) > len(messages):
            return Transcript(self.redaction.value(messages.to_list()))
        longer = known + [self.redaction.value(each) for each in messages[len(known) :]]
        self._transcripts[messages.storage] = longer
        return longer
