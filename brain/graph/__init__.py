"""Graphs: policies built from stages and edges."""

from brain.graph.core import Edge, PromptBlock, PromptGraph
from brain.graph.judging import CritiqueNode, JudgementNode, PlanNode, ReflectNode, ThinkNode, ValidateNode
from brain.graph.more_nodes import AutonomousNode, GuardNode, PolicyNode
from brain.graph.nodes import Node, ObserveNode, PromptNode, StageNode, SynthesizeNode, TextNode
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
