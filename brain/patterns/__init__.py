"""The catalogue: one file per pattern.

Each pattern is imported when it is first named, so that a program pays for those it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from brain.patterns.base import BasePattern
from brain.patterns.react import ReActAgent

if TYPE_CHECKING:
    from brain.patterns.autonomous import Autonomous
    from brain.patterns.code_action import CodeAction
    from brain.patterns.contract_forms import ReActContract, ReActMachine
    from brain.patterns.contracts import ContractPattern, PluginPattern
    from brain.patterns.debate import Debate
    from brain.patterns.deliberate import Deliberate
    from brain.patterns.native import Managed, React, Verify
    from brain.patterns.orchestrator import MultiAgentOrchestrator, Worker
    from brain.patterns.peoatr import PEOATR
    from brain.patterns.pipeline import Pipeline
    from brain.patterns.plan_and_execute import PlanAndExecute
    from brain.patterns.plan_contract import PlanAndExecuteContract
    from brain.patterns.reflexion import Reflexion
    from brain.patterns.research import Research
    from brain.patterns.self_consistency import SelfConsistency
    from brain.patterns.stages import GraphPattern, StagePattern
    from brain.patterns.tree_of_thoughts import TreeOfThoughts

__all__ = [
    "PEOATR",
    "Autonomous",
    "BasePattern",
    "CodeAction",
    "ContractPattern",
    "Debate",
    "Deliberate",
    "GraphPattern",
    "Managed",
    "MultiAgentOrchestrator",
    "Pipeline",
    "PlanAndExecute",
    "PlanAndExecuteContract",
    "PluginPattern",
    "ReActAgent",
    "ReActContract",
    "ReActMachine",
    "React",
    "Reflexion",
    "Research",
    "SelfConsistency",
    "StagePattern",
    "TreeOfThoughts",
    "Verify",
    "Worker",
]

_HOMES = {
    **dict.fromkeys(("Managed", "React", "Verify"), "native"),
    "CodeAction": "code_action",
    **dict.fromkeys(("MultiAgentOrchestrator", "Worker"), "orchestrator"),
    "PlanAndExecute": "plan_and_execute",
    "PlanAndExecuteContract": "plan_contract",
    **dict.fromkeys(("ReActContract", "ReActMachine"), "contract_forms"),
    **dict.fromkeys(("ContractPattern", "PluginPattern"), "contracts"),
    "Reflexion": "reflexion",
    "SelfConsistency": "self_consistency",
    "TreeOfThoughts": "tree_of_thoughts",
    **dict.fromkeys(("GraphPattern", "StagePattern"), "stages"),
    **{name: name.lower() for name in ("Autonomous", "Debate", "Deliberate", "PEOATR", "Pipeline", "Research")},
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"brain.patterns.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'brain.patterns' has no attribute {name!r}")
