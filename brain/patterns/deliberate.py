"""Deliberate: think, plan, act, observe, reflect, answer.

think --> plan --> act --> observe --> reflect --> answer
          ^^        ^-- continue ---------+
          |+-- quality < 3                |
          +--------- replan --------------+
"""

from __future__ import annotations

from typing import Any

from brain.errors import whole_number
from brain.graph import END, ObserveNode, PlanNode, PromptGraph, ReflectNode, SynthesizeNode, TextNode
from brain.patterns.peoatr import ActNode
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["Deliberate"]

_PLAN_VISITS, _REFLECT_VISITS = 3, 4
"""How often a run may plan and reflect, as the specification has it."""


class Deliberate(StagePattern):
    """A slower way: it thinks before it plans, and looks at results before it judges them.

    Args:
        tools: what the acting stage may call.
        provider: the model to ask.
        max_act_steps: how many requests the acting stage may make in a run; every round with tools counts.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    def __init__(
        self, tools: Any = None, provider: LLMProvider | None = None, *, max_act_steps: int = 12, **options: Any
    ) -> None:
        super().__init__(tools, provider, **options)
        self.max_act_steps = whole_number("Deliberate", "max_act_steps", max_act_steps)

    def graph(self) -> PromptGraph:
        """Six stages; acting and reflecting hand over to the answer when their budgets are used."""
        steps, last = self.max_act_steps, "answer"
        thought = {"thought": "First thoughts"}
        graph = self._new("deliberate")

        graph.add_node(TextNode("think", _THINK, output_key="thought"))
        graph.add_node(
            PlanNode("plan", reads={**thought, "plan": "Your plan so far"}, max_visits=_PLAN_VISITS, when_spent="act")
        )
        graph.add_node(ActNode("act", tools=self.tools, max_visits=steps, when_spent=last, max_iterations=steps))
        graph.add_node(ObserveNode("observe", output_key="observation"))
        graph.add_node(
            ReflectNode(
                "reflect",
                reads={"plan": "The plan", "observation": "What the results show"},
                routes={"continue": "act", "replan": "plan", "answer": last},
                default="continue",
                max_visits=_REFLECT_VISITS,
                when_spent=last,
            )
        )
        graph.add_node(SynthesizeNode(last, reads={"observation": "What the results show"}))

        graph.always("think", "plan")
        graph.when("plan", "plan", lambda result: not result.ok, "quality < 3")
        graph.always("plan", "act")
        graph.always("act", "observe")
        graph.always("observe", "reflect")
        graph.always(last, END)
        return graph


_THINK = (
    "Think about the task before anything is done: what is asked, what is known, what has to be found out, and what "
    "could go wrong. Do not answer it yet."
)
