"""Demos: a scripted model over real tools, so that a pattern can be watched with no key and no network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from brain.cli.tools import calculator, days_between
from brain.patterns import BasePattern, ReActAgent
from brain.testing import ScriptedProvider

__all__ = ["DEMOS", "Demo"]


@dataclass(frozen=True)
class Demo:
    """A task, and a pattern whose model is scripted and whose tools are real."""

    task: str
    make: Callable[[], BasePattern]


def _react() -> BasePattern:
    return ReActAgent(
        {"days_between": days_between, "calculator": calculator},
        ScriptedProvider(
            [
                "Thought: I need the number of days from 20 July 1969 to 12 April 1981 first.\n"
                "Action: days_between\n"
                "Action Input: 1969-07-20, 1981-04-12",
                "Thought: 4284 days. A week has 7 days.\nAction: calculator\nAction Input: 4284 / 7",
                "Thought: It is a whole number of weeks, so I can answer.\n"
                "Final Answer: 4284 days lie between them, which is exactly 612 weeks.",
            ]
        ),
    )


DEMOS = {
    "react": Demo(
        "How many days lie between the first moon landing (20 July 1969) and the first flight of a space shuttle "
        "(12 April 1981), and how many weeks is that?",
        _react,
    ),
}
"""The demos, by pattern."""
