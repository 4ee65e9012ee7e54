"""Replays published runs through the library and prints the figures they were published with.

``python -m benchmarks.replay FILE.jsonl`` takes a file of recorded runs: ReAct on FEVER, ReAct and Reflexion on
HotpotQA, or Tree of Thoughts on the Game of 24. A model speaks the recorded replies, tools return the recorded
observations, and at every turn it is checked that the library asks for what the record has next. What a record
cannot show is counted and named. The last line holds the figures; the exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Kind", "Report", "main", "replay"]

Row = dict[str, Any]


@dataclass
class Report:
    """What a replay came to."""

    figures: str = ""
    """One line: what was reproduced."""
    table: list[tuple[Any, ...]] = field(default_factory=list)
    """The heads of its columns, then its rows."""
    differences: list[str] = field(default_factory=list)
    """Where the library did not do what the record has."""
    cannot_show: Counter[str] = field(default_factory=Counter)
    """What the record does not hold, and how often."""
    counts: Counter[str] = field(default_factory=Counter)
    """The numbers behind the figures."""

    def lines(self) -> Iterator[str]:
        """Yield the report as text, the figures last."""
        widths = [max(len(str(cell)) for cell in column) for column in zip(*self.table, strict=True)]
        for row in self.table:
            yield "  ".join(f"{cell!s:>{width}}" for cell, width in zip(row, widths, strict=True))
        for what, count in sorted(self.cannot_show.items()):
            yield f"the record cannot show: {what} ({count})"
        for difference in self.differences[:20]:
            yield f"differs: {difference}"
        if len(self.differences) > 20:
            yield f"and {len(self.differences) - 20} more differences"
        yield self.figures


@dataclass(frozen=True)
class Kind:
    """A kind of recorded run."""

    fields: frozenset[str]
    """What a row has to have."""
    problem: Callable[[Row], str]
    """Says what else a row lacks; ``""`` if nothing."""
    run: Callable[[list[Row], Report], None]
    """Replays rows."""


def replay(path: Path, limit: int | None = None) -> Report:
    """Replay a file, or its first ``limit`` rows."""
    from benchmarks import replay_game24, replay_react

    kinds = [replay_react.FEVER, replay_react.HOTPOTQA, replay_game24.GAME_24]
    report = Report()
    rows = list(_read(path, report))
    kind = max(kinds, key=lambda each: sum(each.fields <= row.keys() for row in rows))
    whole = []
    for row in rows[:limit]:
        missing = sorted(kind.fields - row.keys())
        problem = f"a row without {', '.join(missing)}" if missing else kind.problem(row)
        if problem:
            report.cannot_show[problem] += 1
        else:
            whole.append(row)
    if not whole:
        known = "; ".join(", ".join(sorted(each.fields)) for each in kinds)
        raise ValueError(f"{path}: no row can be replayed; the kinds have the fields {known}")
    kind.run(whole, report)
    return report


def _read(path: Path, report: Report) -> Iterator[Row]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                report.cannot_show[f"line {number}, which is no JSON"] += 1
                continue
            if not isinstance(row, dict):
                report.cannot_show[f"line {number}, which is no object"] += 1
                continue
            yield row


def main(argv: list[str] | None = None) -> int:
    """Replay the files that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("file", type=Path, nargs="+", help="recorded runs, one JSON object a line")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N rows")
    options = parser.parse_args(argv)
    differ = False
    for path in options.file:
        try:
            report = replay(path, options.limit)
        except (OSError, ValueError) as error:
            print(f"replay: {error}", file=sys.stderr)
            return 2
        print("\n".join(report.lines()))
        differ |= bool(report.differences)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
