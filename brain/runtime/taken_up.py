"""Taking a run up again: what was under way when it stopped is not repeated unasked."""

from __future__ import annotations

from typing import Any

from brain.messages import canonical
from brain.policy import Act
from brain.redact import MASK
from brain.runtime.governors.approval import Question, decided
from brain.runtime.hooks import Hook
from brain.runtime.journal import Journal, described, digest_of
from brain.tools import Toolset
from brain.types import Observation

__all__ = ["TakenUp", "question_of"]


class TakenUp(Hook):
    """Asks before a tool call that was begun and not recorded is made again, unless the tool is idempotent.

    It also asks before a call whose arguments were masked in the journal file: nobody knows them any more.

    Args:
        journal: the journal of the run as it stopped.
        tools: the tools of the run.
    """

    def __init__(self, journal: Journal, tools: Toolset) -> None:
        self._begun = _unsafe(journal, tools)
        self._masked = MASK in journal.task or any(entry.masked for entry in journal)
        self._decisions: dict[str, Any] = {}

    @property
    def needed(self) -> bool:
        """Whether there is anything to ask about."""
        return bool(self._begun) or self._masked

    def decide(self, question: str, decision: Any) -> bool:
        """Keep the decision about a call that was under way, or whose arguments are masked."""
        self._decisions[question] = decision
        return any(digest_of(call) == question for call in self._begun) or self._masked

    def pre_tool_call(self, action: Act) -> Act | Observation | None:
        """Ask about the calls that were under way."""
        hidden = self._masked and _hides(action)
        begun = next((call for call in self._begun if _same(call, action)), None)
        if begun is None and not hidden:
            return None
        if begun is not None:
            self._begun.remove(begun)
        digest = digest_of(action)
        if digest in self._decisions:
            return decided(action, self._decisions.pop(digest))
        if hidden:
            raise Question(
                f"the arguments of {described(action)} were masked in the journal file; "
                "resume with approve=Approve(arguments) to give them anew",
                action,
            )
        raise Question(
            f"{described(action)} was begun and its outcome was not recorded: it may have happened, or not. "
            "Resume with approve=True to call it again, approve=Observation(...) to say what came of it, or "
            "approve=Deny(...); a tool that may always be repeated is declared so with Tool(..., idempotent=True)",
            action,
        )


def question_of(journal: Journal, tools: Toolset) -> str:
    """Return the digest of the call that a decision is about; empty if there is none."""
    unsafe = _unsafe(journal, tools)
    return journal.question or (digest_of(unsafe[0]) if unsafe else "")


def _unsafe(journal: Journal, tools: Toolset) -> list[Act]:
    begun = [call for call in journal.begun.values() if isinstance(call, Act)]
    return [call for call in begun if call.tool in tools and not tools[call.tool].idempotent]


def _hides(action: Act) -> bool:
    return MASK.encode() in canonical(action.input)


def _same(begun: Act, action: Act) -> bool:
    return digest_of(begun) == digest_of(action) or (begun.tool == action.tool and _hides(begun))
