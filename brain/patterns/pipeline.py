"""Pipeline: stages one after another.

first --> second --> ... --> last
"""

from __future__ import annotations

from typing import Any

from brain.errors import GraphError
from brain.graph import END, Node, PromptGraph
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["Pipeline"]


class Pipeline(StagePattern):
    """Stages in a row, without loops or conditions; each sees what those before it wrote.

    Args:
        *nodes: the stages, in order; the objects are not changed.
        provider: the model to ask.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.

    Raises:
        ConfigurationError: there are no stages, or two of one name.
    """

    def __init__(self, *nodes: Node, provider: LLMProvider | None = None, **options: Any) -> None:
        super().__init__(None, provider, **options)
        if not nodes:
            raise GraphError("Pipeline: there are no stages")
        self.nodes = nodes
        self.graph().validate()

    def graph(self) -> PromptGraph:
        """A chain of edges that are always taken; a check that fails ends the run."""
        graph = self._new("pipeline")
        for node in self.nodes:
            graph.add_node(node)
        names = [node.name for node in self.nodes]
        for node, following in zip(self.nodes, [*names[1:], END], strict=True):
            graph.always(node.name, following)
        return graph
