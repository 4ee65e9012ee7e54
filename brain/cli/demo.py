"""Demos: a scripted model over real tools, so that a pattern can be watched with no key and no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain import patterns
from brain.cli.tools import calculator, days_between
from brain.patterns import BasePattern, ReActAgent, Worker
from brain.testing import ScriptedProvider, calls, says

__all__ = ["DEMOS", "Demo"]


@dataclass(frozen=True)
class Demo:
    """A task, and a pattern whose model is scripted and whose tools are real."""

    task: str
    pattern: str
    """The class of the pattern."""
    script: tuple[Any, ...]
    tools: tuple[Callable[..., Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the class."""

    def make(self) -> BasePattern:
        """Return the pattern, with a model that speaks the script from its beginning."""
        made = getattr(patterns, self.pattern)
        named = "search_tools" if self.pattern == "Research" else "tools"
        pattern: BasePattern = made(provider=ScriptedProvider(self.script), **{named: self.tools}, **self.options)
        return pattern


def berths(harbour: str) -> dict[str, float]:
    """List the berths of a harbour with their depths in metres."""
    known = {"north": {"N1": 4.5, "N2": 7.2}, "south": {"S1": 6.8, "S2": 9.1, "S3": 3.0}}
    if harbour.lower() not in known:
        raise LookupError(f"no harbour is called {harbour!r}; there are {', '.join(known)}")
    return known[harbour.lower()]


def _names_all(_: str, answer: str) -> tuple[bool, str]:
    """Check an answer against what the depths are; a test that stands in for a person's."""
    missing = [name for name in ("N2", "S1", "S2") if name not in answer]
    return not missing, f"{', '.join(missing)} is missing" if missing else ""


def _json(**fields: Any) -> str:
    return json.dumps(fields)


_DEEP = "Which berths of the north and south harbours are deeper than 6 metres?"
_LOOK_BOTH = says("", calls("berths", harbour="north"), calls("berths", harbour="south"))
_FOUND = "North: N1 4.5 m, N2 7.2 m. South: S1 6.8 m, S2 9.1 m, S3 3.0 m. Deeper than 6 m: N2, S1, S2."
_DEEP_ANSWER = "N2 (7.2 m), S1 (6.8 m) and S2 (9.1 m) are deeper than 6 metres."
_LOOK_NORTH, _LOOK_SOUTH = (
    f"Thought: I look it up.\nAction: berths\nAction Input: {each}" for each in ("north", "south")
)
_PLAN = _json(subgoals=["list the berths of both harbours", "pick those deeper than 6 m"], quality_score=4)

