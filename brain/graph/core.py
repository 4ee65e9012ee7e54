"""Graphs: a policy built from data.

A graph is stages and edges. Its engine is a dozen lines, because a stage is a policy too: execute the stage,
choose the edge, go on, until the end.

Rules:

- Only declared routes and edges are followed. What a model writes changes the graph in no way, unless the
  graph was made with ``mode="dynamic"``: then a stage's reply may name, as ``"route"`` of a JSON object, any
  stage there is.
- From the edges of a stage the one with the highest priority whose condition holds is taken; at equal
  priority, edges with a condition come before those without, and earlier ones before later ones.
- A check, guard or pattern that fails ends the run, unless a route or an edge with a condition leads on.
- A stage that has used its visits hands over to ``when_spent``, without being executed.
- A mistake in the graph is found by ``validate()``, before the first model call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brain.errors import BudgetExceeded, GraphError, GraphExecutionError, WrongType, whole_number
from brain.graph.nodes import Node, execute
from brain.graph.prebuilts import Prebuilts
from brain.graph.state import END, GraphState, NodeResult
from brain.ledger import ContextCompaction
from brain.policy import Finish, Policy, note

if TYPE_CHECKING:
    from brain.types import PatternResult

__all__ = ["Edge", "PromptBlock", "PromptGraph"]

Condition = Callable[[NodeResult], Any]


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A paragraph that all stages share, after the system prompt.

    Args:
        name: what it is, for those who read the graph.
        text: the paragraph.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one stage to another.

    Args:
        source: the stage it leaves.
        target: the stage it leads to, or ``END``.
        condition: given the stage's result, whether the edge may be taken; ``None``: always.
        label: the condition in words, for diagrams and traces.
        priority: edges of higher priority are tried first.
    """

    source: str
    target: str
    condition: Condition | None = None
    label: str = ""
    priority: int = 0


