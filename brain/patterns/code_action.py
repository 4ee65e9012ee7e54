"""Code-action: one program instead of many tool calls.

    the model writes a program over the tools
    it runs, confined; its calls reach the real tools
    if it fails, the model is shown why and writes another
    what it gives as the answer is the answer

The idea is that of CodeAct (Wang et al., 2024, https://arxiv.org/abs/2402.01030): for work that is loops, sums
and joins over many records, code is exact where a conversation loses count.

Differs from the paper: one program answers the whole task, instead of one a turn; a program has a cap on its
tool calls, and what one prints that ran into its cap is discarded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.errors import CodeActionBudgetError, GraphExecutionError, StructureError, whole_number
from brain.graph import GraphState, Node, NodeResult, PromptGraph
from brain.messages import Transcript, assistant, system, user
from brain.patterns.base import BasePattern
from brain.patterns.code_text import declined, extract_program, signatures
from brain.policy import Finish, Policy, ask, execute, note
from brain.tools import Tool, render
from brain.types import LLMProvider

__all__ = ["CodeAction", "ProgramNode", "declined", "extract_program"]


class CodeAction(BasePattern):
    """A model that writes one program over the tools, which is run in a sandbox.

    Args:
        tools: what the program may call; each is a function of it, with its real signature.
        provider: the model to ask.
        sandbox: what runs the program; by default the first executor here that gives every guarantee.
        max_repairs: how many further programs may be written after one that failed.
        exec_timeout: how many seconds a program may run.
        max_tool_calls: how many calls a program may make, failed ones included; each program has its own.
        system_prompt: shown first.
        blocks: paragraphs after it.

    Raises:
        ConfigurationError: a number is out of its range.
    """

    def __init__(
        self,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        sandbox: Any = None,
        max_repairs: int = 1,
        exec_timeout: int = 120,
        max_tool_calls: int = 50,
        system_prompt: str = "",
        blocks: Any = None,
    ) -> None:
        super().__init__(tools, provider)
        self.max_repairs = whole_number("CodeAction", "max_repairs", max_repairs, 0)
        self.exec_timeout = whole_number("CodeAction", "exec_timeout", exec_timeout)
        self.max_tool_calls = whole_number("CodeAction", "max_tool_calls", max_tool_calls)
        self.prefix = "\n\n".join(str(part) for part in (system_prompt, *(blocks or ())) if part)
        self._sandbox = sandbox

    def graph(self) -> PromptGraph:
        """The pattern as a stage, for diagrams and for graphs of one's own."""
        graph = PromptGraph("code_action")
        graph.add_node(ProgramNode("reason", self))
        graph.sandbox = self._sandbox
        return graph

    def policy(self, task: str) -> Policy[Finish]:
        """Write, run, repair."""
        told = _PROMPT.format(tools=signatures(self.tools) or "(there are none)")
        prefix = [system(self.prefix, cache_stable=True)] if self.prefix else []
        messages = Transcript([*prefix, user(f"{task}\n\n{told}")])
        problem, capped = "", False

        for attempt in range(1, self.max_repairs + 2):
            reply = yield from ask(messages, phase="write")
            if declined(reply.text):
                raise self._over_budget(attempt)
            problem, capped, answer = yield from self._try(reply.text, reply.cut_off)
            if answer is not None:
                return Finish(answer)
            yield from note("observation", problem, phase="run")
            messages += [assistant(reply.text.strip() or "(nothing)"), user(_CAPPED if capped else problem)]

        if capped:
            raise self._over_budget(self.max_repairs + 1)
        raise GraphExecutionError(f"no program of {self.max_repairs + 1} gave an answer; the last: {problem}")

    def _try(self, text: str, cut_off: bool) -> Policy[tuple[str, bool, str | None]]:
        """Run the program in a reply; return what went wrong, whether it was the cap, and the answer."""
        if cut_off:
            return f"The program was cut off before its end. {_AGAIN}", False, None
        try:
            program = extract_program(text)
        except StructureError as error:
            return f"{error} {_AGAIN}", False, None
        report = yield from execute(program, timeout=self.exec_timeout, max_tool_calls=self.max_tool_calls, phase="run")
        if report.budget_exceeded:
            return "The program ran into the cap on tool calls.", True, None
        if not report.ok:
            return f"The program failed:\n{_tail(report.error or report.output)}\n\n{_AGAIN}", False, None
        answer = None if report.answer is None else render(report.answer).strip()
        if not answer:
            shown = _tail(report.output) or "(nothing)"
            return f"The program gave no answer. It printed:\n{shown}\n\n{_AGAIN}", False, None
        return "", False, answer

    def _over_budget(self, attempts: int) -> CodeActionBudgetError:
        return CodeActionBudgetError(
            f"the task does not fit into {self.max_tool_calls} tool calls a program (attempt {attempts}); "
            "raise max_tool_calls, or give the tools calls that return more at once",
            max_tool_calls=self.max_tool_calls,
            attempts=attempts,
        )


class ProgramNode(Node):
    """A stage that writes one program and runs it.

    Args:
        name: the stage's name.
        pattern: the code-action pattern that it carries out.
        **options: as for ``Node``.
    """

    def __init__(self, name: str, pattern: CodeAction, **options: Any) -> None:
        super().__init__(name, **{"title": "reason (write 1 program)", **options})
        self.pattern = pattern

    def all_tools(self) -> Mapping[str, Tool]:
        """Return the tools that the program may call."""
        return self.pattern.tools

    @property
    def exit(self) -> str:
        """The sandbox: what runs there gives the answer."""
        return "sandbox"

    def inner_nodes(self) -> dict[str, str]:
        """Return the sandbox, for diagrams."""
        return {"sandbox": "run in sandbox (tools bridged to host)"}

    def inner_edges(self) -> list[tuple[str, str, str, bool]]:
        """Return the way into the sandbox, for diagrams."""
        return [(self.name, "sandbox", "", False)]

    def run(self, state: GraphState) -> Policy[NodeResult]:
        """Write the program, run it, and let its answer join the conversation."""
        finish = yield from self.pattern.policy(state.task)
        state.keep(assistant(finish.answer))
        state.answer = finish.answer
        return NodeResult(self.name, finish.answer, finish.answer)


def _tail(text: str) -> str:
    """Return the end of a text, where errors say what they are."""
    return text if len(text) <= 4000 else f"[…]{text[-4000:]}"  # a traceback of some thirty frames


_PROMPT = """\
Solve this with one Python program. It runs once, on its own, with the standard library and these functions:

{tools}

What they return is ordinary Python data: lists, dicts, numbers, text. The program gives the answer by calling
final_answer(value), or by printing a line that begins with RESULT: followed by the answer.

There is a cap on how many calls of these functions the program may make. Fetch what is needed once and keep it. Never
skip, sample or cut off records to stay under the cap: an answer from part of the data is wrong. If the task cannot be
done within it, reply with the single line CANNOT_FINISH_WITHIN_CALL_CAP instead.

Reply with the program in one fenced Python block."""

_AGAIN = "Write the whole program again, corrected, in one fenced Python block."

_CAPPED = """\
The program ran into the cap on its calls, so what it printed does not count. Write a program that does the whole job
in fewer calls: fetch things once, and use calls that return more at a time. If that cannot be done, reply with the
single line CANNOT_FINISH_WITHIN_CALL_CAP."""
