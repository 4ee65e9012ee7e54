"""ReAct: reason and act in turn (Yao et al., 2022, https://arxiv.org/abs/2210.03629).

    repeat
        the model thinks, then names an action or gives the final answer
        the action runs, and the model is shown what it observed

Differs from the paper: no worked examples in the prompt; the conversation is chat messages, one pair a turn,
instead of one growing text (``dialect="paper"`` has that, see ``react_paper``); what the model writes after a
label ``Observation`` of its own is not believed; a reply whose labels cannot be used is explained back to the
model instead of failing the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from brain.errors import ConfigurationError, WrongType, whole_number
from brain.messages import Transcript, assistant, system, user
from brain.patterns.base import BasePattern
from brain.patterns.react_paper import INSTRUCTIONS, react_in_one_text
from brain.patterns.react_text import Parsed, parse
from brain.policy import Finish, Policy, act, ask, note
from brain.types import LLMProvider, Reply

__all__ = ["FORM", "Parsed", "ReActAgent", "parse", "prompt_for", "read"]


class ReActAgent(BasePattern):
    """A model that thinks, acts and looks, in turn, until it can answer.

    It speaks the text protocol of the paper (``Thought``, ``Action``, ``Action Input``,
    ``Observation``, ``Final Answer``), which every model understands.

    Args:
        tools: what the model may call, by name: ``callable(str) -> str``, or any typed callable.
        provider: the model to ask; without one, the offline ``LocalEchoProvider``.
        max_steps: how many times the model may be asked.
        system_prompt: used instead of the default; ``{tool_names}`` in it is filled in, other braces stay.
        require_final_answer: whether a reply with neither an action nor a final answer is asked for again,
            instead of being taken as the answer.
        dialect: ``"text"`` for the protocol above, in chat messages; ``"paper"`` for that of the paper's code: one
            growing text with numbered turns, ``Action 1: Search[x]``, ended by ``Finish[answer]``. A turn in which the
            model forgets the action then asks twice.

    Raises:
        ConfigurationError: a tool is not callable, ``max_steps`` is below 1, an argument has the wrong type.
    """

    def __init__(
        self,
        tools: Mapping[str, Any] | Iterable[Any] | None = None,
        provider: LLMProvider | None = None,
        max_steps: int = 8,
        system_prompt: str | None = None,
        *,
        require_final_answer: bool = False,
        dialect: Literal["text", "paper"] = "text",
    ) -> None:
        super().__init__(tools, provider)
        if system_prompt is not None and not isinstance(system_prompt, str):
            raise WrongType(f"ReActAgent: system_prompt must be a str or None, not {type(system_prompt).__name__}")
        self.max_steps = whole_number("ReActAgent", "max_steps", max_steps)
        self.require_final_answer = bool(require_final_answer)
        if dialect not in ("text", "paper"):
            raise ConfigurationError(f"ReActAgent: dialect is 'text' or 'paper', not {dialect!r:.80}")
        if dialect == "paper" and any(name.lower() == "finish" for name in self.tools):
            raise ConfigurationError("ReActAgent: in the paper's dialect Finish[...] answers; call the tool otherwise")
        self.dialect = dialect
        self._system_prompt = system_prompt

    def policy(self, task: str) -> Policy[Finish]:
        """Think, act and look until there is an answer."""
        prompt = prompt_for(self.tools, self._system_prompt, self.dialect)
        if self.dialect == "paper":
            return (yield from react_in_one_text(task, self.tools, self.max_steps, prompt))
        messages = Transcript([system(prompt, cache_stable=True), user(task)])
        text = ""

        for _ in range(self.max_steps):
            reply = yield from ask(messages)
            text = reply.text.strip()
            if not text:
                return Finish("", ok=False, error="the model's reply was empty")
            said = read(reply, self.tools, strict=self.require_final_answer)

            if said.outcome == "final":
                return Finish(said.final, thought=said.thought)
            if said.outcome == "action":
                observation = str((yield from act(said.action, said.action_input, thought=said.thought)))
            else:
                observation = f"{said.problem} {FORM}"
                yield from note("observation", observation, thought=said.thought)

            messages += [assistant(said.kept), user(f"Observation: {observation}")]

        return Finish(text, ok=False, error="max_steps reached without Final Answer")


def prompt_for(tools: Iterable[str], system_prompt: str | None = None, dialect: str = "text") -> str:
    """Return the system prompt, with the names of the tools filled in."""
    default = INSTRUCTIONS if dialect == "paper" else _SYSTEM_PROMPT
    return (system_prompt or default).replace("{tool_names}", ", ".join(tools) or "none")


def read(reply: Reply, tools: Collection[str], *, strict: bool = False) -> Parsed:
    """Read a reply; ``strict``: one with neither an action nor a final answer is not taken as the answer."""
    if reply.cut_off:  # an action or answer without its end is neither
        return Parsed("invalid", problem="Your reply was cut off before its end; say less.", kept=reply.text.strip())
    said = parse(reply.text, tools)
    if said.outcome == "plain":
        if strict:
            return Parsed("invalid", problem="Your reply has no Action and no Final Answer.", kept=said.kept)
        return replace(said, outcome="final")
    return said


_SYSTEM_PROMPT = """\
Solve the task by reasoning and acting in turn.

Tools you may use: {tool_names}

In each turn write either

Thought: what you know and what you need next
Action: the name of one tool
Action Input: what to give the tool

and stop; you will be shown what came of it after "Observation:". Or, as soon as you can answer, write

Thought: why you can answer now
Final Answer: the answer"""

FORM = (
    "Write `Thought:`, `Action:` and `Action Input:` on lines of their own to use a tool, "
    "or `Final Answer:` followed by the answer."
)
"""What a reply must look like, told to a model whose reply could not be used."""
