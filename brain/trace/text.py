"""A run as text, for a terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brain.redact import Redaction
from brain.types import PatternResult, Step

__all__ = ["as_text", "step_line", "visible"]

_DIM, _BOLD, _GREEN, _RED, _CYAN = "2", "1", "32", "31", "36"


def as_text(result: PatternResult, *, task: str | None = None, colour: bool = False) -> str:
    """Return the whole trace of a run: each step's thought, action and observation, then the answer.

    Secrets in the steps are masked, as in journal files.

    Args:
        result: what a run came to.
        task: the task, shown at the top; by default the one in the journal.
        colour: whether to use ANSI colours.
    """
    if task is None and result.journal is not None:
        task = result.journal.task
    lines = [_field("Task", task, _BOLD, colour)] if task else []
    for step in map(_masked, result.steps):
        lines += ["", _painted(_heading(step), _DIM, colour)]
        if step.thought:
            lines.append(_field("Thought", step.thought, _CYAN, colour))
        if step.action is not None:
            lines.append(_field("Action", f"{step.action}({_shown(step.action_input)})", _CYAN, colour))
            lines.append(_field("Observation", step.observation, _CYAN, colour))
        elif step.index < len(result.steps) - 1 or not result.ok:
            lines.append(_field("Reply", step.text, _CYAN, colour))
            if step.observation:
                lines.append(_field("Observation", step.observation, _CYAN, colour))
    lines.append("")
    if result.ok:
        lines.append(_field("Answer", result.answer, _GREEN, colour))
    else:
        lines.append(_field("Failed", result.error or "", _RED, colour))
    lines.append(_painted(_totals(result), _DIM, colour))
    return "\n".join(lines).lstrip("\n")


def step_line(step: Step, width: int = 100) -> str:
    """Return a step on one line, for progress; secrets in it are masked."""
    step = _masked(step)
    if step.action is not None:
        said = f"{step.action}({_shown(step.action_input)}) -> {step.observation}"
    else:
        said = step.text
    said = visible(" ".join(said.split()))
    head = f"[{step.index}] " + " ".join(each for each in (step.agent, step.phase) if each)
    line = f"{head.rstrip()} {said}"
    return line if len(line) <= width else line[: width - 1] + "…"


def _masked(step: Step) -> Step:
    redact = Redaction()
    given, seen = redact.value(step.action_input), redact.text(step.observation)
    thought, text = redact.text(step.thought), redact.text(step.text)
    return replace(step, thought=thought, action_input=given, observation=seen, text=text)


def _heading(step: Step) -> str:
    said = [f"[{step.index}]", *(each for each in (step.agent, step.phase) if each)]
    told = [f"{step.seconds * 1000:.1f} ms"]
    if step.usage is not None:
        told.append(f"{step.usage.input_tokens} in, {step.usage.output_tokens} out")
    return f"{' '.join(said)} ({'; '.join(told)})"


def _totals(result: PatternResult) -> str:
    if result.journal is not None:
        models, calls = result.report.model_calls, result.report.tool_calls
    else:
        models, calls = result.iterations, sum(step.action is not None for step in result.steps)
    told = [f"{models} model calls", f"{calls} tool calls", f"{result.seconds * 1000:.1f} ms"]
    if result.usage is not None:
        told.append(f"{result.usage.input_tokens} tokens in, {result.usage.output_tokens} out")
    return "; ".join(told)


def _field(name: str, text: str, code: str, colour: bool) -> str:
    first, *rest = visible(text).split("\n")
    return "\n".join([f"{_painted(name + ':', code, colour)} {first}", *(f"    {line}" for line in rest)])


def visible(text: str) -> str:
    """Return text with its control characters spelled out, so that untrusted text cannot drive a terminal."""
    return "".join(each if each in "\n\t" or each.isprintable() else f"\\x{ord(each):02x}" for each in text)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _painted(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
