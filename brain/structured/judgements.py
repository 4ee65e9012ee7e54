"""What models are asked to decide, as dataclasses: plans, thoughts, reflections, critiques and verdicts.

A field that a decision hangs on has no default: where it is missing, the reply does not fit, and the model
is asked again. The others are for the next stage to read, and may be missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from brain.structured.marks import Exact, Scale

__all__ = [
    "DebateCritique",
    "DebateVerdict",
    "PeoatrPlan",
    "PeoatrReflection",
    "PeoatrThought",
    "ResearchVerdict",
]


@dataclass(frozen=True, slots=True)
class PeoatrPlan:
    """A plan, and what its author thinks of it."""

    subgoals: Annotated[list[str], "the steps that lead to the answer, two to four of them, in order"]
    quality_score: Annotated[int, Scale(1, 5), "how good the plan is, from 1 (poor) to 5 (nothing to add)"]


@dataclass(frozen=True, slots=True)
class PeoatrThought:
    """What the latest results mean for the active subgoal."""

    route: Annotated[
        Literal["continue", "reflect"], "continue: another tool call is needed now; reflect: look at the whole"
    ]
    subgoal_complete: Annotated[bool, "whether the active subgoal is reached"] = False
    """A model that does not say so has not reached it."""
    analysis: Annotated[str, "what the results show, and what is still missing"] = ""


@dataclass(frozen=True, slots=True)
class PeoatrReflection:
    """Where the run stands as a whole."""

    route: Annotated[
        Literal["answer", "replan", "continue"],
        "answer: the question can be answered now; replan: the plan does not lead there; continue: go on with it",
    ]
    progress: Annotated[str, "what has been reached so far, in one sentence"] = ""
    mistake: Annotated[str, "what went wrong so far; empty if nothing did"] = ""
    correction: Annotated[str, "how to put that right; empty if nothing went wrong"] = ""


@dataclass(frozen=True, slots=True)
class ResearchVerdict:
    """Whether findings are backed by what the tools returned, hold together and cover the question."""

    passes: Annotated[bool, Exact(), "whether the findings can be relied on as they are"]
    issues: Annotated[list[str], "what is wrong or missing, one sentence each; empty if nothing is"] = field(
        default_factory=list
    )


@dataclass(frozen=True, slots=True)
class DebateCritique:
    """What a critic holds against a proposal."""

    severity: Annotated[float, Scale(0, 1), "how much the weaknesses matter: 0.0 not at all, 1.0 fatal"]
    weaknesses: Annotated[list[str], "what is wrong with the proposal, one sentence each"] = field(default_factory=list)
    improvements: Annotated[list[str], "what would put that right, one sentence each"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DebateVerdict:
    """Whether a proposal, after criticism, holds up."""

    passes: Annotated[bool, Exact(), "whether the proposal can be given as the answer"]
    issues: Annotated[list[str], "what still has to be corrected, one sentence each; empty if nothing"] = field(
        default_factory=list
    )
