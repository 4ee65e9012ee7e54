"""What a ReAct step costs beyond the model and the tool, and how that grows with the number of steps.

``python -m benchmarks.overhead`` runs ``ReActAgent``, with journal and events as shipped, on a scripted
model that answers at once, for 10 to 10,000 steps, beside a plain hand-written loop. Times are the median of
several runs; memory is the peak that ``tracemalloc`` saw, result and journal included.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import tracemalloc
from typing import Any

from brain.patterns import ReActAgent
from brain.testing import ScriptedProvider

STEPS = (10, 100, 1_000, 10_000)
REPLY = "Thought: once more\nAction: echo\nAction Input: again"


def replies(steps: int) -> Any:
    """Yield what the model says: ``steps - 1`` actions and an answer."""
    for _ in range(steps - 1):
        yield REPLY
    yield "Final Answer: done"


def run(steps: int) -> Any:
    """Run the library."""
    return ReActAgent({"echo": str}, ScriptedProvider(replies(steps)), max_steps=steps).run("task")


def floor(steps: int) -> Any:
    """Run the floor: a loop by hand that reads the labels, calls the tool and keeps messages and steps."""
    said, messages, kept = replies(steps), [{"role": "user", "content": "task"}], []
    for index in range(steps):
        text = next(said).strip()
        thought = action = given = ""
        for line in text.split("\n"):
            if line.startswith("Thought:"):
                thought = line[8:].strip()
            elif line.startswith("Action:"):
                action = line[7:].strip()
            elif line.startswith("Action Input:"):
                given = line[13:].strip()
            elif line.startswith("Final Answer:"):
                return line[13:].strip()
        observation = {"echo": str}[action](given)
        kept.append({"index": index, "thought": thought, "action": action, "input": given, "observation": observation})
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": f"Observation: {observation}"})
    return ""


def microseconds(call: Any, steps: int, repeats: int) -> float:
    """Return the median time of a call, in microseconds a step."""
    times = []
    for _ in range(repeats):
        gc.collect()
        began = time.perf_counter()
        call(steps)
        times.append(time.perf_counter() - began)
    return statistics.median(times) / steps * 1e6


def peak(steps: int) -> int:
    """Return the peak memory of a run, in bytes."""
    gc.collect()
    tracemalloc.start()
    kept = run(steps)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kept.ok
    return size


def measure(steps: tuple[int, ...] = STEPS) -> list[dict[str, float]]:
    """Return a row for each number of steps."""
    run(10), floor(10)
    rows = []
    for count in steps:
        repeats = max(3, min(200, 2_000 // count))
        rows.append(
            {
                "steps": count,
                "us_per_step": microseconds(run, count, repeats),
                "floor_us_per_step": microseconds(floor, count, repeats),
                "peak_bytes_per_step": peak(count) / count,
            }
        )
    return rows


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows of JSON")
    parser.add_argument("--quick", action="store_true", help="only up to 1,000 steps")
    options = parser.parse_args()
    rows = measure(STEPS[:-1] if options.quick else STEPS)
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{'steps':>8} {'us/step':>9} {'floor':>7} {'ratio':>6} {'peak bytes/step':>16}")
    for row in rows:
        ratio = row["us_per_step"] / row["floor_us_per_step"]
        print(
            f"{row['steps']:>8,} {row['us_per_step']:>9.1f} {row['floor_us_per_step']:>7.2f} {ratio:>5.1f}x "
            f"{row['peak_bytes_per_step']:>16,.0f}"
        )
    hundred = next(row for row in rows if row["steps"] == 100)
    growth = rows[-1]["us_per_step"] / hundred["us_per_step"]
    memory = rows[-1]["peak_bytes_per_step"] / hundred["peak_bytes_per_step"]
    print(f"{rows[-1]['steps']:,} steps against 100: {growth:.2f}x the time a step, {memory:.2f}x the memory a step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
