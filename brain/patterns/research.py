"""Research: search, verify, synthesize.

search --> verify --> synthesize
   ^--------+
     fail
"""

from __future__ import annotations

from typing import Any

from brain.errors import whole_number
from brain.graph import END, PromptGraph, PromptNode, ValidateNode
from brain.patterns.stages import StagePattern
from brain.structured.judgements import ResearchVerdict
from brain.types import LLMProvider

__all__ = ["Research"]


class Research(StagePattern):
    """A searcher whose findings are checked against what the tools returned, before the answer is written.

    Args:
        search_tools: what the searcher may call.
        provider: the model to ask.
        synthesis_tools: what the writer may call, if anything.
        verify: whether findings are checked; each check is one more call.
        max_search_steps: how many requests the searcher may make in a run; every round with tools counts.
        max_verify_rounds: how many checks a run may make.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    def __init__(
        self,
        search_tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        synthesis_tools: Any = None,
        verify: bool = True,
        max_search_steps: int = 12,
        max_verify_rounds: int = 2,
        **options: Any,
    ) -> None:
        super().__init__(search_tools, provider, **options)
        self.synthesis_tools = synthesis_tools
        self.verify = verify
        self.max_search_steps = whole_number("Research", "max_search_steps", max_search_steps)
        self.max_verify_rounds = whole_number("Research", "max_verify_rounds", max_verify_rounds)

    def graph(self) -> PromptGraph:
        """Two stages or three; a budget that is used up leads on to the writer."""
        steps, issues = self.max_search_steps, {"verification": "The latest check of the findings"}
        graph = self._new("research")

        graph.add_node(
            PromptNode(
                "search",
                _SEARCH,
                tools=self.tools,
                reads=issues,
                answers=False,
                show_loop=True,
                max_visits=steps,
                when_spent="synthesize",
                max_iterations=steps,
            )
        )
        if self.verify:
            graph.add_node(
                ValidateNode(
                    "verify",
                    _VERIFY,
                    kind=ResearchVerdict,
                    output_key="verification",
                    unreadable=ResearchVerdict(False, ["The check could not be read."]),
                    max_visits=self.max_verify_rounds,
                    when_spent="synthesize",
                )
            )
        graph.add_node(
            PromptNode("synthesize", _SYNTHESIZE, tools=self.synthesis_tools, reads=issues, last_chance=True)
        )

        graph.always("search", "verify" if self.verify else "synthesize")
        if self.verify:
            graph.when("verify", "synthesize", lambda result: result.ok, "pass")
            graph.when("verify", "search", lambda result: not result.ok, "fail")
        graph.always("synthesize", END)
        return graph


_SEARCH = (
    "Gather what the task needs with the tools you have, then write down the findings, each with where it comes from. "
    "If a check has found issues, look up what is missing."
)
_VERIFY = (
    "Check the findings above. Is every claim backed by a tool result in the conversation? Does nothing contradict the "
    "sources or itself? Is the whole question covered? List every issue."
)
_SYNTHESIZE = (
    "Write the final answer from the findings above. Where a check still lists issues, correct them, or say openly "
    "what is not certain."
)
