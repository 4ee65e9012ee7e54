"""Stages that come to a structured value, which decides the way on.

The JSON they ask for never enters the conversation; the value is kept in ``state.context``. What cannot be
read never decides in favour: a check has not passed, a critique is severe, a plan is not good enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from brain.errors import GraphError, StructureError
from brain.graph.nodes import StageNode
from brain.graph.state import GraphState, NodeResult
from brain.policy import Policy, note
from brain.structured import ask_as
from brain.structured.judgements import (
    DebateCritique,
    DebateVerdict,
    PeoatrPlan,
    PeoatrReflection,
    PeoatrThought,
)

__all__ = ["CritiqueNode", "JudgementNode", "PlanNode", "ReflectNode", "ThinkNode", "ValidateNode"]


class JudgementNode(StageNode):
    """A stage that comes to a structured value, which decides the way on.

    A reply that cannot be read is asked for once more; then ``unreadable`` decides, and never in favour.

    Args:
        name: the stage's name.
        kind: the dataclass to fill in.
        instructions: what it is asked to do.
        unreadable: the value to go on with when none can be read.
        **options: as for ``StageNode``; ``output_key`` is the stage's name by default.
    """

    def __init__(
        self, name: str, kind: type[Any], instructions: str | None = None, *, unreadable: Any = None, **options: Any
    ) -> None:
        super().__init__(name, instructions, **{"output_key": name, **options})
        self.kind = kind
        self.unreadable = unreadable

    def run(self, state: GraphState) -> Policy[NodeResult]:
        request = state.request(self.told(state), scope=self.context_scope)
        try:
            value = yield from ask_as(self.kind, request, phase=self.name)
        except StructureError as error:
            value, problem = self.unreadable, str(error)
            yield from note("fallback", f"{self.name}: {problem}", phase=self.name, data={"taken as": str(value)})
        else:
            problem = ""
        if value is not None:
            self.keep(state, value)
        chosen = getattr(value, "route", None)
        if chosen is not None and chosen not in self.routes:
            yield from note("fallback", f"{self.name}: {chosen!r} is no route from here", phase=self.name)
        return self.judged(state, value, problem)

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        """Return what the value means for the way on."""
        route = getattr(value, "route", None)
        return NodeResult(self.name, output=value, ok=not problem, route=route, error=problem)


class PlanNode(JudgementNode):
    """A stage that divides the task into subgoals and rates its plan.

    Args:
        name: the stage's name.
        least_quality: the rating below which the plan does not count as good enough.
        **options: as for ``JudgementNode``.
    """

    default_instructions = (
        "Divide the task into two to four subgoals, in the order in which they lead to the answer, and rate the plan "
        "from 1 (poor) to 5 (nothing to add)."
    )

    def __init__(self, name: str, instructions: str | None = None, *, least_quality: int = 3, **options: Any) -> None:
        super().__init__(name, options.pop("kind", PeoatrPlan), instructions, **{"output_key": "plan", **options})
        self.least_quality = least_quality

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        if value is not None:
            state.context["subgoals done"] = 0
        good = value is not None and value.quality_score >= self.least_quality
        return NodeResult(self.name, output=value, ok=good, error=problem)


class ThinkNode(JudgementNode):
    """A stage that asks what the latest results mean: go on acting, or step back.

    Args:
        name: the stage's name.
        routes: what it may choose, and the stage that follows.
        default: the route when none can be read; it must be one of ``routes``.
        **options: as for ``JudgementNode``.
    """

    default_instructions = (
        "Think about the latest results. Is the active subgoal reached? Is another tool call needed now "
        "(continue), or is it time to look at the whole (reflect)?"
    )
    default_kind: ClassVar[type[Any]] = PeoatrThought

    def __init__(
        self,
        name: str,
        instructions: str | None = None,
        *,
        routes: Mapping[str, str],
        default: str,
        **options: Any,
    ) -> None:
        super().__init__(name, options.pop("kind", self.default_kind), instructions, **options)
        if default not in routes:
            raise GraphError(f"stage {name!r}: the default route {default!r} is none of {', '.join(routes)}")
        self._routes = dict(routes)
        self.default = default

    @property
    def routes(self) -> Mapping[str, str]:
        return self._routes

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        if getattr(value, "subgoal_complete", False):
            state.context["subgoals done"] = state.context.get("subgoals done", 0) + 1
        route = value.route if value is not None and value.route in self._routes else self.default
        return NodeResult(self.name, output=value, ok=not problem, route=route, error=problem)


class ReflectNode(ThinkNode):
    """A stage that looks at the whole: answer, plan anew, or go on."""

    default_instructions = (
        "Look at the whole. Can the task be answered now (answer)? Does the plan lead nowhere (replan)? "
        "Or should the work go on (continue)? If something went wrong, say what, and how to put it right."
    )
    default_kind = PeoatrReflection


class CritiqueNode(JudgementNode):
    """A stage that looks for weaknesses; ``ok`` when they are not severe.

    Args:
        name: the stage's name.
        tolerance: severities above this are severe; 0.3 is the specification's.
        **options: as for ``JudgementNode``.
    """

    default_instructions = (
        "Criticise the latest proposal above: what is wrong, unsupported or missing, and what would put it right? "
        "Rate how severe that is, from 0.0 (not at all) to 1.0 (fatal)."
    )

    def __init__(self, name: str, instructions: str | None = None, *, tolerance: float = 0.3, **options: Any) -> None:
        unread = DebateCritique(1.0, ["The critique could not be read."])
        options = {"output_key": "critique", "unreadable": unread, **options}
        super().__init__(name, options.pop("kind", DebateCritique), instructions, **options)
        self.tolerance = tolerance

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        return NodeResult(self.name, output=value, ok=value.severity <= self.tolerance, error=problem)


class ValidateNode(JudgementNode):
    """A stage that checks what was written; ``ok`` when it passes."""

    decisive = True

    default_instructions = "Check the latest text above. Does it hold up? List every issue."

    def __init__(self, name: str, instructions: str | None = None, **options: Any) -> None:
        unread = DebateVerdict(False, ["The verdict could not be read."])
        options = {"output_key": "verdict", "unreadable": unread, **options}
        super().__init__(name, options.pop("kind", DebateVerdict), instructions, **options)

    def judged(self, state: GraphState, value: Any, problem: str) -> NodeResult:
        return NodeResult(self.name, output=value, ok=value.passes, error=problem)
