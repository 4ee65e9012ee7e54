"""Autonomous: the model chooses the next step from a pool of stages, again and again.

repeat
    show the model the steps there are, and let it choose one
    execute it
until it says that it is done; then the answer is written
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brain.errors import whole_number
from brain.graph import END, AutonomousNode, Node, PromptGraph, PromptNode, SynthesizeNode
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["Autonomous"]


class Autonomous(StagePattern):
    """A model that decides for itself which step comes next.

    Args:
        node_pool: the stages to choose from; by default ``reason`` with the tools, ``analyze`` and
            ``synthesize``, which writes the answer.
        provider: the model to ask.
        tools: what ``reason`` may call in the default pool.
        max_steps: how many steps may be chosen.
        max_tool_rounds: how many requests one ``reason`` step may make.
        entry_node: the stage to begin with, before the first choice.
        answer_node: the stage that writes the answer; by default the first terminal one.
        allow_repeat: whether a stage may run more than once.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    def __init__(
        self,
        node_pool: Iterable[Node] | None = None,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        max_steps: int = 15,
        max_tool_rounds: int = 10,
        entry_node: str | None = None,
        answer_node: str | None = None,
        allow_repeat: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(tools, provider, **options)
        self.node_pool = None if node_pool is None else tuple(node_pool)
        self.max_steps = whole_number("Autonomous", "max_steps", max_steps)
        self.max_tool_rounds = whole_number("Autonomous", "max_tool_rounds", max_tool_rounds)
        self.entry_node, self.answer_node, self.allow_repeat = entry_node, answer_node, allow_repeat
        self.graph()  # a mistake in the pool is told now

    def graph(self) -> PromptGraph:
        """One stage with the pool inside."""
        pool = self._default_pool() if self.node_pool is None else self.node_pool
        graph = self._new("autonomous")
        graph.add_node(
            AutonomousNode(
                "autonomous",
                pool,
                max_steps=self.max_steps,
                entry_node=self.entry_node,
                answer_node=self.answer_node,
                allow_repeat=self.allow_repeat,
                title="AutonomousNode",
            )
        )
        graph.always("autonomous", END, "done")
        return graph

    def _default_pool(self) -> list[Node]:
        return [
            PromptNode(
                "reason",
                _REASON,
                tools=self.tools,
                max_iterations=self.max_tool_rounds,
                when_out="return",
                answers=False,
                description="work on the task with the tools",
            ),
            PromptNode("analyze", _ANALYZE, answers=False, description="analyze what has been found so far"),
            SynthesizeNode("synthesize", description="write the final answer"),
        ]


_REASON = "Work on the task with the tools you have, then write down what you found. Do not answer the task yet."
_ANALYZE = "Analyze what has been found so far: what follows from it, what is missing, what contradicts."
