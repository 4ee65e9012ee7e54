"""Patterns that are diagrams: a graph of stages, joined to the runtime like any pattern."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from brain.errors import WrongType
from brain.graph import PromptGraph
from brain.patterns.base import BasePattern
from brain.policy import Finish, Policy
from brain.tools import Toolset
from brain.types import LLMProvider

__all__ = ["GraphPattern", "StagePattern"]


class StagePattern(BasePattern):
    """A pattern written as a graph.

    Args:
        tools: what the model may call.
        provider: the model to ask; without one, the offline ``LocalEchoProvider``.
        system_prompt: shown to every stage, first.
        blocks: paragraphs that all stages share, after the system prompt.
        context_compaction: how long tool loops are shown; see ``ContextCompaction``.
    """

    def __init__(
        self,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        system_prompt: str = "",
        blocks: Any = None,
        context_compaction: Any = None,
    ) -> None:
        super().__init__(tools, provider)
        self.system_prompt = system_prompt
        self.blocks = tuple(blocks or ())
        self.context_compaction = context_compaction

    @abstractmethod
    def graph(self) -> PromptGraph:
        """Return the graph of the pattern."""

    def policy(self, task: str) -> Policy[Finish]:
        """Walk the graph."""
        return self.graph().policy(task)

    def _new(self, name: str) -> PromptGraph:
        """Return an empty graph with what all stages share."""
        return PromptGraph(
            name,
            system_prompt=self.system_prompt,
            blocks=self.blocks,
            context_compaction=self.context_compaction,
            max_steps=None,  # the stages of a pattern have budgets of their own
        )

    def _toolset(self) -> Toolset:
        return Toolset(self.graph().tools())


class GraphPattern(StagePattern):
    """A graph of one's own as a pattern.

    Args:
        graph: the graph.
        provider: the model to ask.
    """

    def __init__(self, graph: PromptGraph, provider: LLMProvider | None = None) -> None:
        if not isinstance(graph, PromptGraph):
            raise WrongType(f"GraphPattern: graph must be a PromptGraph, not {type(graph).__name__}")
        graph.validate()
        super().__init__(None, provider)
        self._graph = graph
        self._sandbox = graph.sandbox

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self._graph.name

    def graph(self) -> PromptGraph:
        """Return the graph."""
        return self._graph
