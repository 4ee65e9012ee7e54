"""Journals on the command line: show one, and go on with the run of one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from brain.agent import PATTERNS
from brain.errors import BrainError, ConfigurationError
from brain.policy import Note
from brain.runtime import Deny, Journal, read_journal
from brain.runtime.journal import described, short
from brain.trace import visible
from brain.types import Observation, Reply

__all__ = ["add_commands", "decision_of", "pattern_of", "show"]


def add_commands(commands: Any, run_options: Any, resume: Any) -> None:
    """Add ``show`` and ``resume`` to the command line.

    Args:
        commands: the subparsers.
        run_options: adds the options that ``run`` has too.
        resume: carries out ``resume``.
    """
    shown = commands.add_parser("show", help="show a journal", description="Print what a journal file holds.")
    shown.add_argument("file", metavar="FILE", help="a journal, written by --journal")
    shown.add_argument("--json", action="store_true", help="print each entry as a JSON object on a line")
    shown.set_defaults(command=_show)

    taken = commands.add_parser(
        "resume",
        help="go on with a run from its journal",
        description="Go on with an interrupted run from its journal file. Give the tools and settings it was run with.",
    )
    taken.add_argument("file", metavar="FILE", help="a journal, written by --journal")
    decision = taken.add_mutually_exclusive_group()
    decision.add_argument("--approve", action="store_true", help="make the call that the run stopped to ask about")
    decision.add_argument("--deny", metavar="WHY", help="do not make it")
    decision.add_argument("--observed", metavar="TEXT", help="do not make it again: this is what came of it")
    run_options(taken)
    taken.set_defaults(command=resume)


def decision_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the decision that the options tell, as a keyword of ``resume``."""
    if options.approve:
        return {"approve": True}
    if options.deny is not None:
        return {"approve": Deny(options.deny)}
    return {} if options.observed is None else {"approve": Observation(options.observed)}


def pattern_of(file: str) -> str:
    """Return the name by which the command line knows the pattern of a journal.

    Raises:
        ConfigurationError: it is of a pattern that the command line cannot make.
    """
    made = read_journal(file).pattern
    for name, kind in PATTERNS.items():
        if kind == made:
            return {"react-text": "react", "react": "react-native"}.get(name, name)
    raise ConfigurationError(f"{file} is of a run of {made!r}, which the command line cannot make; resume it in Python")


def _show(options: argparse.Namespace) -> int:
    journal = read_journal(options.file)
    if options.json:
        for line in journal.to_lines():
            print(line)
    else:
        print(show(journal))
    return 0


def show(journal: Journal) -> str:
    """Return a journal as text: one entry a line, then what was under way."""
    lines = [f"{journal.pattern or 'run'} (brain {journal.version}): {visible(short(journal.task, 200))}"]
    for index, entry in enumerate(journal):
        lines.append(f"{index:>4}  {visible(described(entry.action))}")
        if not isinstance(entry.action, Note):
            lines.append(f"      -> {visible(_outcome(entry.outcome))}")
    for place, wanted in journal.begun.items():
        lines.append(f"{place:>4}  {visible(described(wanted))}\n      -> begun, not recorded")
    report = journal.report()
    totals = [f"{report.model_calls} model calls", f"{report.tool_calls} tool calls"]
    if report.usage is not None:
        totals.append(f"{report.usage.input_tokens} tokens in, {report.usage.output_tokens} out")
    if journal.question:
        totals.append("stopped to ask about a call; resume with --approve or --deny")
    return "\n".join([*lines, "; ".join(totals)])


def _outcome(outcome: Any) -> str:
    if isinstance(outcome, Reply):
        calls = ", ".join(f"{call.name}({json.dumps(call.arguments, default=str)})" for call in outcome.tool_calls)
        return short(" ".join(each for each in (outcome.text, calls) if each), 160)
    if isinstance(outcome, BrainError):
        return f"{type(outcome).__name__}: {short(str(outcome), 160)}"
    if isinstance(outcome, Observation):
        return ("" if outcome.ok else "failed: ") + short(outcome.text, 160)
    return short(str(getattr(outcome, "error", None) or getattr(outcome, "output", "")), 160)
