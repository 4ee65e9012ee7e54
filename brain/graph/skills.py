"""Stages that graphs often need, ready made."""

from __future__ import annotations

from typing import Any

from brain.graph.nodes import PromptNode

__all__ = ["planner", "summarizer", "web_researcher"]


def planner(name: str = "plan", **options: Any) -> PromptNode:
    """A stage that writes a plan for the stages after it; ``options`` are those of ``PromptNode``."""
    return PromptNode(name, **{"instructions": _PLAN, "answers": False, **options})


def web_researcher(name: str = "search", tools: Any = None, **options: Any) -> PromptNode:
    """A stage that looks things up with the tools it is given and notes its sources."""
    return PromptNode(name, **{"instructions": _SEARCH, "tools": tools, "answers": False, "show_loop": True, **options})


def summarizer(name: str = "write", **options: Any) -> PromptNode:
    """A stage that writes up what has been found."""
    return PromptNode(name, **{"instructions": _SUMMARIZE, **options})


_PLAN = "Write a short plan for this task: numbered steps, each something that can be looked up or worked out."
_SEARCH = "Look up what the plan needs with the tools you have, and write down what you found and where."
_SUMMARIZE = "Write a clear answer to the task from what has been found above."
