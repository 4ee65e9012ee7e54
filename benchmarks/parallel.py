"""What batches gain: Tree of Thoughts with a model that takes 20 ms, on one worker and on eight.

``python -m benchmarks.parallel`` prints the times beside the ideal: every batch of n calls takes n/8, rounded up,
calls' time. It also checks that both runs leave the same journal.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from brain.messages import Message
from brain.patterns import TreeOfThoughts
from brain.runtime import ActionStarted, RunEnded
from brain.types import PatternResult, Reply

SECONDS = 0.02
WORKERS = 8
PROPOSED = 8
"""Thoughts to a state."""


class Slow:
    """A model that takes its time; what it says depends on what it is asked only."""

    def generate(self, messages: Sequence[Message], *_: Any, **__: Any) -> Reply:
        """Wait, then propose, judge or answer."""
        threading.Event().wait(SECONDS)
        asked = str(messages[-1]["content"])
        if "Propose" in asked:
            return Reply("\n".join(f"thought {number}" for number in range(PROPOSED)))
        return Reply(("likely", "sure", "impossible")[len(asked) % 3])


def run(workers: int) -> tuple[PatternResult, list[int]]:
    """Run the search; return its result and the sizes of its batches."""
    agent = TreeOfThoughts(Slow(), depth=3, beam=5, branching=PROPOSED)
    batches: list[int] = []
    under_way = False
    for event in agent.stream("a task", max_workers=workers):
        if isinstance(event, ActionStarted):
            if not under_way:
                batches.append(0)
            batches[-1] += 1
        under_way = isinstance(event, ActionStarted)
    assert isinstance(event, RunEnded)
    return event.result, batches


def main() -> int:
    """Print the times."""
    argparse.ArgumentParser(prog="python -m benchmarks.parallel", description=__doc__).parse_args()
    rows = []
    for workers in (1, WORKERS):
        started = time.perf_counter()
        result, batches = run(workers)
        rows.append((workers, time.perf_counter() - started, result, batches))
    (_, alone, first, _), (_, together, second, batches) = rows
    ideal = sum(-(-size // WORKERS) for size in batches) * SECONDS
    assert first.journal is not None
    assert second.journal is not None
    same = [each.digest for each in first.journal] == [each.digest for each in second.journal]
    same &= [each.outcome for each in first.journal] == [each.outcome for each in second.journal]
    calls = second.report.model_calls
    print(f"{calls} model calls of {SECONDS * 1000:.0f} ms in {len(batches)} batches")
    print(f"{'workers':>8} {'seconds':>8} {'ideal':>7}")
    print(f"{1:>8} {alone:>8.2f} {calls * SECONDS:>7.2f}")
    print(f"{WORKERS:>8} {together:>8.2f} {ideal:>7.2f}")
    print(f"{together / ideal:.2f}x the ideal time with {WORKERS} workers; same journal as with one: {same}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
