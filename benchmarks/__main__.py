"""``python -m benchmarks``: every question in one table, each beside a floor measured in the same process.

Medians, the ratio to the floor, and how low it should be; a row that does not get there says so. What is
measured are the shipped defaults: journal, hooks and events on.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import context, overhead, programs
from brain.patterns import Debate, React, ReActAgent
from brain.patterns.react import parse
from brain.runtime import Journal
from brain.structured import extract
from brain.testing import ScriptedProvider, calls, says

FLOOR_IMPORTS = "import dataclasses, json, re, enum, typing"


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def fresh(code: str) -> None:
    """Run code in a fresh interpreter."""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])


def megabytes(code: str) -> float:
    """Return the resident memory of a fresh interpreter after some code."""
    told = f"{code}\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return int(run.stdout) / 1024


def debate_run(rounds: int) -> None:
    """Run debates, 5 model calls each."""
    script = ["p", '{"severity": 0.1}', '{"passes": true}', "answer"]
    for _ in range(rounds):
        assert Debate(None, ScriptedProvider(script)).run("t").ok


def debate_floor(rounds: int) -> None:
    """Do the same by hand: four prompts built, two JSON replies read."""
    for _ in range(rounds):
        messages = [{"role": "user", "content": "t"}]
        for said in ("p", '{"severity": 0.1}', '{"passes": true}', "answer"):
            request = [*messages, {"role": "user", "content": "Do this stage of the debate, as told at length."}]
            assert request
            value = json.loads(said) if said[0] == "{" else None
            if value is None:
                messages.append({"role": "assistant", "content": said})


def native_run(steps: int) -> None:
    """Run the native tool loop."""
    script = [*(says("", calls("echo", text="again")) for _ in range(steps - 1)), "done"]
    agent = React([echo], ScriptedProvider(script), max_node_iterations=steps)
    assert agent.run("t").ok


def native_floor(steps: int) -> None:
    """Do the same by hand."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "t"}]
    for number in range(steps - 1):
        arguments = json.dumps({"text": "again"})
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "echo", "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": echo(**json.loads(arguments))})


def echo(text: str) -> str:
    """Return a text."""
    return text


def many_runs() -> float:
    """Return how long 200 runs of 5 steps take on 8 threads with a model that takes 20 ms, against the ideal."""
    pause = threading.Event()

    def model(messages: Any, **_: Any) -> str:
        pause.wait(0.02)
        return overhead.REPLY if len(messages) < 10 else "Final Answer: done"

    agent = ReActAgent({"echo": str}, ScriptedProvider(model))

    def work() -> None:
        for _ in range(25):
            assert agent.run("t").ok

    threads = [threading.Thread(target=work) for _ in range(8)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def measure(quick: bool) -> list[dict[str, Any]]:
    """Return a row for each question: name, what it is, the floor, the unit, the ratio, the reach."""
    rows: list[dict[str, Any]] = []

    def row(name: str, ours: float, floor: float, unit: str, reach: float | None) -> None:
        rows.append({"name": name, "ours": ours, "floor": floor, "unit": unit, "ratio": ours / floor, "reach": reach})

    times = 5 if quick else 15
    row(
        "import brain, fresh process",
        seconds(lambda: fresh("import brain"), times) * 1e3,
        seconds(lambda: fresh(FLOOR_IMPORTS), times) * 1e3,
        "ms",
        1.6,
    )
    row("import brain, resident memory", megabytes("import brain"), 16.0, "MB", 1.0)
    for each in overhead.measure(overhead.STEPS[:-1] if quick else overhead.STEPS):
        row(
            f"ReAct step, {each['steps']:,} steps",
            each["us_per_step"],
            each["floor_us_per_step"],
            "us",
            12.0 if each["steps"] == 100 else None,
        )
    steps = {f"ReAct step, {count:,} steps": count for count in overhead.STEPS}
    per_step = {steps[each["name"]]: each["ours"] for each in rows if each["name"] in steps}
    row(f"ReAct step, {max(per_step):,} against 100 steps", per_step[max(per_step)], per_step[100], "us", 1.5)
    row(
        "debate, a run of 4 stages",
        seconds(lambda: debate_run(25), times) / 25 * 1e6,
        seconds(lambda: debate_floor(25), times) / 25 * 1e6,
        "us",
        15.0,
    )
    row(
        "native tool loop, a step of 100",
        seconds(lambda: native_run(100), times) / 100 * 1e6,
        seconds(lambda: native_floor(100), times) / 100 * 1e6,
        "us",
        15.0,
    )
    sent = context.measure()[-1]
    row("characters sent, Managed, 200 steps", sent["managed"], sent["plain"], "chars", 0.10)
    row("characters sent, React, 200 steps", sent["react"], sent["plain"], "chars", None)
    for each in programs.measure(5 if quick else 11):
        row(str(each["name"]), each["ms"], each["floor_ms"], "ms", each["reach"])
    row("200 runs of 5 model calls, 8 threads, 20 ms", many_runs(), 25 * 5 * 0.02, "s", 1.03)

    journal = overhead.run(1_000).journal
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        file.write_text("\n".join(journal.to_lines()) + "\n", encoding="utf-8")
        agent = ReActAgent({"echo": str}, ScriptedProvider([]), max_steps=1_000)

        def resume() -> None:
            with file.open(encoding="utf-8") as lines:
                assert agent.resume(Journal.from_lines(lines)).ok

        def read() -> None:
            for line in file.read_text(encoding="utf-8").splitlines():
                json.loads(line)

        row("resume of a 1,000-step journal file", seconds(resume, 3) * 1e3, seconds(read, 3) * 1e3, "ms", 5.0)
        text = len(overhead.REPLY) + len("Observation: again") + len("again") * 2
        row("journal bytes a step, text left out", file.stat().st_size / 1_000 - text, 600.0, "bytes", 1.0)
    prose = "word " * 200_000 + '\n{"answer": 42}'
    row(
        "extract() from 1 MB of prose",
        seconds(lambda: extract(prose), 3) * 1e3,
        seconds(lambda: prose.find('{"answer"'), 9) * 1e3,
        "ms",
        None,
    )
    reply = "Thought: " + "words and words " * 6_000 + "\nFinal Answer: 42"
    row(
        "parse() of a 100 KB reply",
        seconds(lambda: parse(reply), 9) * 1e3,
        seconds(lambda: reply.find("Final Answer:"), 9) * 1e3,
        "ms",
        None,
    )
    return rows  # fmt: skip


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, and only up to 1,000 steps")
    options = parser.parse_args()
    rows = measure(options.quick)
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{'':<46} {'':>12} {'floor':>12} {'unit':<5} {'ratio':>8}  reach")
    for each in rows:
        reach = ""
        if each["reach"] is not None:
            reach = f"{each['reach']:.2f}x" + ("" if each["ratio"] <= each["reach"] else "  MISSED")
        print(
            f"{each['name']:<46} {each['ours']:>12,.3f} {each['floor']:>12,.3f} {each['unit']:<5} "
            f"{each['ratio']:>7.2f}x  {reach}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
