"""Multi-agent orchestration: a planner divides the task among named workers and puts their results together.

    repeat
        the planner assigns subtasks to workers, or says that enough is known
        the workers carry theirs out, side by side; the planner is shown what came of each
    the planner writes the answer

The stages of HuggingGPT (Shen et al., 2023, https://arxiv.org/abs/2303.17580): task planning, model selection,
task execution, response generation; the loop is that of orchestrator and workers in *Building effective agents*
(Anthropic, 2024).

Differs from the paper: workers are patterns instead of models of a hub; planning and selection are one reply; no
graph of dependencies, since what depends on a result is assigned in a later round; a failure is shown to the
planner, which may assign the subtask again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from brain.errors import BrainError, ConfigurationError, StructureError, WrongType, whole_number
from brain.patterns.base import BasePattern
from brain.patterns.parts import adopt, carry_out, default_part, one_line, request, write
from brain.policy import Finish, Policy, note, together
from brain.structured import ask_as
from brain.types import LLMProvider

__all__ = ["Assignment", "Delegation", "MultiAgentOrchestrator", "Worker"]


@dataclass(frozen=True, slots=True)
class Worker:
    """A pattern that can be given subtasks, and what the planner is told of it."""

    pattern: BasePattern
    description: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """A subtask for a worker."""

    worker: Annotated[str, "the worker's name, as listed"]
    subtask: Annotated[str, "what it is to do; it sees nothing but this text"]


@dataclass(frozen=True, slots=True)
class Delegation:
    """What a planner wants done next."""

    assignments: Annotated[list[Assignment], "subtasks that can be done now, side by side; empty if enough is known"]


class MultiAgentOrchestrator(BasePattern):
    """A planner that delegates subtasks to named workers, several at once, and writes the answer.

    With ``run(task, max_workers=8)`` the workers of a round are under way at the same time.

    Args:
        workers: by name, a ``Worker``, or a pattern, which is then described by its docstring. All are run by this
            pattern's provider and share its budget. By default one ``ReActAgent`` with ``tools``.
        provider: the model to ask.
        tools: what the default worker may call.
        max_rounds: how many times the planner may assign subtasks.
        max_assignments: how many subtasks of a round are carried out; the planner is told of those that are not.
        system_prompt: shown to the planner, and to the default worker; other workers have their own.
    """

    def __init__(
        self,
        workers: Mapping[str, Worker | BasePattern] | None = None,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        max_rounds: int = 5,
        max_assignments: int = 8,
        system_prompt: str = "",
    ) -> None:
        super().__init__(None, provider)
        if workers is not None and tools:
            raise ConfigurationError("MultiAgentOrchestrator: tools are for the default worker; give them to yours")
        if workers is None:
            workers = {
                "worker": Worker(
                    default_part(tools, system_prompt), "works on one subtask at a time with the tools there are"
                )
            }
        if not isinstance(workers, Mapping):
            raise WrongType(f"MultiAgentOrchestrator: workers must be a mapping, not {type(workers).__name__}")
        self.workers = {str(name).strip(): _worker(each) for name, each in workers.items()}
        if not self.workers or "" in self.workers:
            raise ConfigurationError("MultiAgentOrchestrator: give at least one worker, and each of them a name")
        self.max_rounds = whole_number("MultiAgentOrchestrator", "max_rounds", max_rounds)
        self.max_assignments = whole_number("MultiAgentOrchestrator", "max_assignments", max_assignments)
        self.system_prompt = system_prompt
        adopt(self, {f"worker {name!r}": each.pattern for name, each in self.workers.items()})

    def policy(self, task: str) -> Policy[Finish]:
        """Plan, delegate and look, then answer."""
        results: list[str] = []

        for _ in range(self.max_rounds):
            assignments = yield from self._plan(task, results)
            if not assignments:
                break
            yield from note("stage", "delegate", data={"to": [each.worker for each in assignments]})
            results += yield from together(*self._delegated(assignments[: self.max_assignments]))
            left = assignments[self.max_assignments :]
            if left:
                results.append(one_line(f"NOT DONE, too many for one round: {'; '.join(map(_subtask, left[:100]))}"))

        yield from note("stage", "answer")
        about = _ANSWER.format(task=task, results=_listed(results))
        return Finish((yield from write(request(self.system_prompt, about), "answer")))

    def _plan(self, task: str, results: list[str]) -> Policy[list[Assignment]]:
        yield from note("stage", "plan")
        workers = _listed([f"{name}: {one_line(each.description, 500)}" for name, each in self.workers.items()])
        about = _PLAN.format(task=task, workers=workers, results=_listed(results))
        try:
            said = yield from ask_as(Delegation, request(self.system_prompt, about), phase="plan")
        except StructureError as error:
            if not results:
                raise
            yield from note("fallback", f"plan: {error} The answer is written from what there is.", phase="plan")
            return []
        return [replace(each, worker=each.worker.strip()) for each in said.assignments if each.subtask.strip()]

    def _delegated(self, assignments: list[Assignment]) -> list[Policy[str]]:
        """Return the work of a round; the second subtask of a worker is done under ``name 2``, and so on."""
        count: Counter[str] = Counter()
        work = []
        for each in assignments:
            count[each.worker] += 1
            agent = each.worker if count[each.worker] == 1 else f"{each.worker} {count[each.worker]}"
            work.append(self._work(agent, each))
        return work

    def _work(self, agent: str, assignment: Assignment) -> Policy[str]:
        """Let a worker do a subtask; return a line that says what came of it."""
        worker = self.workers.get(assignment.worker)
        if worker is None:
            known = ", ".join(self.workers)
            return f"{_subtask(assignment)} FAILED: there is no worker {assignment.worker!r:.80}; there are {known}"
        done = yield from carry_out(agent, worker.pattern, assignment.subtask, survive=[BrainError])
        if not done.ok:
            yield from note("worker failed", f"{agent}: {done.error}")
            return f"{_subtask(assignment)} FAILED: {one_line(done.error or 'no reason given')}"
        return f"{_subtask(assignment)} -> {one_line(done.answer)}"


def _worker(given: Any) -> Worker:
    if isinstance(given, BasePattern):
        return Worker(given, (given.__doc__ or given.name).strip().split("\n")[0])
    if not isinstance(given, Worker):
        raise WrongType(f"MultiAgentOrchestrator: a worker is a Worker or a pattern, not {type(given).__name__}")
    return given


def _subtask(assignment: Assignment) -> str:
    return f"{one_line(assignment.worker, 80)}: {one_line(assignment.subtask, 300)}"


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "(none)"


_PLAN = """\
You direct a team. Assign the subtasks that the task needs and that can be done now; those of one round are done side
by side and do not see each other's results. You are then shown what came of them. If a subtask failed, assign it
otherwise or to somebody else, or do without. As soon as enough is known to answer the task, assign none.

The workers:
{workers}

Task: {task}

Results so far:
{results}"""
_ANSWER = """\
Answer the task from what the workers found, and from nothing else. Where something failed or is missing and the answer
depends on it, say so.

Task: {task}

Results:
{results}"""
