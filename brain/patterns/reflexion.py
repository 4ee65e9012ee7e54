"""Reflexion: learn from failures in words (Shinn et al., 2023, https://arxiv.org/abs/2303.11366, Algorithm 1).

    mem <- []
    for each trial
        the actor makes a trajectory, given mem
        the evaluator judges it; if it passes, that is the answer
        the self-reflection model says what went wrong and what to do instead
        mem <- mem + [that], at most the latest of them

Differs from the paper: no reflection is written after the last trial, as nobody would read it; a trial that
ends without an answer has failed without asking the evaluator; a reflection is kept on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from brain.errors import (
    ConfigurationError,
    GraphExecutionError,
    SandboxError,
    StructureError,
    WrongType,
    whole_number,
)
from brain.patterns.base import BasePattern
from brain.patterns.parts import adopt, call, carry_out, default_part, one_line, request, watched, write
from brain.policy import Finish, Policy, note
from brain.structured import Exact, ask_as
from brain.types import LLMProvider

__all__ = ["Evaluation", "Reflexion"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluator says of an answer."""

    passes: Annotated[bool, Exact(), "whether the answer is right and complete"]
    feedback: Annotated[str, "what is wrong with it, in one or two sentences; empty if nothing is"] = ""


class Reflexion(BasePattern):
    """An actor that tries again after it has written down, in words, why the last attempt failed.

    Args:
        actor: the pattern that attempts the task; by default ``ReActAgent`` with ``tools``. It is run by this
            pattern's provider; its own is not used.
        provider: the model to ask.
        tools: what the default actor may call.
        evaluator: ``evaluator(task, answer)`` returns whether the answer passes, as a truth value, as a pair with
            feedback, or as an ``Evaluation``; or it is a policy that does. It is called again when a run is
            resumed. By default the model judges.
        max_trials: how many attempts there are; 5 in the published HotpotQA runs.
        memory_size: how many reflections are kept; the paper keeps 1 to 3.
        reflections: what was learnt before, in an earlier run.
        trajectory_chars: how much of an attempt the reflection is shown, from its end.
        system_prompt: shown before evaluation and reflection, and to the default actor.
    """

    def __init__(
        self,
        actor: BasePattern | None = None,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        evaluator: Callable[[str, str], Any] | None = None,
        max_trials: int = 5,
        memory_size: int = 3,
        reflections: Iterable[str] = (),
        trajectory_chars: int = 12_000,
        system_prompt: str = "",
    ) -> None:
        super().__init__(None, provider)
        if evaluator is not None and not callable(evaluator):
            raise WrongType(f"Reflexion: evaluator must be callable, not {type(evaluator).__name__}")
        if actor is not None and tools:
            raise ConfigurationError("Reflexion: tools are for the default actor; give them to the actor instead")
        self.actor = default_part(tools, system_prompt) if actor is None else actor
        self.evaluator = evaluator
        self.max_trials = whole_number("Reflexion", "max_trials", max_trials)
        self.memory_size = whole_number("Reflexion", "memory_size", memory_size)
        self.reflections = tuple(map(one_line, reflections))
        self.trajectory_chars = whole_number("Reflexion", "trajectory_chars", trajectory_chars)
        self.system_prompt = system_prompt
        adopt(self, {"actor": self.actor})

    def policy(self, task: str) -> Policy[Finish]:
        """Try, judge and reflect, until an attempt passes or there are no more."""
        memory = self.reflections[-self.memory_size :]
        answer = feedback = ""

        for trial in range(1, self.max_trials + 1):
            yield from note("stage", f"trial {trial}")
            finish, trajectory = yield from self._act(task, memory)
            said = yield from self._evaluate(task, finish)
            if said.passes:
                return finish
            answer, feedback = finish.answer if finish.ok else "", said.feedback
            yield from note("failed", f"trial {trial}: {feedback or 'not passed'}", data={"answer": answer})
            if trial < self.max_trials:
                lesson = yield from self._reflect(task, trajectory, answer, feedback)
                memory = (*memory, lesson)[-self.memory_size :]

        failed = f"none of {self.max_trials} trials passed" + (f"; the last: {feedback}" if feedback else "")
        return Finish(answer, ok=False, error=failed)

    def _act(self, task: str, memory: tuple[str, ...]) -> Policy[tuple[Finish, str]]:
        """Attempt the task with what was learnt; return how it ended, and all that was said and seen."""
        learnt = "\n".join([_MEMORY, *(f"- {each}" for each in memory)])
        seen: list[str] = []
        attempt = carry_out("actor", self.actor, f"{task}\n\n{learnt}" if memory else task, survive=_FAILURES)
        finish = yield from watched(attempt, seen)
        return finish, "\n".join(seen)[-self.trajectory_chars :]

    def _evaluate(self, task: str, finish: Finish) -> Policy[Evaluation]:
        if not finish.ok:
            return Evaluation(False, f"the attempt gave no answer: {finish.error}")
        if self.evaluator is not None:
            return _evaluation((yield from call(self.evaluator, task, finish.answer)))
        about = _EVALUATE.format(task=task, answer=finish.answer)
        try:
            said = yield from ask_as(Evaluation, request(self.system_prompt, about), phase="evaluate")
        except StructureError as error:  # what cannot be read has not passed
            yield from note("fallback", f"evaluate: {error}", phase="evaluate")
            return Evaluation(False)
        return said

    def _reflect(self, task: str, trajectory: str, answer: str, feedback: str) -> Policy[str]:
        about = _REFLECT.format(
            task=task, trajectory=trajectory, answer=answer or "(none)", feedback=feedback or "wrong"
        )
        return one_line((yield from write(request(self.system_prompt, about), "reflect")))


_FAILURES = (GraphExecutionError, StructureError, SandboxError)
"""What ends an attempt and not the run; a provider that fails would fail the next attempt, too."""


def _evaluation(said: Any) -> Evaluation:
    passes, feedback = said if isinstance(said, tuple) and len(said) == 2 else (said, "")
    if isinstance(said, Evaluation):
        return said
    if isinstance(passes, bool) and isinstance(feedback, str):
        return Evaluation(passes, feedback)
    raise WrongType(f"Reflexion: evaluator must return a bool, (bool, str) or Evaluation, not {said!r:.80}")


_MEMORY = (
    "You have attempted this before and failed. What you learnt from your earlier attempts; use it to avoid failing "
    "in the same way again:"
)
_EVALUATE = """\
Judge whether an answer to a task is right. Be strict: an answer that is incomplete or that you cannot confirm does
not pass.

Task: {task}

Answer: {answer}"""
_REFLECT = """\
An attempt at a task has failed. Find out why, and say in a few sentences what to do differently in the next attempt.
Be specific: name the step that went wrong and the better one.

Task: {task}

The attempt:
{trajectory}

Its answer: {answer}
The verdict: {feedback}"""
