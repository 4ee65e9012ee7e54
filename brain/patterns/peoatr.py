"""PEOATR: plan, act, think, reflect, answer.

plan --> act --> think --> reflect --> answer
 ^^       ^--------+          |
 |+-- quality < 3  continue   |
 |        ^-- continue -------+
 +----------- replan ---------+
"""

from __future__ import annotations

from typing import Any

from brain.errors import whole_number
from brain.graph import (
    END,
    GraphState,
    NodeResult,
    PlanNode,
    PromptGraph,
    PromptNode,
    ReflectNode,
    SynthesizeNode,
    ThinkNode,
)
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["PEOATR", "ActNode", "SubgoalThinkNode"]

_PLAN_VISITS, _REFLECT_VISITS = 3, 4
"""How often a run may plan and reflect, as the specification has it."""


class PEOATR(StagePattern):
    """A planner, a worker, a thinker and a judge of progress; a run always ends with a written answer.

    Args:
        tools: what the worker may call.
        provider: the model to ask.
        planning_instructions: extra instructions for the planner; they follow the default as a paragraph.
        acting_instructions: the same for the worker.
        thinking_instructions: the same for the thinker.
        reflecting_instructions: the same for the judge.
        max_act_steps: how many requests the worker may make in a run; every round with tools counts.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    def __init__(
        self,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        planning_instructions: str = "",
        acting_instructions: str = "",
        thinking_instructions: str = "",
        reflecting_instructions: str = "",
        max_act_steps: int = 12,
        **options: Any,
    ) -> None:
        super().__init__(tools, provider, **options)
        self.planning_instructions = planning_instructions
        self.acting_instructions = acting_instructions
        self.thinking_instructions = thinking_instructions
        self.reflecting_instructions = reflecting_instructions
        self.max_act_steps = whole_number("PEOATR", "max_act_steps", max_act_steps)

    def graph(self) -> PromptGraph:
        """Five stages; each that has used its budget hands over to the answer, the planner to the worker."""
        steps, last = self.max_act_steps, "answer"
        graph = self._new("peoatr")

        graph.add_node(
            PlanNode(
                "plan",
                extra=self.planning_instructions,
                reads={"plan": "Your plan so far"},
                max_visits=_PLAN_VISITS,
                when_spent="act",
            )
        )
        graph.add_node(
            ActNode(
                "act",
                tools=self.tools,
                extra=self.acting_instructions,
                max_visits=steps,
                when_spent=last,
                max_iterations=steps,
            )
        )
        graph.add_node(
            SubgoalThinkNode(
                "think",
                extra=self.thinking_instructions,
                reads={"plan": "The plan"},
                routes={"continue": "act", "reflect": "reflect"},
                default="reflect",
                max_visits=steps,
                when_spent=last,
            )
        )
        graph.add_node(
            ReflectNode(
                "reflect",
                extra=self.reflecting_instructions,
                reads={"plan": "The plan"},
                routes={"continue": "act", "replan": "plan", "answer": last},
                default="continue",
                max_visits=_REFLECT_VISITS,
                when_spent=last,
            )
        )
        graph.add_node(SynthesizeNode(last))

        graph.when("plan", "plan", lambda result: not result.ok, "quality < 3")
        graph.always("plan", "act")
        graph.always("act", "think")
        graph.always(last, END)
        return graph


class ActNode(PromptNode):
    """A worker that is shown the subgoals, which of them are done, and what went wrong before."""

    default_instructions = (
        "Work on the active subgoal with the tools you have. When you have what it needs, or cannot get further, "
        "write a short summary of what you found; do not answer the task yet."
    )

    def __init__(self, name: str, instructions: str | None = None, **options: Any) -> None:
        super().__init__(name, instructions, **{"answers": False, "show_loop": True, **options})

    def told(self, state: GraphState) -> str:
        """Return the instructions, below the subgoals and what was learnt from mistakes."""
        parts = [_subgoals(state)]
        reflection = state.context.get("reflect")
        if reflection is not None and reflection.mistake.strip():
            parts.append(f"What went wrong before: {reflection.mistake}\nHow to put it right: {reflection.correction}")
        return "\n\n".join(part for part in (*parts, super().told(state)) if part)


class SubgoalThinkNode(ThinkNode):
    """A thinker that steps back by itself once all subgoals are done."""

    def told(self, state: GraphState) -> str:
        """Return the instructions, below the subgoals."""
        return "\n\n".join(part for part in (_subgoals(state), self.instructions) if part)

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        """Return the way on; with nothing left to do, it leads to the judge."""
        result = super().judged(state, value, problem)
        plan = state.context.get("plan")
        if plan is not None and state.context.get("subgoals done", 0) >= len(plan.subgoals):
            result.route = "reflect"
        return result


def _subgoals(state: GraphState) -> str:
    plan = state.context.get("plan")
    if plan is None or not plan.subgoals:
        return ""
    done = state.context.get("subgoals done", 0)
    marks = ["done"] * done + ["active"] + ["to come"] * len(plan.subgoals)
    lines = [f"{number}. [{marks[number - 1]}] {goal}" for number, goal in enumerate(plan.subgoals, 1)]
    return "\n".join(["Subgoals:", *lines])
