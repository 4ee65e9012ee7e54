"""Steps and results, folded from a journal.

A model reply opens a step; the next action of the same agent completes it; a further action without a
reply in between is a step of its own. Each entry is looked at once, as it is made.
"""

from __future__ import annotations

from brain.errors import BrainError
from brain.policy import Act, Ask, Execute, Note
from brain.runtime.journal import Entry
from brain.types import Observation, Reply, Step, Usage

__all__ = ["Fold"]


class Fold:
    """What a run has come to so far: its steps, replies and tokens."""

    __slots__ = ("_open", "completed", "iterations", "path", "replies", "steps", "usage")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.completed: list[Step] = []
        """The steps that nothing can be added to any more, in the order of their completion."""
        self.iterations = 0
        """Replies to the pattern itself, not to the agents it delegates to."""
        self.replies = 0
        self.path: list[str] = []
        """The stages executed, in order; every round of a tool loop counts."""
        self.usage: Usage | None = None
        self._open: dict[str, Step] = {}

    def feed(self, entry: Entry) -> None:
        """Take in one entry."""
        action, outcome = entry.action, entry.outcome
        if isinstance(action, Ask):
            if isinstance(outcome, Reply):
                self._reply(action, outcome, entry.seconds)
        elif isinstance(action, Act):
            self._acted(action, outcome, entry.seconds)
        elif isinstance(action, Execute):
            said = str(outcome) if isinstance(outcome, BrainError) else getattr(outcome, "error", None)
            shown = Observation(said or str(getattr(outcome, "output", "")))
            self._acted(Act("program", action.program, phase=action.phase, agent=action.agent), shown, entry.seconds)
        else:
            self._noted(action)

    def finish(self, thought: str) -> None:
        """End the fold: the last step gets the reasoning that led to the answer, and all are complete."""
        step = self._open.get("")
        if step is not None and not step.thought:
            step.thought = thought
        self.completed += sorted(self._open.values(), key=lambda each: each.index)
        self._open.clear()

    def _reply(self, action: Ask, reply: Reply, seconds: float) -> None:
        self.replies += 1
        if not action.agent:
            self.iterations += 1
        if reply.usage is not None:
            self.usage = reply.usage if self.usage is None else self.usage + reply.usage
        step = Step(len(self.steps), text=reply.text.strip(), phase=action.phase, agent=action.agent)
        step.usage, step.seconds = reply.usage, seconds
        self._add(step)

    def _acted(self, action: Act, outcome: object, seconds: float) -> None:
        step = self._open.pop(action.agent, None)
        if step is None:
            step = Step(len(self.steps), phase=action.phase, agent=action.agent)
            self.steps.append(step)
        step.action, step.action_input = action.tool, action.input
        step.thought = step.thought or action.thought
        step.observation = str(outcome)
        step.seconds += seconds
        self.completed.append(step)

    def _noted(self, action: Note) -> None:
        if action.kind in ("stage", "round") and not action.agent:
            self.path.append(action.text)
        step = self._open.get(action.agent)
        if step is not None:
            step.thought = step.thought or action.thought
            if action.kind == "observation":
                step.observation = action.text
                self.completed.append(self._open.pop(action.agent))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        if step.agent in self._open:
            self.completed.append(self._open[step.agent])
        self._open[step.agent] = step