DEMOS = {
    "react": Demo(
        "How many days lie between the first moon landing (20 July 1969) and the first flight of a space shuttle "
        "(12 April 1981), and how many weeks is that?",
        "ReActAgent",
        (
            "Thought: I need the number of days from 20 July 1969 to 12 April 1981 first.\n"
            "Action: days_between\n"
            "Action Input: 1969-07-20, 1981-04-12",
            "Thought: 4284 days. A week has 7 days.\nAction: calculator\nAction Input: 4284 / 7",
            "Thought: It is a whole number of weeks, so I can answer.\n"
            "Final Answer: 4284 days lie between them, which is exactly 612 weeks.",
        ),
        (days_between, calculator),
    ),
    "react-native": Demo(
        _DEEP,
        "React",
        (says("I will look at both harbours.", calls("berths", harbour="north"), calls("berths", harbour="sooth")),
         says("", calls("berths", harbour="south")),
         _DEEP_ANSWER),
        (berths,),
    ),
    "verify": Demo(
        "A boat needs 0.8 m of water below its keel of 6.1 m. Is berth S1, 6.8 m deep, deep enough?",
        "Verify",
        (says("", calls("calculator", expression="6.1 + 0.8")),
         "Plan: compare what the boat needs with the depth. Solve: it needs 6.9 m, S1 has 6.8 m. "
         "Check: 6.8 - 6.1 = 0.7 m of water, less than 0.8 m. Answer: no, S1 is 0.1 m too shallow."),
        (calculator,),
    ),
    "managed": Demo(
        _DEEP,
        "Managed",
        (says("", calls("berths", harbour="north")), says("", calls("berths", harbour="south")), _DEEP_ANSWER),
        (berths,),
    ),
    "code-action": Demo(
        _DEEP,
        "CodeAction",
        ("```python\n"
         "deep = {}\n"
         "for harbour in ('north', 'south'):\n"
         "    for berth, depth in berths(harbour).items():\n"
         "        if depth > 6:\n"
         "            deep[berth] = depth\n"
         "names = [f'{berth} ({depth} m)' for berth, depth in deep.items()]\n"
         "print('RESULT:', ', '.join(names[:-1]), 'and', names[-1], 'are deeper than 6 metres.')\n"
         "```",),
        (berths,),
    ),
    "peoatr": Demo(
        _DEEP,
        "PEOATR",
        (_PLAN, _LOOK_BOTH, _FOUND,
         _json(route="continue", subgoal_complete=True, analysis="the list is complete"),
         "Deeper than 6 m are N2, S1 and S2.",
         _json(route="reflect", subgoal_complete=True, analysis="the choice is made"),
         _json(route="answer", progress="both subgoals are reached"),
         _DEEP_ANSWER),
        (berths,),
    ),
    "research": Demo(
        _DEEP,
        "Research",
        (says("", calls("berths", harbour="north")),
         "North: N2 is 7.2 m deep.",
         _json(passes=False, issues=["the south harbour has not been looked at"]),
         says("", calls("berths", harbour="south")),
         _FOUND,
         _json(passes=True, issues=[]),
         _DEEP_ANSWER),
        (berths,),
    ),
    "autonomous": Demo(
        _DEEP,
        "Autonomous",
        (_json(next="reason", reason="the depths have to be looked up"), _LOOK_BOTH, _FOUND,
         _json(next="analyze", reason="pick the deep ones"), "N2, S1 and S2 are deeper than 6 m.",
         _json(next="synthesize", reason="everything is known"), _DEEP_ANSWER),
        (berths,),
    ),
    "deliberate": Demo(
        _DEEP,
        "Deliberate",
        ("Two harbours have to be looked up; then the depths are compared with 6 m.", _PLAN, _LOOK_BOTH, _FOUND,
         "All five berths are listed; N2, S1 and S2 are deeper than 6 m; nothing contradicts.",
         _json(route="answer", progress="all is known"), _DEEP_ANSWER),
        (berths,),
    ),
    "debate": Demo(
        _DEEP,
        "Debate",
        (_LOOK_BOTH, "N2 and S2 are deeper than 6 metres.",
         _json(severity=0.8, weaknesses=["S1 is 6.8 m deep and missing"], improvements=["add S1"]),
         "N2, S1 and S2 are deeper than 6 metres.",
         _json(severity=0.1, weaknesses=[], improvements=[]),
         _json(passes=True, issues=[]),
         _DEEP_ANSWER),
        (berths,),
    ),
    "reflexion": Demo(
        _DEEP,
        "Reflexion",
        (_LOOK_NORTH, _LOOK_SOUTH, "Thought: N2 and S2 are the deep ones.\nFinal Answer: N2 and S2.",
         "I went by the largest number in each harbour and overlooked S1. Next time compare every berth with 6 m.",
         _LOOK_NORTH, _LOOK_SOUTH, f"Thought: 7.2, 6.8 and 9.1 are above 6.\nFinal Answer: {_DEEP_ANSWER}"),
        (berths,),
        {"evaluator": _names_all},
    ),
    "plan-and-execute": Demo(
        _DEEP,
        "PlanAndExecute",
        (_json(steps=["List the berths of the north harbour.", "List the berths of the south harbour."]),
         _LOOK_NORTH, "Final Answer: N1 4.5 m, N2 7.2 m",
         _json(steps=["List the berths of the south harbour."]),
         _LOOK_SOUTH, "Final Answer: S1 6.8 m, S2 9.1 m, S3 3.0 m",
         _json(steps=[]),
         _DEEP_ANSWER),
        (berths,),
    ),
    "tree-of-thoughts": Demo(
        "Which two of the berths N1 (4.5 m), N2 (7.2 m), S1 (6.8 m), S2 (9.1 m) are together closest to 13.5 m?",
        "TreeOfThoughts",
        ("Take N1, 9 m are left.\nTake N2, 6.3 m are left.",
         "9 m is close to S2.\nlikely", "6.3 m is close to S1.\nlikely",
         "Take S2: 13.6 m.\nTake S1: 11.3 m.", "Take S1: 14.0 m.",
         "0.1 m off.\nsure", "2.2 m off.\nimpossible", "0.5 m off.\nlikely",
         "N1 and S2: 13.6 metres, 0.1 m from 13.5."),
        (),
        {"depth": 2, "beam": 2, "samples": 1},
    ),
    "orchestrator": Demo(
        _DEEP,
        "MultiAgentOrchestrator",
        (_json(assignments=[{"worker": "north", "subtask": "List the berths of the north harbour."},
                            {"worker": "south", "subtask": "List the berths of the south harbour."}]),
         _LOOK_NORTH, _LOOK_SOUTH, "Final Answer: N1 4.5 m, N2 7.2 m", "Final Answer: S1 6.8 m, S2 9.1 m, S3 3.0 m",
         _json(assignments=[]),
         _DEEP_ANSWER),
        (),
        {"workers": {"north": Worker(ReActAgent([berths]), "knows the north harbour"),
                     "south": Worker(ReActAgent([berths]), "knows the south harbour")}},
    ),
    "self-consistency": Demo(
        _DEEP,
        "SelfConsistency",
        tuple(f"{_FOUND[:45]}\nAnswer: {each}"
              for each in (_DEEP_ANSWER, "N2 and S2", _DEEP_ANSWER, _DEEP_ANSWER, "S2")),
        (),
        {"samples": 5},
    ),
}  # fmt: skip
"""The demos, by the pattern's name on the command line."""
