"""Stages that do not ask one question: guards, whole patterns, and a model that chooses the next stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from brain.errors import GraphError, GraphExecutionError, whole_number
from brain.graph.checks import clashing_tools
from brain.graph.nodes import Node, SynthesizeNode, execute
from brain.graph.state import GraphState, NodeResult
from brain.messages import assistant
from brain.policy import Finish, Policy, ask, delegate, note
from brain.structured import read_route
from brain.tools import Tool, Toolset

__all__ = ["AutonomousNode", "GuardNode", "PolicyNode"]


class GuardNode(Node):
    """A stage that checks the latest text with plain code, without the model.

    Args:
        name: the stage's name.
        guards: callables, or objects with a method ``check``, that are given the text and return ``True`` to pass;
            ``False``, or a text that says why, fails. Without any, a text that is not empty passes.
        on_pass: the stage that follows when all pass; by default the edges say.
        on_fail: the stage that follows when one fails; without one, and without an edge, the run fails.
        **options: as for ``Node``.
    """

    decisive = True

    def __init__(
        self,
        name: str,
        guards: Iterable[Any] = (),
        *,
        on_pass: str | None = None,
        on_fail: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self.guards = list(guards)
        for guard in self.guards:
            if not callable(guard) and not callable(getattr(guard, "check", None)):
                raise GraphError(f"stage {name!r}: a guard is a callable or has a method check, not {guard!r:.80}")
        self.on_pass, self.on_fail = on_pass, on_fail

    @property
    def routes(self) -> Mapping[str, str]:
        ways = {"pass": self.on_pass, "fail": self.on_fail}
        return {route: target for route, target in ways.items() if target is not None}

    def run(self, state: GraphState) -> Policy[NodeResult]:
        why = self._why_not(state.answer)
        if why:
            yield from note("guard", f"{self.name}: {why}", phase=self.name)
            state.context[self.name] = why
        ok = not why
        return NodeResult(self.name, output=ok, ok=ok, route="pass" if ok else "fail", error=why)

    def _why_not(self, text: str) -> str:
        """Return why the text does not pass; ``""`` if it does. What is neither yes nor no is an error."""
        if not self.guards:
            return "" if text.strip() else "there is no text"
        for guard in self.guards:
            check: Callable[[str], Any] = getattr(guard, "check", guard)
            called = getattr(guard, "__name__", type(guard).__name__)
            try:
                said = check(text)
            except Exception as error:
                raise GraphExecutionError(
                    f"stage {self.name}: guard {called} raised {type(error).__name__}: {error}"
                ) from error
            if said is False:
                return f"guard {called} failed"
            if isinstance(said, str):
                return said or f"guard {called} failed"
            if said is not True:
                raise GraphExecutionError(
                    f"stage {self.name}: guard {called} returned {said!r}; expected True, False or a text"
                )
        return ""


class _Pattern(Protocol):
    """What a stage needs of a pattern."""

    def policy(self, task: str) -> Policy[Finish]: ...
    def _toolset(self) -> Toolset: ...


class PolicyNode(Node):
    """A whole pattern as a stage; its actions carry the stage's name, and its answer joins the conversation.

    Args:
        name: the stage's name.
        pattern: any pattern; the provider of the graph is asked, not its own.
        task: makes the pattern's task of the state; by default it is the task of the run.
        **options: as for ``Node``.
    """

    decisive = True

    def __init__(
        self, name: str, pattern: _Pattern, *, task: Callable[[GraphState], str] | None = None, **options: Any
    ) -> None:
        super().__init__(name, **options)
        if not callable(getattr(pattern, "policy", None)):
            raise GraphError(f"stage {name!r}: a pattern has a method policy(task), which {pattern!r:.80} has not")
        self.pattern = pattern
        self.task = task

    def all_tools(self) -> Mapping[str, Tool]:
        return self.pattern._toolset()

    def run(self, state: GraphState) -> Policy[NodeResult]:
        task = self.task(state) if self.task is not None else state.task
        finish = yield from delegate(self.name, self.pattern.policy(task))
        if not finish.ok:
            return NodeResult(self.name, finish.answer, ok=False, error=finish.error or "")
        state.keep(assistant(finish.answer))
        state.answer = finish.answer
        return NodeResult(self.name, finish.answer, finish.answer)


class AutonomousNode(Node):
    """A stage in which the model chooses from a pool of stages what to do next, step by step.

    The menu and the model's choice are sent for that one call and never become part of the conversation.

    Args:
        name: the stage's name.
        pool: the stages to choose from.
        max_steps: how many steps it may choose.
        entry_node: the stage to begin with, before the first choice.
        answer_node: the stage that writes the answer if no terminal one has just run: by default the first
            terminal one of the pool, or else one made for it.
        allow_repeat: whether a stage may run more than once.
        instructions: said to the model above the menu.
        **options: as for ``Node``.
    """

    def __init__(
        self,
        name: str,
        pool: Iterable[Node],
        *,
        max_steps: int = 15,
        entry_node: str | None = None,
        answer_node: str | None = None,
        allow_repeat: bool = True,
        instructions: str = "Choose the next step towards the answer.",
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self.pool: dict[str, Node] = {}
        for node in pool:
            if node.name in self.pool or node.name == name:
                raise GraphError(f"stage {name!r}: there are two stages called {node.name!r}")
            if node.name == _DONE:
                raise GraphError(f"stage {name!r}: {_DONE} is what the model says at the end, and no stage")
            self.pool[node.name] = node.as_step()
        if not self.pool:
            raise GraphError(f"stage {name!r}: the pool is empty")
        if clashes := clashing_tools(self.pool.values()):
            raise GraphError(f"stage {name!r}: {'; '.join(clashes)}")
        for named in (entry_node, answer_node):
            if named is not None and named not in self.pool:
                raise GraphError(f"stage {name!r}: {named!r} is not in the pool")
        self.max_steps = whole_number(f"stage {name!r}", "max_steps", max_steps)
        self.entry_node = entry_node
        self.answer_node = answer_node or next((each.name for each in self.pool.values() if each.terminal), None)
        self.allow_repeat = allow_repeat
        self.instructions = instructions

    def all_tools(self) -> Mapping[str, Tool]:
        return {name: tool for node in self.pool.values() for name, tool in node.all_tools().items()}

    def inner_nodes(self) -> dict[str, str]:
        return {name: node.title or name for name, node in self.pool.items()}

    def inner_edges(self) -> list[tuple[str, str, str, bool]]:
        steps = [(self.name, name, f"step {number}", False) for number, name in enumerate(self.pool, 1)]
        return [*steps, *((name, self.name, "result", True) for name in self.pool)]

    def run(self, state: GraphState) -> Policy[NodeResult]:
        done: list[str] = []
        remark = ""
        last = None
        for _ in range(self.max_steps):
            if self.entry_node is not None and not done:
                chosen: str | None = self.entry_node
            else:
                chosen, remark = yield from self._choose(state, done, remark)
            if chosen is None:
                break
            if chosen not in self.pool:
                continue
            last = self.pool[chosen]
            yield from execute(last, state)
            done.append(chosen)
            if last.terminal:
                return NodeResult(self.name, state.answer, state.answer)
        else:
            yield from note("spent", f"{self.name} has used its {self.max_steps} steps", phase=self.name)
        answer = self.pool[self.answer_node] if self.answer_node is not None else SynthesizeNode(f"{self.name} answer")
        yield from execute(answer, state)
        return NodeResult(self.name, state.answer, state.answer)

    def _choose(self, state: GraphState, done: list[str], remark: str) -> Policy[tuple[str | None, str]]:
        """Ask for the next step; return it, ``None`` for the end, or ``""`` and what to say of a wrong choice."""
        phase = f"{self.name} route"
        reply = yield from ask(state.request(self._menu(done, remark)), schema=self._schema(), phase=phase, silent=True)
        said = read_route(reply.text, [*self.pool, _DONE]) if not reply.cut_off else read_route("", [])
        name = said.next
        if name is None and said.said:
            owners = [node.name for node in self.pool.values() if said.said in node.all_tools()]
            name = owners[0] if owners else None
            if name is None:
                known = ", ".join([*self.pool, _DONE])
                yield from note("fallback", f"{said.said!r} is not a step", phase=phase)
                return "", f"{said.said!r} is not a step. The steps are {known}."
        if name is None:
            yield from note("fallback", "the choice could not be read; the answer is next", phase=phase)
        if name is None or name == _DONE:
            return None, ""
        if self.pool[name].used_up(state) or (not self.allow_repeat and name in done):
            yield from note("fallback", f"{name} has run before and may not run again", phase=phase)
            return "", f"{name} has run before and may not run again; choose another step, or {_DONE}."
        yield from note("route", f"{self.name} -> {name}", phase=phase)
        return name, ""

    def _menu(self, done: list[str], remark: str) -> str:
        lines = [self.instructions, "", "Steps:"]
        for node in self.pool.values():
            tools = f" Tools: {', '.join(node.all_tools())}." if node.all_tools() else ""
            ends = " Finishes the run." if node.terminal else ""
            lines.append(f"- {node.name}: {node.description or 'no description'}.{tools}{ends}".replace("..", "."))
        lines.append(f"- {_DONE}: nothing more is needed; the answer is written.")
        if done:
            lines.append(f"Done so far: {', '.join(done)}.")
        if remark:
            lines.append(remark)
        lines.append('Reply with one JSON object and nothing else: {"next": "<step>", "reason": "<why>"}')
        return "\n".join(lines)

    def _schema(self) -> dict[str, Any]:
        properties = {"next": {"type": "string", "enum": [*self.pool, _DONE]}, "reason": {"type": "string"}}
        return {"type": "object", "properties": properties, "required": ["next"], "additionalProperties": False}


_DONE = "__done__"
