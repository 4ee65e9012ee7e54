"""How much a long tool loop sends: ``Managed`` at its defaults, React, and the plain transcript.

``python -m benchmarks.context`` plays 200 rounds whose tool returns 2,400 characters each, with a scripted
model, and counts the characters of all requests together. The floor is the plain transcript
(``ContextCompaction(enabled=False)``).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from brain.ledger import ContextCompaction
from brain.patterns import Managed, React
from brain.testing import ScriptedProvider, calls, says

STEPS, SIZE, REACH = (25, 50, 100, 200), 2_400, 0.10


def record(n: int) -> str:
    """Return a record of 2,400 characters."""
    return f"record {n} ".ljust(SIZE, "x")


def script(steps: int) -> Iterator[Any]:
    """Yield what the model says: a look-up of each record, then the answer."""
    for number in range(steps):
        yield says("", calls("record", n=number))
    yield "All records have been read."


def sent(pattern: type[React], steps: int, **options: Any) -> int:
    """Return the characters of all requests of a run."""
    model = ScriptedProvider(script(steps))
    result = pattern([record], model, max_node_iterations=steps + 1, **options).run("Read all records.")
    assert result.ok, result.error
    return sum(len(json.dumps(message, ensure_ascii=False)) for each in model.requests for message in each.messages)


def measure() -> list[dict[str, float]]:
    """Return a row for each number of steps."""
    rows: list[dict[str, float]] = []
    for steps in STEPS:
        plain = sent(Managed, steps, context_compaction=ContextCompaction(enabled=False))
        rows.append({"steps": steps, "plain": plain, "managed": sent(Managed, steps), "react": sent(React, steps)})
    return rows


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows of JSON")
    options = parser.parse_args()
    rows = measure()
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{'steps':>6} {'plain':>12} {'Managed':>12} {'ratio':>7} {'React':>12} {'ratio':>7}")
    for row in rows:
        managed, react = row["managed"] / row["plain"], row["react"] / row["plain"]
        print(
            f"{row['steps']:>6} {row['plain']:>12,} {row['managed']:>12,} {managed:>6.3f}x "
            f"{row['react']:>12,} {react:>6.3f}x"
        )
    ratio = rows[-1]["managed"] / rows[-1]["plain"]
    reached = "reached" if ratio <= REACH else "MISSED"
    print(f"characters sent by Managed in {STEPS[-1]} steps of {SIZE:,}: {ratio:.3f}x the plain transcript")
    print(f"reach {REACH:.2f}x: {reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
