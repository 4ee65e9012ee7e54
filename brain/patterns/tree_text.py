"""What Tree of Thoughts asks the model, and how its replies are read."""

from __future__ import annotations

import re

from brain.types import Reply

__all__ = [
    "ANSWER",
    "PROPOSE",
    "SAMPLE",
    "VALUE",
    "VALUES",
    "VOTE",
    "read_judgement",
    "read_thoughts",
    "read_vote",
]

VALUES = {"impossible": 0.001, "likely": 1.0, "sure": 20.0}
"""What a judgement is worth, as in the authors' code for the Game of 24; the judgements of a state are summed."""


def read_thoughts(reply: Reply) -> list[str]:
    """Return the lines of a reply without numbering and bullets; a last line that was cut off is none."""
    lines = reply.text.strip().splitlines()[: -1 if reply.cut_off else None]
    return [thought for line in lines if (thought := _MARK.sub("", line).strip())]


def read_judgement(text: str) -> str:
    """Return the judgement on the last line of a reply, alone or after a colon; ``""`` if there is none."""
    found = _LAST.search(text.strip())
    return found[1].lower() if found else ""


def read_vote(text: str, choices: int) -> int:
    """Return the number of the choice a reply votes for, from 1; 0 if it votes for none there is."""
    found = _CHOICE.findall(text)
    number = int(found[-1]) if found else 0
    return number if number <= choices else 0


_MARK = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•])\s+")
_LAST = re.compile(
    r"(?:^|[:=])[\s*_`\"']{0,4}(impossible|likely|sure)[\s*_`\"'.!]{0,6}\Z", re.IGNORECASE | re.MULTILINE
)
_CHOICE = re.compile(r"best choice is\W{0,4}(?:choice\W{0,4})?(\d{1,6})", re.IGNORECASE)

PROPOSE = """\
Task: {task}

Steps so far:
{state}

Propose up to {k} different next steps towards a solution, each on a line of its own, and write nothing else."""
SAMPLE = """\
Task: {task}

Steps so far:
{state}

Write the next step towards a solution, and nothing else."""
VALUE = """\
Task: {task}

A partial solution:
{state}

Judge whether it can be completed to a solution. Give your reasons in a few words; then write, alone on the last line,
one of: sure, likely, impossible."""
VOTE = """\
Task: {task}

Several partial solutions:

{state}

Compare them. On the last line write "The best choice is", and the number of the most promising one."""
ANSWER = """\
Task: {task}

The steps of a solution:
{state}

Write the answer to the task that follows from these steps."""
