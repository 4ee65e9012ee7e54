"""Stages of a graph, each a small policy.

Every stage sees the same stable prefix (system prompt and shared blocks), the conversation so far and its own
instructions, in this order. The JSON of planning, judging and routing never enters the conversation; it is
kept in ``state.context`` under the stage's ``output_key``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from brain.errors import GraphError, GraphExecutionError, StructureError, WrongType, whole_number
from brain.graph.state import GraphState, NodeResult
from brain.messages import Transcript, assistant, user
from brain.normalise import legal
from brain.policy import Policy, ask, note
from brain.structured import ask_as, extract
from brain.structured.judgements import (
    DebateCritique,
    DebateVerdict,
    PeoatrPlan,
    PeoatrReflection,
    PeoatrThought,
)
from brain.toolloop import ToolTalk, tool_loop
from brain.tools import Tool, Toolset
from brain.types import Reply

__all__ = [
    "CritiqueNode",
    "JudgementNode",
    "Node",
    "ObserveNode",
    "PlanNode",
    "PromptNode",
    "ReflectNode",
    "StageNode",
    "SynthesizeNode",
    "TextNode",
    "ThinkNode",
    "ValidateNode",
]


class Node(ABC):
    """A stage of a graph.

    Args:
        name: the stage's name, unique in its graph.
        max_visits: how often it may be executed in one run; every round of a tool loop counts.
        when_spent: the stage that follows when they are used up; without one, the run fails.
        title: what diagrams show instead of the name.
        description: what the stage does, for those who choose among stages.
    """

    terminal: ClassVar[bool] = False
    """Whether it writes the answer, so that nothing need follow it."""
    decisive: ClassVar[bool] = False
    """Whether the run fails when the stage does, unless a route or a condition leads on."""

    def __init__(
        self,
        name: str,
        *,
        max_visits: int | None = None,
        when_spent: str | None = None,
        title: str = "",
        description: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise WrongType(f"the name of a stage must be a str, not {type(name).__name__}")
        if not name.strip():
            raise GraphError(f"a stage needs a name, not {name!r}")
        if max_visits is not None:
            whole_number(f"stage {name!r}", "max_visits", max_visits)
        self.name = name
        self.max_visits = max_visits
        self.when_spent = when_spent
        self.title = title
        self.description = description

    @abstractmethod
    def run(self, state: GraphState) -> Policy[NodeResult]:
        """Execute the stage."""

    @property
    def routes(self) -> Mapping[str, str]:
        """The routes the stage itself may choose: what it says, and the stage that follows."""
        return {}

    def all_tools(self) -> Mapping[str, Tool]:
        """Return the tools that the stage may call, by name."""
        return {}

    def inner_nodes(self) -> dict[str, str]:
        """Return the stages inside this one, with their titles, for diagrams."""
        return {}

    def inner_edges(self) -> list[tuple[str, str, str, bool]]:
        """Return arrows inside this stage for diagrams: from, to, label, whether dotted."""
        return []


class StageNode(Node):
    """A stage that asks the model.

    Args:
        name: the stage's name.
        instructions: what the stage is asked to do; extra instructions follow as a paragraph of their own.
        extra: those extra instructions.
        reads: values of the context that the stage is shown, by their titles.
        output_key: where in the context its output is kept.
        input_keys: further values of the context that it is shown, under their own names.
        context_scope: what it sees of the conversation: ``"full"``, all of it; ``"scoped"``, the question only;
            ``"ledger"`` and ``"auto"``, for tool loops: facts instead of a transcript, at once or when it grows.
        **options: as for ``Node``.
    """

    default_instructions: ClassVar[str] = ""
    scopes: ClassVar[tuple[str, ...]] = ("full", "scoped")

    def __init__(
        self,
        name: str,
        instructions: str | None = None,
        *,
        extra: str = "",
        reads: Mapping[str, str] | None = None,
        output_key: str | None = None,
        input_keys: Iterable[str] = (),
        context_scope: str = "full",
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        if context_scope not in self.scopes:
            raise GraphError(f"stage {name!r}: context_scope is one of {', '.join(self.scopes)}, not {context_scope!r}")
        text = self.default_instructions if instructions is None else instructions
        self.instructions = "\n\n".join(part.strip() for part in (text, extra) if part.strip())
        keys = [input_keys] if isinstance(input_keys, str) else list(input_keys)
        self.reads = {**(reads or {}), **{key: key for key in keys}}
        self.output_key = output_key
        self.context_scope = context_scope

    def told(self, state: GraphState) -> str:
        """Return the instructions of a request, with the values of the context that the stage reads."""
        shown = state.shown(self.reads)
        told = self.instructions
        if not told and len(state.conversation) > 1:  # a request ends with what is asked, never with a reply
            told = f"Now carry out the step {self.name!r}, on what has been said so far."
        return "\n\n".join(part for part in (shown, told) if part)

    def keep(self, state: GraphState, value: Any) -> None:
        """Keep the output of the stage in the context."""
        if self.output_key is not None:
            state.context[self.output_key] = value


class PromptNode(StageNode):
    """A stage that works with tools until the model writes a text, which every later stage sees.

    Args:
        name: the stage's name.
        instructions: what it is asked to do.
        tools: what the model may call here.
        max_iterations: how many requests one execution may make; beyond it the run fails, or, with
            ``last_chance``, the tools are withheld in one more request so that a text is written.
        last_chance: see there.
        when_out: what happens beyond ``max_iterations`` otherwise: ``"raise"``, the run fails; ``"return"``, the
            stage ends as ``spent``.
        answers: whether the text may be the answer of the run.
        clears: values of the context that are out of date once this stage has written.
        show_loop: whether diagrams show the tool loop.
        **options: as for ``StageNode``.
    """

    scopes = ("full", "scoped", "ledger", "auto")

    def __init__(
        self,
        name: str,
        instructions: str | None = None,
        *,
        tools: Any = None,
        max_iterations: int = 15,
        last_chance: bool = False,
        when_out: str = "raise",
        answers: bool = True,
        clears: Iterable[str] = (),
        show_loop: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(name, instructions, **options)
        self.tools = Toolset(tools, native=True)
        self.max_iterations = max_iterations
        self.last_chance = last_chance
        self.when_out = when_out
        self.clears = tuple(clears)
        self.answers = answers
        self.show_loop = show_loop

    def all_tools(self) -> Mapping[str, Tool]:
        return self.tools

    def inner_edges(self) -> list[tuple[str, str, str, bool]]:
        return [(self.name, self.name, "tool calls", False)] if self.show_loop else []

    def run(self, state: GraphState) -> Policy[NodeResult]:
        request = state.request(self.told(state), scope=self.context_scope)
        talk = yield from self._loop(state, request)
        state.visits[self.name] += talk.rounds - 1
        for _ in range(talk.rounds - 1):
            state.path.append(self.name)
            yield from note("round", self.name, phase=self.name)
        state.keep(*talk.messages[len(request) :])
        if talk.reply.tool_calls:
            return NodeResult(self.name, talk.reply.text, ok=False, spent=True, error=talk.problem)
        text = yield from written(talk.messages, talk.reply, self.name)
        state.keep(assistant(text))
        if self.answers:
            state.answer = text
        for key in self.clears:
            state.context.pop(key, None)
        output = _object(text)
        self.keep(state, output)
        return NodeResult(self.name, text, output)

    def _loop(self, state: GraphState, request: Transcript) -> Policy[ToolTalk]:
        left = self.max_iterations
        when_spent = "answer" if self.last_chance else self.when_out
        if self.max_visits is not None:
            left = min(left, self.max_visits - state.visits[self.name] + 1)
            when_spent = "return" if self.when_spent is not None and when_spent == "raise" else when_spent
        ledger = state.ledger if self.context_scope in ("ledger", "auto") else None

        def view(transcript: Transcript) -> Transcript:
            auto = self.context_scope == "auto"
            return state.ledger.view(transcript, len(request), question=state.task, auto=auto)

        return (
            yield from tool_loop(
                request,
                self.tools,
                max_rounds=left,
                when_spent=when_spent,
                view=view if ledger is not None else None,
                ledger=ledger,
                phase=self.name,
            )
        )


class SynthesizeNode(PromptNode):
    """A stage that writes the answer; with tools, they are withheld in the end so that it is written."""

    terminal = True
    default_instructions = "Write the final answer to the task, from what has been found out above."

    def __init__(self, name: str, instructions: str | None = None, **options: Any) -> None:
        super().__init__(name, instructions, **{"last_chance": True, **options})


class TextNode(StageNode):
    """A stage that thinks in words; what it writes is kept in the context, out of the conversation."""

    def run(self, state: GraphState) -> Policy[NodeResult]:
        request = state.request(self.told(state), scope=self.context_scope)
        reply = yield from ask(request, phase=self.name)
        text = yield from written(request, reply, self.name)
        self.keep(state, text)
        return NodeResult(self.name, text, text)


class ObserveNode(TextNode):
    """A stage that says what the latest results show, without choosing a way."""

    default_instructions = (
        "Look at the latest results. Say what they show, what they do not show, and whether anything contradicts."
    )


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


def written(messages: Transcript, reply: Reply, phase: str) -> Policy[str]:
    """Return the text of a reply; ask once more for one that is empty or was cut off, then fail."""
    for _ in range(2):
        text = reply.text.strip()
        if text and not reply.cut_off:
            return text
        problem = "was cut off before its end; write it again, in fewer words" if reply.cut_off else "was empty"
        yield from note("repair", f"{phase}: the reply {problem}", phase=phase)
        again = [*messages, *([assistant(text)] if text else []), user(f"Your reply {problem}.")]
        reply = yield from ask(Transcript(legal(again)), phase=phase)
    text = reply.text.strip()
    if text and not reply.cut_off:
        return text
    what = "cut off before its end" if reply.cut_off else "empty"
    raise GraphExecutionError(f"stage {phase}: the model's reply was {what}, three times")


def _object(text: str) -> Any:
    """Return the JSON object that a whole text is, with or without a fence; the text itself if it is none."""
    if text[:1] == "{" or text.startswith("```"):
        try:
            return extract(text, "object")
        except StructureError:
            return text
    return text
