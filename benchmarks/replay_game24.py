"""Recorded breadth-first searches of Tree of Thoughts on the Game of 24: use four numbers to make 24."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from benchmarks.replay import Kind, Report, Row
from brain.messages import Message, user
from brain.patterns import TreeOfThoughts
from brain.policy import Note, Policy, ask
from brain.types import Reply

__all__ = ["GAME_24", "Searched", "makes_24"]

BEAM, SAMPLES = 5, 3
"""How many states are kept, and how often each is valued, in the paper."""


class Searched:
    """The model of a recorded search.

    The record has what was proposed and what each state was worth; of the judgements it has the sum, from which
    they follow up to their order: 20 for "sure", 1 for "likely", 0.001 for "impossible".
    """

    def __init__(self, row: Row) -> None:
        self.differences: list[str] = []
        self.expected: list[tuple[str, str]] = []
        """What a request has to contain, and the reply."""
        for step in row["steps"]:
            for state, thoughts in zip(step["ys"], _by_parent(step["ys"], step["new_ys"]), strict=True):
                self.expected.append((f"Numbers: {row['x']}\n{state}Next:", "\n".join(thoughts)))
            worth: dict[str, float] = {}
            for state, value in zip(step["new_ys"], step["values"], strict=True):
                worth.setdefault(state, value)  # of a state that is there twice, the second is not valued
            for state, value in worth.items():
                self.expected += [(f":\n{state}\n\n", judgement) for judgement in _judgements(value)]
        self.calls = 0

    def generate(self, messages: Sequence[Message], *_: Any, **__: Any) -> Reply:
        """Say what the record has next, if it is what is asked for."""
        asked = str(messages[-1]["content"])
        contains, reply = self.expected[self.calls] if self.calls < len(self.expected) else ("\0", "")
        self.calls += 1
        if contains not in asked:
            self.differences.append(f"call {self.calls} asks {asked[-200:]!r}; the record has {contains!r}")
        return Reply(reply)


def _by_parent(states: list[str], candidates: list[str]) -> list[list[str]]:
    """Divide candidates among the states that they extend by one line; both are in the same order.

    Every state has at least one. Of two equal states, the second has what is there again.
    """
    thoughts: list[list[str]] = [[] for _ in states]
    place = 0
    for candidate in candidates:
        twin = states[place + 1 : place + 2] == [states[place]]
        if twin and candidate[len(states[place]) : -1] in thoughts[place]:
            place += 1
        while not _extends(candidate, states[place]):
            place += 1
        thoughts[place].append(candidate[len(states[place]) : -1])
    return thoughts


def _extends(candidate: str, state: str) -> bool:
    return candidate.startswith(state) and candidate.count("\n") == state.count("\n") + 1


def _judgements(value: float) -> list[str]:
    """Return the judgements that are worth a value; what is missing to three was none of the three words."""
    thousandths = round(value * 1000)
    said = ["sure"] * (thousandths // 20_000) + ["likely"] * (thousandths % 20_000 // 1000)
    said += ["impossible"] * (thousandths % 1000)
    return [*said, *["unclear"] * (SAMPLES - len(said))]


def propose(task: str, state: str) -> Policy[list[str]]:
    """Propose as the paper's code does: each line of the reply is a thought, blank ones included."""
    reply = yield from ask([user(f"{task}\n{state}Next:")], phase="propose")
    return reply.text.split("\n")


def makes_24(state: str, numbers: str) -> bool:
    """Return whether the last line of a state uses each number once and comes to 24."""
    expression = state.strip().split("\n")[-1].lower().replace("answer: ", "").split("=")[0]
    if sorted(re.findall(r"\d+", expression)) != sorted(re.findall(r"\d+", numbers)):
        return False
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body) == 24
    except (SyntaxError, ValueError, ZeroDivisionError):
        return False


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        value: Fraction = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        return value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise ValueError("no arithmetic")


