"""Graphs: policies built from stages and edges."""

from brain.graph.core import Edge, PromptBlock, PromptGraph
from brain.graph.more_nodes import AutonomousNode, GuardNode, PolicyNode
from brain.graph.nodes import (
    CritiqueNode,
    JudgementNode,
    Node,
    ObserveNode,
    PlanNode,
    PromptNode,
    ReflectNode,
    StageNode,
    SynthesizeNode,
    TextNode,
    ThinkNode,
    ValidateNode,
)
from brain.graph.state import END, GraphState, NodeResult

__all__ = [
    "END",
    "AutonomousNode",
    "CritiqueNode",
    "Edge",
    "GraphState",
    "GuardNode",
    "JudgementNode",
    "Node",
    "NodeResult",
    "ObserveNode",
    "PlanNode",
    "PolicyNode",
    "PromptBlock",
    "PromptGraph",
    "PromptNode",
    "ReflectNode",
    "StageNode",
    "SynthesizeNode",
    "TextNode",
    "ThinkNode",
    "ValidateNode",
]
