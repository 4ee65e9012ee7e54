"""Plan-and-Execute: plan the whole, carry out step by step, plan anew from what was learnt.

    plan <- the steps that lead to the answer
    while there are steps
        carry out the first one
        plan <- what is left to do, given all results so far
    write the answer from the results

After *Plan-and-Solve Prompting* (Wang et al., 2023, https://arxiv.org/abs/2305.04091), with the planner and the
executor as two roles, as agents have them.

Differs from the paper: each step is a run of its own, with tools, instead of a paragraph of one reply; the plan
is revised between the steps; a step that failed is shown as failed, to the planner and in the answer's request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from brain.errors import ConfigurationError, GraphExecutionError, SandboxError, StructureError, whole_number
from brain.patterns.base import BasePattern
from brain.patterns.parts import adopt, carry_out, default_part, one_line, request, write
from brain.policy import Finish, Policy, act, delegate, note
from brain.structured import ask_as
from brain.types import LLMProvider

__all__ = ["PlanAndExecute", "Steps"]


@dataclass(frozen=True, slots=True)
class Steps:
    """A plan, or what is left of it."""

    steps: Annotated[list[str], "the steps, in order, one sentence each; empty if none is needed any more"]


class PlanAndExecute(BasePattern):
    """A planner that lays out the steps, and an executor that carries out one at a time.

    Args:
        executor: what carries out a step: a pattern, or a function of the step's text, which is called as the
            tool ``execute``. By default ``ReActAgent`` with ``tools``. A pattern is run by this one's provider.
        provider: the model to ask.
        tools: what the default executor may call.
        replan: after which steps the plan is revised: ``"always"``, ``"failure"`` (only failed ones) or ``"never"``.
        max_steps: how many steps may be carried out in all; then the answer is written from what there is.
        system_prompt: shown before planning and answering, and to the default executor.
    """

    def __init__(
        self,
        executor: BasePattern | Callable[[str], Any] | None = None,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        replan: Literal["always", "failure", "never"] = "always",
        max_steps: int = 12,
        system_prompt: str = "",
    ) -> None:
        if executor is not None and tools:
            raise ConfigurationError("PlanAndExecute: tools are for the default executor; give them to yours instead")
        if replan not in ("always", "failure", "never"):
            raise ConfigurationError(f"PlanAndExecute: replan is 'always', 'failure' or 'never', not {replan!r:.80}")
        by_tool = callable(executor) and not isinstance(executor, BasePattern)
        super().__init__({"execute": executor} if by_tool else None, provider)
        self.executor = None if by_tool else default_part(tools, system_prompt) if executor is None else executor
        self.replan = replan
        self.max_steps = whole_number("PlanAndExecute", "max_steps", max_steps)
        self.system_prompt = system_prompt
        adopt(self, {} if by_tool else {"executor": self.executor})

    def policy(self, task: str) -> Policy[Finish]:
        """Plan, carry out and revise, then answer."""
        results: list[str] = []
        plan = yield from self._plan(task)

        while plan and len(results) < self.max_steps:
            step, *plan = plan
            done = yield from self._carry_out(task, step, results)
            results.append(f"{len(results) + 1}. {one_line(step, 300)} -> {'' if done.ok else 'FAILED: '}{done.answer}")
            if self.replan == "always" or (self.replan == "failure" and not done.ok):
                plan = yield from self._replan(task, results, plan)

        about = _ANSWER.format(task=task, results=_listed(results), left=_listed(plan))
        yield from note("stage", "answer")
        return Finish((yield from write(self._request(about), "answer")))

    def _plan(self, task: str) -> Policy[list[str]]:
        yield from note("stage", "plan")
        said = yield from ask_as(Steps, self._request(_PLAN.format(task=task)), phase="plan")
        return _steps(said)

    def _carry_out(self, task: str, step: str, results: list[str]) -> Policy[Finish]:
        """Carry out a step; what it came to, or why it failed, is the answer of what is returned."""
        yield from note("stage", "execute")
        if isinstance(self.executor, BasePattern):
            about = _STEP.format(step=step, task=task, results=_listed(results))
            done = yield from carry_out("executor", self.executor, about, survive=_FAILURES)
        else:
            seen = yield from delegate("executor", act("execute", step))
            done = Finish(seen.text, ok=seen.ok, error=seen.text)
        if done.ok:
            return Finish(one_line(done.answer))
        yield from note("step failed", f"{step}: {done.error}")
        return Finish(one_line(done.error or "no reason given"), ok=False, error=done.error)

    def _replan(self, task: str, results: list[str], plan: list[str]) -> Policy[list[str]]:
        yield from note("stage", "replan")
        about = _REPLAN.format(task=task, results=_listed(results), plan=_listed(plan))
        try:
            said = yield from ask_as(Steps, self._request(about), phase="replan")
        except StructureError as error:  # the old plan is still a plan
            yield from note("fallback", f"replan: {error} The plan is kept.", phase="replan")
            return plan
        return _steps(said)

    def _request(self, text: str) -> Any:
        return request(self.system_prompt, text)


_FAILURES = (GraphExecutionError, StructureError, SandboxError)
"""What makes a step fail and not the run."""


_MOST_STEPS = 100
"""Steps of a plan that are read; the rest of a longer one is for a later revision of it."""


def _steps(said: Steps) -> list[str]:
    return [step.strip() for step in said.steps[:_MOST_STEPS] if step.strip()]


def _listed(lines: list[str]) -> str:
    return "\n".join(lines) or "(none)"


_PLAN = """\
Lay out a plan for the task below: the steps that lead to the answer, in order. Each step must make sense by itself
to somebody who carries it out without having seen the others. Do not carry them out yet.

Task: {task}"""
_STEP = """\
Carry out this one step of a larger task, and report what it came to:

{step}

The larger task, for context only: {task}
Results of the steps before:
{results}"""
_REPLAN = """\
Look at what the steps so far have come to, and list the steps that are still needed for the task: keep, change, drop
or add. If a step failed, find another way. If the task can be answered now, list none.

Task: {task}

Results so far:
{results}

Still planned:
{plan}"""
_ANSWER = """\
Answer the task from the results below, and from nothing else. Where a step failed or was not carried out and the
answer depends on it, say so.

Task: {task}

Results:
{results}

Not carried out:
{left}"""
