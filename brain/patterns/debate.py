"""Debate: propose, criticise, judge, answer.

proposer --> critic --> judge --> answer
    ^---------+-----------+
     severe flaws     does not hold up
"""

from __future__ import annotations

from typing import Any

from brain.errors import whole_number
from brain.graph import END, CritiqueNode, PromptGraph, PromptNode, SynthesizeNode, ValidateNode
from brain.patterns.stages import StagePattern
from brain.types import LLMProvider

__all__ = ["Debate"]


class Debate(StagePattern):
    """A proposer, a critic and a judge; a run always ends with a written answer.

    Args:
        tools: what the proposer may call.
        provider: the model to ask.
        max_rounds: how many times the critic and the judge may each be asked.
        max_proposer_steps: how many requests the proposer may make in a run; every round with tools counts.
        **options: ``system_prompt``, ``blocks`` and ``context_compaction``, as for ``StagePattern``.
    """

    def __init__(
        self,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        max_rounds: int = 3,
        max_proposer_steps: int = 12,
        **options: Any,
    ) -> None:
        super().__init__(tools, provider, **options)
        self.max_rounds = whole_number("Debate", "max_rounds", max_rounds)
        self.max_proposer_steps = whole_number("Debate", "max_proposer_steps", max_proposer_steps)

    def graph(self) -> PromptGraph:
        """Four stages; criticism and verdicts are out of date once a new proposal stands."""
        rounds, steps = self.max_rounds, self.max_proposer_steps
        criticism = {"critique": "The critique of the latest proposal"}
        both = {**criticism, "verdict": "The judge's verdict on it"}
        graph = self._new("debate")

        graph.add_node(
            PromptNode(
                "proposer",
                _PROPOSER,
                tools=self.tools,
                reads=both,
                clears=tuple(both),
                show_loop=True,
                answers=False,
                max_visits=steps,
                when_spent="answer",
                max_iterations=steps,
            )
        )
        graph.add_node(CritiqueNode("critic", max_visits=rounds, when_spent="judge"))
        graph.add_node(ValidateNode("judge", _JUDGE, reads=criticism, max_visits=rounds, when_spent="answer"))
        graph.add_node(SynthesizeNode("answer", _ANSWER, reads=both))

        graph.always("proposer", "critic")
        graph.when("critic", "proposer", lambda result: not result.ok, "severity high")
        graph.when("critic", "judge", lambda result: result.ok, "severity low")
        graph.when("judge", "proposer", lambda result: not result.ok, "fail")
        graph.when("judge", "answer", lambda result: result.ok, "pass")
        graph.always("answer", END)
        return graph


_PROPOSER = (
    "Propose an answer to the task, with the reasons for it. If a critique or a verdict is given, revise your proposal "
    "so that it meets each point, and write the whole of it again."
)
_JUDGE = "Judge the latest proposal above. Does it hold up, all things considered? List every issue that remains."
_ANSWER = (
    "Write the final answer: the latest proposal, corrected for every issue that is still listed. Say nothing of the "
    "debate itself."
)
