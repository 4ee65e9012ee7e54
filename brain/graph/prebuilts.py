"""The prebuilt patterns as graphs: ``PromptGraph.debate(...)`` and its kin.

These are the only references from the graphs up to the patterns; each is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.graph.core import PromptGraph
    from brain.graph.nodes import Node

__all__ = ["Prebuilts"]


class Prebuilts:
    """One class method for each prebuilt pattern, with the parameters of its specification."""

    @classmethod
    def react(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        max_node_iterations: int = 15,
        **options: Any,
    ) -> PromptGraph:
        """One stage that calls tools until it can answer; see ``brain.patterns.React``."""
        from brain.patterns.native import React

        options |= {"system_prompt": system_prompt, "blocks": blocks}
        return React(tools, max_node_iterations=max_node_iterations, **options).graph()

    @classmethod
    def verify(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        max_node_iterations: int = 6,
        **options: Any,
    ) -> PromptGraph:
        """One stage that plans, solves and checks in one reply; see ``brain.patterns.Verify``."""
        from brain.patterns.native import Verify

        options |= {"system_prompt": system_prompt, "blocks": blocks}
        return Verify(tools, max_node_iterations=max_node_iterations, **options).graph()

    @classmethod
    def managed(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        max_node_iterations: int = 30,
        **options: Any,
    ) -> PromptGraph:
        """One stage that is shown facts instead of a transcript; see ``brain.patterns.Managed``."""
        from brain.patterns.native import Managed

        options |= {"system_prompt": system_prompt, "blocks": blocks}
        return Managed(tools, max_node_iterations=max_node_iterations, **options).graph()

    @classmethod
    def code_action(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        sandbox_factory: Callable[[], Any] | None = None,
        max_repairs: int = 1,
        exec_timeout: int = 120,
        max_tool_calls: int = 50,
    ) -> PromptGraph:
        """One program over the tools, run in a sandbox; see ``brain.patterns.CodeAction``."""
        from brain.patterns.code_action import CodeAction

        return CodeAction(
            tools,
            sandbox=sandbox_factory() if sandbox_factory is not None else None,
            max_repairs=max_repairs,
            exec_timeout=exec_timeout,
            max_tool_calls=max_tool_calls,
            system_prompt=system_prompt,
            blocks=blocks,
        ).graph()

    @classmethod
    def peoatr(
        cls,
        tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        planning_instructions: str = "",
        acting_instructions: str = "",
        thinking_instructions: str = "",
        reflecting_instructions: str = "",
        max_act_steps: int = 12,
        **options: Any,
    ) -> PromptGraph:
        """Plan, act, think, reflect, answer; see ``brain.patterns.PEOATR``."""
        from brain.patterns.peoatr import PEOATR

        options |= {"system_prompt": system_prompt, "blocks": blocks, "max_act_steps": max_act_steps}
        options |= {"planning_instructions": planning_instructions, "acting_instructions": acting_instructions}
        options |= {"thinking_instructions": thinking_instructions, "reflecting_instructions": reflecting_instructions}
        return PEOATR(tools, **options).graph()

    @classmethod
    def research(
        cls,
        search_tools: Any = None,
        synthesis_tools: Any = None,
        system_prompt: str = "",
        blocks: Any = None,
        verify: bool = True,
        max_search_steps: int = 12,
        max_verify_rounds: int = 2,
        **options: Any,
    ) -> PromptGraph:
        """Search, verify, synthesize; see ``brain.patterns.Research``."""
        from brain.patterns.research import Research

        options |= {"system_prompt": system_prompt, "blocks": blocks, "synthesis_tools": synthesis_tools}
        options |= {"verify": verify, "max_search_steps": max_search_steps, "max_verify_rounds": max_verify_rounds}
        return Research(search_tools, **options).graph()

    @classmethod
    def autonomous(
        cls,
        node_pool: Any = None,
        system_prompt: str = "",
        tools: Any = None,
        max_steps: int = 15,
        blocks: Any = None,
        max_tool_rounds: int = 10,
        **options: Any,
    ) -> PromptGraph:
        """A model that chooses its steps; see ``brain.patterns.Autonomous``."""
        from brain.patterns.autonomous import Autonomous

        options |= {"system_prompt": system_prompt, "blocks": blocks, "tools": tools}
        options |= {"max_steps": max_steps, "max_tool_rounds": max_tool_rounds}
        return Autonomous(node_pool, **options).graph()

    @classmethod
    def deliberate(
        cls, tools: Any = None, system_prompt: str = "", blocks: Any = None, max_act_steps: int = 12, **options: Any
    ) -> PromptGraph:
        """Think, plan, act, observe, reflect, answer; see ``brain.patterns.Deliberate``."""
        from brain.patterns.deliberate import Deliberate

        options |= {"system_prompt": system_prompt, "blocks": blocks}
        return Deliberate(tools, max_act_steps=max_act_steps, **options).graph()

    @classmethod
    def debate(
        cls,
        system_prompt: str = "",
        tools: Any = None,
        blocks: Any = None,
        max_rounds: int = 3,
        max_proposer_steps: int = 12,
        **options: Any,
    ) -> PromptGraph:
        """Propose, criticise, judge, answer; see ``brain.patterns.Debate``."""
        from brain.patterns.debate import Debate

        options |= {"system_prompt": system_prompt, "blocks": blocks}
        return Debate(tools, max_rounds=max_rounds, max_proposer_steps=max_proposer_steps, **options).graph()

    @classmethod
    def pipeline(cls, *nodes: Node, **options: Any) -> PromptGraph:
        """Stages in a row; see ``brain.patterns.Pipeline``."""
        from brain.patterns.pipeline import Pipeline

        return Pipeline(*nodes, **options).graph()