class PromptGraph(Prebuilts):
    """Stages and edges, to be run like any pattern.

    Args:
        name: the name of the graph, in traces and errors.
        mode: ``"static"``: only declared edges and routes are followed; ``"dynamic"``: a stage's reply may
            also name the next stage itself.
        system_prompt: shown to every stage, first.
        blocks: paragraphs that all stages share, after the system prompt.
        context_compaction: how long tool loops are shown in stages with ``context_scope="ledger"`` or ``"auto"``.
        max_steps: how many stages one run may execute, beyond which it fails: what ends a loop that nothing else
            ends. ``None`` lifts it.

    Raises:
        ConfigurationError: the mode is neither of the two, or an argument has the wrong type.
    """

    def __init__(
        self,
        name: str = "graph",
        mode: str = "static",
        *,
        system_prompt: str = "",
        blocks: Iterable[PromptBlock | str] | None = None,
        context_compaction: ContextCompaction | None = None,
        max_steps: int | None = 200,
    ) -> None:
        if mode not in ("static", "dynamic"):
            raise GraphError(f"graph {name!r}: mode must be 'static' or 'dynamic', not {mode!r}")
        if not isinstance(system_prompt, str):
            raise WrongType(f"graph {name!r}: system_prompt must be a str, not {type(system_prompt).__name__}")
        self.max_steps = None if max_steps is None else whole_number(f"graph {name!r}", "max_steps", max_steps)
        self.name = name
        self.mode = mode
        self.system_prompt = system_prompt
        self.blocks = tuple(blocks or ())
        self.context_compaction = context_compaction or ContextCompaction()
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.entry: str | None = None
        self.sandbox: Any = None
        """Runs the programs of its stages; by default the first executor here that gives every guarantee."""

    def add_node(self, node: Node) -> PromptGraph:
        """Add a stage; the first one added is the entry unless ``set_entry`` says otherwise."""
        if not isinstance(node, Node):
            raise WrongType(f"graph {self.name!r}: add_node takes a Node, not {type(node).__name__}")
        if node.name in self.nodes:
            raise GraphError(f"graph {self.name!r}: there are two stages called {node.name!r}")
        self.nodes[node.name] = node
        return self

    def always(self, source: str, target: str, label: str = "", *, priority: int = 0) -> PromptGraph:
        """Add an edge that may be taken whatever the stage came to."""
        self.edges.append(Edge(source, target, None, label, priority))
        return self

    def when(
        self, source: str, target: str, condition: Condition, label: str = "", *, priority: int = 0
    ) -> PromptGraph:
        """Add an edge that is taken when its condition holds for the stage's ``NodeResult``."""
        if not callable(condition):
            raise WrongType(f"graph {self.name!r}: the condition of {source} -> {target} must be callable")
        self.edges.append(Edge(source, target, condition, label, priority))
        return self

    def set_entry(self, name: str) -> PromptGraph:
        """Say where the graph begins."""
        self.entry = name
        return self

    def start(self) -> str:
        """Return the name of the stage where the graph begins."""
        return self.entry if self.entry is not None else next(iter(self.nodes), END)

    def validate(self) -> None:
        """Check the graph; ``policy`` does so before every run.

        Raises:
            GraphError: an unknown target, an unreachable stage, no way to the end, stages that hand over to
                each other in a circle, two different tools under one name; all problems are listed.
        """
        from brain.graph.checks import problems

        found = problems(self)
        if found:
            raise GraphError(f"graph {self.name!r}: " + "; ".join(found))

    def policy(self, task: str) -> Policy[Finish]:
        """Walk the graph. This is the whole engine."""
        self.validate()
        state = self.new_state(task)
        name, steps = self.start(), 0
        while name != END:
            node = self.nodes[name]
            if node.used_up(state):
                name = yield from self._hand_over(node)
                continue
            steps = self._counted(steps, name)
            result = yield from execute(node, state)
            if result.spent:
                name = yield from self._hand_over(node)
            else:
                name = yield from self._follow(node, result)
        return self.finish(state)

    def new_state(self, task: str) -> GraphState:
        """Return the state that a run begins with."""
        texts = [block.text if isinstance(block, PromptBlock) else str(block) for block in self.blocks]
        prefix = "\n\n".join(text for text in (self.system_prompt, *texts) if text)
        return GraphState(task, prefix, self.context_compaction)

    def finish(self, state: GraphState) -> Finish:
        """Return the end of a run: the answer that a stage wrote."""
        if state.answer.strip():
            return Finish(state.answer)
        raise GraphExecutionError(f"no answer: none of the stages {', '.join(state.path)} has written one")

    def run(self, task: str, **options: Any) -> PatternResult:
        """Run the graph on a task; ``provider`` and the options of ``BasePattern.run`` are taken by keyword."""
        result: PatternResult = self._pattern(options).run(task, **options)
        return result

    def stream(self, task: str, **options: Any) -> Iterator[Any]:
        """Run the graph on a task, yielding each event as it happens."""
        events: Iterator[Any] = self._pattern(options).stream(task, **options)
        return events

    def _pattern(self, options: dict[str, Any]) -> Any:
        from brain.patterns.stages import GraphPattern

        return GraphPattern(self, options.pop("provider", None))

    def tools(self) -> dict[str, Any]:
        """Return the tools of all stages, by name."""
        found: dict[str, Any] = {}
        for node in self.nodes.values():
            found.update(node.all_tools())
        return found

    def to_mermaid(self, direction: str = "LR") -> str:
        """Draw the graph as a Mermaid diagram, ``direction`` being ``LR`` or ``TD``."""
        from brain.graph.drawing import mermaid

        return mermaid(self, direction)

    def describe(self) -> str:
        """Say the graph in lines of text: its stages with their budgets, and its edges."""
        from brain.graph.drawing import description

        return description(self)

    def outgoing(self, name: str) -> list[Edge]:
        """Return the edges of a stage in the order in which they are tried."""
        edges = [edge for edge in self.edges if edge.source == name]
        return sorted(edges, key=lambda edge: (-edge.priority, edge.condition is None))

    def _counted(self, steps: int, name: str) -> int:
        """Count a stage that is about to be executed."""
        if self.max_steps is not None and steps >= self.max_steps:
            raise BudgetExceeded(
                f"max_steps={self.max_steps} stages have been executed, and {name} would be next; give a stage of the "
                "loop max_visits and when_spent, or raise max_steps",
                limit="max_steps",
                value=self.max_steps,
                pending=(name,),
            )
        return steps + 1

    def _hand_over(self, node: Node) -> Policy[str]:
        """Go on from a stage that has used its visits."""
        if node.when_spent is None:
            raise GraphExecutionError(f"stage {node.name} has used its budget, and hands over to none")
        yield from note("spent", f"{node.name} has used its budget; {node.when_spent} is next", phase=node.name)
        return node.when_spent

    def _follow(self, node: Node, result: NodeResult) -> Policy[str]:
        """Choose the way on from a stage."""
        routes: Mapping[str, str] = node.routes
        if result.route is not None and result.route in routes:
            target, why = routes[result.route], result.route
        elif self.mode == "dynamic" and (named := _named(result)) in (*self.nodes, END):
            target, why = str(named), "the reply names it"
        else:
            target, why = self._edge(node, result)
        yield from note("route", f"{node.name} -> {target}", phase=node.name, data={"why": why})
        return target

    def _edge(self, node: Node, result: NodeResult) -> tuple[str, str]:
        edges = self.outgoing(node.name)
        for edge in edges:
            if edge.condition is None:
                if node.decisive and not result.ok:
                    continue
                return edge.target, edge.label or "always"
            try:
                holds = bool(edge.condition(result))
            except Exception as error:
                raise GraphExecutionError(
                    f"the condition of the edge {edge.source} -> {edge.target} raised {type(error).__name__}: {error}"
                ) from error
            if holds:
                return edge.target, edge.label or "its condition holds"
        if node.decisive and not result.ok:
            raise GraphExecutionError(f"stage {node.name} failed: {result.error or result.output}")
        if edges or node.routes:
            raise GraphExecutionError(f"no edge of stage {node.name} fits what it came to")
        return END, "no way on"


def _named(result: NodeResult) -> Any:
    return result.output.get("route") if isinstance(result.output, dict) else None
