"""Stages of a graph that write, each a small policy.

Every stage sees the same stable prefix (system prompt and shared blocks), the conversation so far and its own
instructions, in this order.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from brain.errors import BrainError, GraphError, WrongType, whole_number
from brain.graph.state import END, GraphState, NodeResult
from brain.graph.writing import value_of, written
from brain.messages import Transcript, assistant
from brain.policy import Policy, ask, note
from brain.toolloop import ToolTalk, tool_loop
from brain.tools import Tool, Toolset

__all__ = ["Node", "ObserveNode", "PromptNode", "StageNode", "SynthesizeNode", "TextNode", "execute"]


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
        if not name.strip() or name == END:
            raise GraphError(f"a stage needs a name of its own, not {name!r}")
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

    def used_up(self, state: GraphState) -> bool:
        """Whether the stage has been executed as often as it may be."""
        return self.max_visits is not None and state.visits[self.name] >= self.max_visits

    def as_step(self) -> Node:
        """Return the stage as it is executed when a model has chosen it from a pool."""
        return self

    @property
    def routes(self) -> Mapping[str, str]:
        """The routes the stage itself may choose: what it says, and the stage that follows."""
        return {}

    def all_tools(self) -> Mapping[str, Tool]:
        """Return the tools that the stage may call, by name."""
        return {}

    @property
    def exit(self) -> str:
        """Which stage in diagrams the ways on start from: this one, or one inside it."""
        return self.name

    def inner_nodes(self) -> dict[str, str]:
        """Return the stages inside this one, with their titles, for diagrams."""
        return {}

    def inner_edges(self) -> list[tuple[str, str, str, bool]]:
        """Return arrows inside this stage for diagrams: from, to, label, whether dotted."""
        return []


def execute(node: Node, state: GraphState) -> Policy[NodeResult]:
    """Execute a stage; the record says that it begins, how it ends, and what failed in it."""
    name = node.name
    state.visits[name] += 1
    state.path.append(name)
    yield from note("stage", name, phase=name)
    try:
        result = yield from node.run(state)
    except BrainError as error:
        yield from note("stage failed", f"{name}: {error}", phase=name)
        yield from note("stage ended", name, phase=name, data={"ok": False})
        raise
    state.results[name] = result
    yield from note("stage ended", name, phase=name, data={"ok": result.ok})
    return result


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
        limit: the name under which users know ``max_iterations``, for the error.
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
        limit: str = "max_iterations",
        last_chance: bool = False,
        when_out: str = "raise",
        answers: bool = True,
        clears: Iterable[str] = (),
        show_loop: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(name, instructions, **options)
        if when_out not in ("raise", "return"):
            raise GraphError(f"stage {name!r}: when_out is 'raise' or 'return', not {when_out!r}")
        self.tools = Toolset(tools, native=True)
        self.max_iterations = whole_number(f"stage {name!r}", "max_iterations", max_iterations)
        self.limit = limit
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
        state.keep(*talk.messages[len(request) :])
        if talk.spent and not self.last_chance:
            return NodeResult(self.name, talk.reply.text, ok=False, spent=True, error=talk.problem)
        text = yield from written(talk.messages, talk.reply, self.name)
        state.keep(assistant(text))
        if self.answers:
            state.answer = text
        for key in self.clears:
            state.context.pop(key, None)
        output = value_of(text)
        self.keep(state, output)
        return NodeResult(self.name, text, output)

    def _loop(self, state: GraphState, request: Transcript) -> Policy[ToolTalk]:
        left = self.max_iterations
        when_spent = "answer" if self.last_chance else self.when_out
        if self.max_visits is not None:
            left = max(min(left, self.max_visits - state.visits[self.name] + 1), 1)
            when_spent = "return" if self.when_spent is not None and when_spent == "raise" else when_spent
        ledger, facts_only = state.ledger, self.context_scope in ("ledger", "auto")

        def view(transcript: Transcript) -> Transcript:
            return ledger.view(transcript, len(request), question=state.task, auto=self.context_scope == "auto")

        def before_round() -> Policy[None]:
            state.visits[self.name] += 1
            state.path.append(self.name)
            yield from note("round", self.name, phase=self.name)
            if facts_only and ledger.excess:
                text = f"{self.name}: the request is about {ledger.excess} tokens over max_tokens"
                yield from note("over budget", text, phase=self.name)

        return (
            yield from tool_loop(
                request,
                self.tools,
                max_rounds=left,
                limit=self.limit,
                when_spent=when_spent,
                view=view if facts_only else None,
                ledger=ledger,
                before_round=before_round,
                phase=self.name,
            )
        )

    def as_step(self) -> PromptNode:
        """Return a copy that ends when its requests are used up, for the model to choose again."""
        step = copy.copy(self)
        step.when_out = "return"
        return step


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
