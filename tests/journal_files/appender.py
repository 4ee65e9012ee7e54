"""A run of thirty steps whose tool appends to a file, in a process that is killed.

For each line ``JOURNAL LOG once|idempotent SECONDS`` on its input it runs in a process of its own, which it kills
with SIGKILL after those seconds; it answers with the process's status and the seconds it was given.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from brain.patterns import ReActAgent
from brain.testing import ScriptedProvider
from brain.tools import Tool

STEPS = 30


def agent(log: str, kind: str) -> ReActAgent:
    """Return an agent that appends the numbers from 0, one a step."""

    def append(number: str) -> str:
        """Append a line to the file."""
        with open(log, "a", encoding="ascii") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())
        return f"appended {number}"

    def model(messages: Any, **_: Any) -> str:
        done = sum("Observation: appended" in message["content"] for message in messages)
        return f"Action: append\nAction Input: {done}" if done < STEPS else f"Final Answer: {done}"

    tool = Tool("append", append, idempotent=kind == "idempotent")
    return ReActAgent({"append": tool}, ScriptedProvider(model), max_steps=STEPS + 1)


def main() -> None:
    """Serve."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for line in sys.stdin:
        journal, log, kind, seconds = line.split()
        began = time.perf_counter()
        child = os.fork()
        if not child:
            result = agent(log, kind).run("append", journal=journal)
            os._exit(0 if result.answer == str(STEPS) else 1)
        if signal.sigtimedwait([signal.SIGCHLD], float(seconds)) is None:
            os.kill(child, signal.SIGKILL)
            signal.sigtimedwait([signal.SIGCHLD], 60)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
