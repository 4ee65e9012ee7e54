r"""A test as a script: what the model says and what the tools return, line by line.

    talk = play(ReActAgent(tools={"search": ...}), "Capital of France?", [
        says("Thought: look it up\nAction: search\nAction Input: France"),
        returns("Paris is the capital of France."),
        says("Final Answer: Paris"),
    ])
    assert talk.result.answer == "Paris"

Nothing is called: the script drives the policy by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from brain.messages import Message
from brain.patterns.base import BasePattern
from brain.policy import Act, Ask
from brain.runtime.journal import described
from brain.runtime.run import Run
from brain.testing.lines import Fails, Returns, Says
from brain.types import PatternResult, Reply

__all__ = ["ScriptMismatch", "Talk", "play"]


class ScriptMismatch(AssertionError):
    """The policy wanted something else than the script has; the message shows the conversation so far."""


@dataclass(slots=True)
class Talk:
    """A scripted conversation that has been played."""

    result: PatternResult
    """What the run came to."""
    asked: list[Sequence[Message]] = field(default_factory=list)
    """The messages of each model call, in order."""
    acted: list[tuple[str, Any]] = field(default_factory=list)
    """Each tool call: the tool and its input."""


def play(pattern: BasePattern, task: str, script: Iterable[Says | Returns | Fails | str]) -> Talk:
    """Drive a pattern through a script and return what was asked, done and answered.

    Args:
        pattern: the pattern; its provider and tools are not used.
        task: the task.
        script: ``says(...)`` (or a plain text) where the model is asked, ``returns(...)`` where a tool
            is called, ``fails(...)`` where either fails.

    Raises:
        ScriptMismatch: the policy wanted something else, or the script has lines left at its end.
    """
    lines = list(script)
    run = Run(pattern.policy(task), pattern=pattern.name, task=task)
    talk = Talk(PatternResult(""))
    log: list[str] = []
    run.start()
    while not run.done:
        wanted = run.current
        if len(log) >= len(lines):
            raise ScriptMismatch(_story(log, described(wanted), "the end of the script"))
        line = lines[len(log)]
        if isinstance(line, str):
            line = Says(Reply(line))
        if isinstance(wanted, Ask):
            talk.asked.append(wanted.messages)
        elif isinstance(wanted, Act):
            talk.acted.append((wanted.tool, wanted.input))
        outcome = _outcome(line)
        if isinstance(line, Fails):
            run.throw(line.error)
        elif isinstance(outcome, Reply) is isinstance(wanted, Ask):
            run.send(outcome)
        else:
            raise ScriptMismatch(_story(log, described(wanted), repr(line)))
        log.append(f"{described(wanted)}\n      -> {outcome}")
    if len(log) < len(lines):
        raise ScriptMismatch(_story(log, f"nothing more: {run.pending!r}", repr(lines[len(log)])))
    talk.result = run.result()
    return talk


def _outcome(line: Says | Returns | Fails) -> Any:
    if isinstance(line, Says):
        return line.reply
    return line.observation if isinstance(line, Returns) else line.error


def _story(log: list[str], wanted: str, expected: str) -> str:
    said = "\n".join(f"  {number}. {line}" for number, line in enumerate(log, 1)) or "  (nothing yet)"
    return f"the script does not fit.\nSo far:\n{said}\nThe policy wants:   {wanted}\nThe script has next: {expected}"
