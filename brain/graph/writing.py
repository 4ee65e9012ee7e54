"""What a model wrote in a stage: whether it is a text at all, and the value that it holds."""

from __future__ import annotations

from typing import Any

from brain.errors import GraphExecutionError, StructureError
from brain.messages import Transcript, assistant, user
from brain.normalise import flat, legal
from brain.policy import Policy, ask, note
from brain.structured import extract
from brain.types import Reply

__all__ = ["value_of", "written"]


def written(messages: Transcript, reply: Reply, phase: str) -> Policy[str]:
    """Return the text of a reply; ask once more for one that is none, then fail.

    A reply is none when it is empty, was cut off before its end, or only repeats what was asked.
    """
    problem = _missing(messages, reply)
    if problem:
        yield from note("repair", f"{phase}: the reply {problem}", phase=phase)
        text = reply.text.strip()
        again = [*messages, *([assistant(text)] if text else []), user(f"Your reply {problem}. Write it again.")]
        messages = Transcript(legal(again))
        reply = yield from ask(messages, phase=phase)
        problem = _missing(messages, reply)
    if problem:
        raise GraphExecutionError(f"stage {phase} has no text to go on with: twice, the model's reply {problem}")
    return reply.text.strip()


def _missing(messages: Transcript, reply: Reply) -> str:
    """Say why a reply is no text to go on with; ``""`` if it is one."""
    text = reply.text.strip()
    if not text:
        return "was empty"
    if reply.cut_off:
        return "was cut off before its end"
    asked = next((each for each in reversed(messages) if each.get("role") == "user"), None)
    if asked is not None and text == flat(asked.get("content")).strip():
        return "only repeated what was asked, as an echo does"
    return ""


def value_of(text: str) -> Any:
    """Return the JSON object that a whole text is, with or without a fence; the text itself if it is none."""
    if text[:1] == "{" or text.startswith("```"):
        try:
            return extract(text, "object")
        except StructureError:
            return text
    return text