def _game24(rows: list[Row], report: Report) -> None:
    """Tree of Thoughts on the Game of 24: 100 puzzles."""
    solved = levels = puzzles = 0
    for row in rows:
        searched, steps = Searched(row), row["steps"]
        agent = TreeOfThoughts(
            searched,
            depth=len(steps),
            beam=BEAM,
            branching=1_000,  # the paper takes all that are proposed
            propose=propose,
            samples=SAMPLES,
            answer=lambda _, state: state,
        )
        result = agent.run(f"Numbers: {row['x']}")
        assert result.journal is not None
        notes = [entry.action for entry in result.journal if isinstance(entry.action, Note)]
        kept = [note.data for note in notes if note.kind == "kept" and note.data is not None]
        same = [
            told["states"] == step["select_new_ys"] and told["values"] == _recorded_values(step)
            for told, step in zip(kept, steps, strict=False)
        ]
        differences = searched.differences + [
            f"the states kept at step {number} are not the recorded ones"
            for number, each in enumerate(same)
            if not each
        ]
        if searched.calls != len(searched.expected) or len(kept) != len(steps):
            differences.append(
                f"{searched.calls} model calls in {len(kept)} steps, the record has {len(searched.expected)}"
            )
        rewards = [int(makes_24(state, row["x"])) for state in (kept[-1]["states"] if kept else [])]
        if rewards != [each["r"] for each in row["infos"]]:
            differences.append(f"final states solve {rewards}, recorded {row['infos']}")
        report.differences += [f"puzzle {row['x']!r}: {each}" for each in differences]
        puzzles += not differences
        levels += sum(same)
        solved += any(rewards)
        distinct = sum(len(set(step["new_ys"])) for step in steps)
        report.counts.update(
            calls=searched.calls,
            proposals=sum(len(step["ys"]) for step in steps),
            judgements=SAMPLES * distinct,
            parents=sum(len(step["ys"]) - len(set(step["ys"])) for step in steps),
            twice=sum(len(step["new_ys"]) for step in steps) - distinct,
            ties=sum(_tied(step) for step in steps),
        )
    report.counts.update(puzzles=len(rows), identical=puzzles, levels=levels, solved=solved)
    counts = report.counts
    report.table = [("per puzzle", "calls to propose", "calls to value", "in all")]
    for name, part in (("mean", len(rows)), ("all", 1)):
        calls = (counts["proposals"], counts["judgements"], counts["calls"])
        report.table.append((name, *(f"{each / part:,.0f}" for each in calls)))
    report.cannot_show[
        "which values the authors' code took from its cache instead of asking; all are asked for here"
    ] += 1
    if counts["parents"]:
        report.cannot_show["how proposals divide between two equal states; by the first repetition here"] += counts[
            "parents"
        ]
    report.cannot_show["in what order the judgements of a state came; the sum is recorded"] += 1
    report.figures = (
        f"Game of 24, Tree of Thoughts: {levels} of {sum(len(row['steps']) for row in rows)} steps of {len(rows)} "
        f"puzzles keep the recorded states ({counts['ties']} steps with a tie at the edge of the beam); "
        f"{counts['calls']:,} model calls; {solved} of {len(rows)} solved"
    )


def _recorded_values(step: Row) -> list[float]:
    values = sorted(step["values"], reverse=True)
    return [float(each) for each in values[:BEAM]]


def _tied(step: Row) -> bool:
    """Return whether the values alone do not say which states are kept."""
    values = sorted(step["values"], reverse=True)
    return len(values) > BEAM and bool(values[BEAM - 1] == values[BEAM])


def _problem(row: Row) -> str:
    """Say what the steps of a row lack."""
    try:
        if not isinstance(row["x"], str):
            return "a puzzle whose numbers are no text"
        for step in row["steps"]:
            texts = [*step["ys"], *step["new_ys"], *step["select_new_ys"]]
            if not all(isinstance(each, str) for each in texts) or not all(each >= 0 for each in step["values"]):
                return "a puzzle with a step whose states are no texts or values no numbers"
            if len(step["new_ys"]) != len(step["values"]) or not step["select_new_ys"]:
                return "a puzzle with a step whose values are not those of its states"
            if not all(_by_parent(step["ys"], step["new_ys"])):
                return "a puzzle with a state of which nothing was proposed"
        return "" if row["steps"] and all(each["r"] in (0, 1) for each in row["infos"]) else "a puzzle without steps"
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        return f"a puzzle with a step that cannot be read ({type(error).__name__}: {error})"


GAME_24 = Kind(frozenset({"x", "steps", "ys", "infos"}), _problem, _game24)
