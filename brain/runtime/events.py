"""Events: what a run tells while it happens.

They are emitted as the journal is written; what they say is in the journal too, but for the times
at which things begin.
"""

from __future__ import annotations

from dataclasses import dataclass

from brain.policy import Work
from brain.runtime.journal import Entry
from brain.types import PatternResult, Step

__all__ = ["ActionEnded", "ActionStarted", "Event", "ModelChunk", "Noted", "RunEnded", "RunStarted", "StepEnded"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins."""

    pattern: str
    task: str
    resumed: int = 0
    """How many entries of an earlier journal it takes up."""


@dataclass(frozen=True, slots=True)
class ActionStarted:
    """The model is about to be asked, or a tool about to be called."""

    id: int | str
    """Shared with the ``ActionEnded`` that follows; ``"3.1"`` is the first call that the program of action 3 made."""
    action: Work


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of a reply, as the model writes it; the whole reply is in the ``ActionEnded`` that follows."""

    id: int | str
    """That of the ``ActionStarted`` before it."""
    text: str


@dataclass(frozen=True, slots=True)
class ActionEnded:
    """An action has come to its outcome, which is in the journal now."""

    id: int | str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Noted:
    """The policy has put a remark into the record."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step is complete: nothing can be added to it any more."""

    step: Step


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended or was interrupted."""

    result: PatternResult


Event = RunStarted | ActionStarted | ModelChunk | ActionEnded | Noted | StepEnded | RunEnded
