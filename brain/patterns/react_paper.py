"""ReAct as its paper's code has it: one growing text (https://github.com/ysymyth/ReAct, hotpotqa.ipynb).

    for n = 1 .. max_steps
        reply <- the model, asked with the instructions, the task, all turns so far, and "Thought n:"
        thought, action <- what stands before and after the label "Action n:" in it
        if there is no such label: ask for "Action n:" alone
        Finish[answer] ends the run; Tool[text] calls a tool
        the text grows by the thought, the action, and "Observation n:" with what was seen

Differs from the paper's code: instead of asking the server to stop at ``Observation``, the reply is cut there; an
action counts on its label's line only, and a case that differs from a tool's name is forgiven; running out of steps
fails, where the code finishes with an empty answer; no worked examples unless they are given as instructions.

Each request is a text of its own, so what a run of n turns sends, hashes and keeps grows with the square of n, as in
the paper; chat messages (``dialect="text"``) share what they have in common.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from brain.messages import user
from brain.policy import Finish, Policy, act, ask, note

__all__ = ["INSTRUCTIONS", "react_in_one_text", "read_turn"]


def react_in_one_text(task: str, tools: Collection[str], max_steps: int, instructions: str) -> Policy[Finish]:
    """Think, act and look until there is an answer.

    Args:
        task: the task.
        tools: the names of the tools there are.
        max_steps: how many turns there may be.
        instructions: what the text begins with.
    """
    text = f"{instructions}\n\n{task}\n" if instructions else f"{task}\n"

    for turn in range(1, max_steps + 1):
        reply = yield from ask([user(f"{text}Thought {turn}:")])
        if not reply.text.strip():
            return Finish("", ok=False, error="the model's reply was empty")
        thought, action = read_turn(reply.text)
        if action is None and not reply.cut_off:
            reply = yield from ask([user(f"{text}Thought {turn}: {thought}\nAction {turn}:")])
            action = read_turn(f"Action: {reply.text.strip()}")[1]

        name, given = _called(action or "", tools)
        if name == "finish" and given.strip() and not reply.cut_off:
            return Finish(given.strip(), thought=thought)
        if reply.cut_off or name in ("", "finish"):
            invalid = f"Invalid action: {(action or '').strip()[:500]}"
            observation = "Your reply was cut off before its end; say less." if reply.cut_off else invalid
            yield from note("observation", observation, thought=thought)
        else:
            observation = str((yield from act(name, given, thought=thought)))
        text += f"Thought {turn}: {thought}\nAction {turn}: {action or ''}\nObservation {turn}: {observation}\n"

    return Finish("", ok=False, error=f"max_steps reached: {max_steps} turns without Finish[answer]")


def read_turn(text: str) -> tuple[str, str | None]:
    """Return the thought and the action of a reply; ``None`` where no label ``Action`` is in it.

    An action that does not stand on its label's line is none that can be carried out; it is returned with the line
    breaks before it.
    """
    observed = _OBSERVATION.search(text)
    told = text if observed is None else text[: observed.start()]
    found = _ACTION.search(told)
    thought = _THOUGHT.sub("", told if found is None else told[: found.start()], count=1).strip()
    if found is None:
        return thought, None
    line, newline, rest = told[found.end() :].partition("\n")
    return thought, line.strip() or (newline + rest).rstrip()


_OBSERVATION = re.compile(r"^[ \t]*Observation(?:[ \t]*\d{1,4})?[ \t]*:", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(r"^[ \t]*Action(?:[ \t]*\d{1,4})?[ \t]*:", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"\A\s*Thought(?:[ \t]*\d{1,4})?[ \t]*:", re.IGNORECASE)
_CALL = re.compile(r"(\w+)\[(.*)\]")


def _called(action: str, tools: Collection[str]) -> tuple[str, str]:
    """Return the tool and the input of ``Tool[input]``; ``finish`` for any spelling of it, ``""`` for another form."""
    found = _CALL.fullmatch(action)
    if found is None:
        return "", ""
    name, given = found.groups()
    if name.lower() == "finish":
        return "finish", given
    if name not in tools:
        name = next((each for each in tools if each.lower() == name.lower()), name)
    return name, given


INSTRUCTIONS = """\
Solve the task below by thinking, acting and observing in turn. In each turn, write a thought: what you know and what
you need next. Then write one action, in the form Tool[input], on the line of its label. You are shown what came of
it. As soon as you know the answer, the action is Finish[answer].

Tools: {tool_names}

The form of a turn:
Thought 1: ...
Action 1: Tool[input]
Observation 1: ..."""
