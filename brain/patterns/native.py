"""Patterns of one stage that works with tools: React, Verify and Managed.

repeat
    the model calls tools, and is shown their results
until it writes the answer
"""

from __future__ import annotations

from typing import Any, ClassVar

from brain.errors import whole_number
from brain.graph import END, PromptGraph, PromptNode
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["Managed", "React", "Verify"]


class React(StagePattern):
    """A model that calls tools natively until it can answer.

    Unlike ``ReActAgent``, which speaks a text protocol to any model, this needs a model (or a
    ``TextToolsProvider`` around one) that makes tool calls. From the sixth result on, it is shown a ledger of
    facts instead of a growing transcript.

    Args:
        tools: what the model may call.
        provider: the model to ask.
        max_node_iterations: how many times the model may be asked; beyond that the run fails, and says which
            calls were left.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    _name: ClassVar[str] = "react"
    _scope: ClassVar[str] = "auto"
    _instructions: ClassVar[str] = ""
    _title: ClassVar[str] = ""

    def __init__(
        self,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        max_node_iterations: int = 15,
        **options: Any,
    ) -> None:
        super().__init__(tools, provider, **options)
        self.max_node_iterations = whole_number(self.name, "max_node_iterations", max_node_iterations)

    def graph(self) -> PromptGraph:
        """One stage, and the end."""
        graph = self._new(self._name)
        graph.add_node(
            PromptNode(
                "reason",
                self._instructions,
                tools=self.tools,
                max_iterations=self.max_node_iterations,
                limit="max_node_iterations",
                context_scope=self._scope,
                show_loop=self._name == "react",
                title=self._title,
            )
        )
        graph.always("reason", END, "final answer" if self._name == "react" else "")
        return graph


class Verify(React):
    """A model that is told to plan, solve and check within a single reply, before it answers.

    The check costs no further call. It helps models that would otherwise answer at once; one that reasons by
    itself gains little from it.

    Args:
        tools: what the model may call.
        provider: the model to ask.
        max_node_iterations: how many times the model may be asked.
        **options: as for ``React``.
    """

    _name = "verify"
    _title = "reason\n(plan → solve → verify)"

    def __init__(
        self, tools: Any = None, provider: LLMProvider | None = None, *, max_node_iterations: int = 6, **options: Any
    ) -> None:
        super().__init__(tools, provider, max_node_iterations=max_node_iterations, **options)

    _instructions = (
        "Before you answer, do three things. Plan: say in a few words how you will go about it. Solve: carry the plan "
        "out. Check: verify the result independently, by another way or by going through each step again, and put "
        "right what is wrong. Then give the answer."
    )


class Managed(React):
    """A tool loop for long chains: the model is shown facts, and not an ever longer transcript.

    At each request it sees the question, every fact gathered so far on a line of its own, and the latest
    exchange; see ``ContextCompaction``. The size of a request stays bounded. Whether fewer calls are made
    depends on the model: measure with ``ContextCompaction(enabled=False)`` as the baseline.

    Args:
        tools: what the model may call.
        provider: the model to ask.
        max_node_iterations: how many times the model may be asked.
        **options: as for ``React``.
    """

    _name = "managed"
    _scope = "ledger"
    _title = "reason\n(tool loop + facts ledger)"

    def __init__(
        self, tools: Any = None, provider: LLMProvider | None = None, *, max_node_iterations: int = 30, **options: Any
    ) -> None:
        super().__init__(tools, provider, max_node_iterations=max_node_iterations, **options)
