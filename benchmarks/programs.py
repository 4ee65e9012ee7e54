"""What a program costs: starting one, and a bridged tool call, beside the physical floor.

``python -m benchmarks.programs`` starts empty programs in the subprocess sandbox with every layer on, beside
spawning ``python -I -S -c pass``; and makes 1, 100 and 1,000 tool calls from a program, beside JSON lines over a
pair of pipes to a child that answers. With BRAIN_DOCKER_HOST and BRAIN_DOCKER_IMAGE set, containers are measured
too, beside ``docker run IMAGE true``'s kin: the same interpreter doing nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from brain.sandbox import DockerSandbox, SubprocessSandbox

CALLS = (1, 100, 1_000)
ECHO = "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stdout.flush()"
REACH = {"start": 4.0, "call": 2.0, "docker start": 1.3, "docker call": 1.3}


def median(call: Callable[[], float], repeats: int) -> float:
    """Return the median of what a measurement returns, in seconds."""
    return statistics.median(call() for _ in range(repeats))


def timed(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def program_of(calls: int) -> str:
    """Return a program that makes so many calls and reports their time itself, start-up left out."""
    return (
        "import time\necho('warm')\nbegan = time.perf_counter()\n"
        f"for number in range({calls}):\n    echo('x')\nfinal_answer(time.perf_counter() - began)"
    )


def bridged(sandbox: Any, calls: int) -> float:
    """Return the time of so many calls of a tool from a program."""
    report = sandbox.run(program_of(calls), {"echo": lambda text: text}, max_tool_calls=calls + 1)
    assert report.ok, report.error
    return float(report.value)


def piped(calls: int, command: Sequence[str] = (sys.executable, "-I", "-S", "-c", ECHO)) -> float:
    """Return the time of so many JSON lines to a child and back."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin
        assert child.stdout

        def ask() -> None:
            assert child.stdin
            assert child.stdout
            child.stdin.write(json.dumps({"name": "echo", "args": ["x"]}) + "\n")
            child.stdin.flush()
            json.loads(child.stdout.readline())

        ask()
        began = time.perf_counter()
        for _ in range(calls):
            ask()
        taken = time.perf_counter() - began
        child.stdin.close()
    return taken


def measure(repeats: int) -> list[dict[str, Any]]:
    """Return a row for each question: what it costs, the floor, the ratio, and how low it should be."""
    local = SubprocessSandbox(require=())
    local.run("pass")  # the first run finds out what this machine can do
    rows = []

    def row(name: str, seconds: float, floor: float, reach: float | None) -> None:
        rows.append(
            {"name": name, "ms": seconds * 1e3, "floor_ms": floor * 1e3, "ratio": seconds / floor, "reach": reach}
        )

    spawn = [sys.executable, "-I", "-S", "-c", "pass"]
    started = median(lambda: timed(lambda: local.run("pass")), repeats)
    row(
        "program start, subprocess",
        started,
        median(lambda: timed(lambda: subprocess.run(spawn)), repeats),
        REACH["start"],
    )
    for calls in CALLS:
        ours, floor = median(lambda: bridged(local, calls), repeats), median(lambda: piped(calls), repeats)  # noqa: B023
        row(
            f"tool call of a program, {calls:,} calls",
            ours / calls,
            floor / calls,
            REACH["call"] if calls == 1000 else None,
        )
    host, image = os.environ.get("BRAIN_DOCKER_HOST"), os.environ.get("BRAIN_DOCKER_IMAGE")
    if host and image:
        container = DockerSandbox(image, host=host, require=())
        container.run("pass")
        run = ["docker", "--host", host, "run", "--rm", "--network=none", image, "python3", "-I", "-S", "-c", "pass"]
        floor = median(lambda: timed(lambda: subprocess.run(run, check=True)), max(3, repeats // 4))
        started = median(lambda: timed(lambda: container.run("pass")), max(3, repeats // 4))
        row("program start, container", started, floor, REACH["docker start"])
        line = [
            "docker",
            "--host",
            host,
            "run",
            "-i",
            "--rm",
            "--network=none",
            image,
            "python3",
            "-I",
            "-S",
            "-c",
            ECHO,
        ]
        calls, few = 1_000, max(3, repeats // 4)
        ours, floor = median(lambda: bridged(container, calls), few), median(lambda: piped(calls, line), few)
        row("tool call, container, 1,000 calls", ours / calls, floor / calls, REACH["docker call"])
    return rows


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows of JSON")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    rows = measure(5 if options.quick else 21)
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{'':<36} {'ms':>9} {'floor':>9} {'ratio':>7}  reach")
    for each in rows:
        reach = (
            ""
            if each["reach"] is None
            else f"{each['reach']:.1f}x {'' if each['ratio'] <= each['reach'] else 'MISSED'}"
        )
        print(f"{each['name']:<36} {each['ms']:>9.3f} {each['floor_ms']:>9.3f} {each['ratio']:>6.2f}x  {reach}")
    if not (os.environ.get("BRAIN_DOCKER_HOST") and os.environ.get("BRAIN_DOCKER_IMAGE")):
        print("containers: not measured, BRAIN_DOCKER_HOST and BRAIN_DOCKER_IMAGE are not set")
    return 0


if __name__ == "__main__":
    sys.exit(main())
