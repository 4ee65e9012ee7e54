"""One agent object, many threads, tools and hooks: no run has anything of another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from brain.patterns import ContractPattern, ReActAgent, ReActContract
from brain.policy import Act
from brain.runtime import ApprovalGate, Approve, Limits, LoopGuard, Redactor, ToolPolicy
from brain.testing import ScriptedProvider
from brain.types import PatternResult

THREADS, RUNS = 8, 1000


def model(messages: Any, **_: Any) -> str:
    """Call the tool twice with the word of the task, then answer with what it returned."""
    word = messages[1]["content"]
    seen = [message["content"] for message in messages if message["content"].startswith("Observation: ")]
    return f"Action: look\nAction Input: {word}" if len(seen) < 2 else f"Final Answer: {' '.join(seen)}"


def look(word: str) -> str:
    """Look a word up."""
    return f"<{word}>"


def approves(call: Act) -> Any:
    return Approve(f"{call.input}!") if call.input.endswith("7") else True


def test_a_thousand_runs_of_one_object_on_eight_threads() -> None:
    """Each result, journal and count is of its own run; half of them are of a contract."""
    tools, provider = {"look": look}, ScriptedProvider(model)
    hooks = [
        ApprovalGate(approves),
        ToolPolicy(allow=["look"]),
        Limits(model_calls=3, tool_calls=2),
        LoopGuard(3),
        Redactor(),
    ]
    agents = [
        ReActAgent(tools, provider).with_hooks(*hooks),
        ContractPattern(ReActContract(), tools, provider).with_hooks(*hooks),
    ]
    barrier = threading.Barrier(THREADS, timeout=20)

    def work(number: int) -> tuple[str, PatternResult]:
        if number < THREADS:
            barrier.wait()  # all threads are at it at once
        word = f"word{number}"
        return word, agents[number % 2].run(word)

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(work, range(RUNS)))
    for word, result in results:
        given = f"{word}!" if word.endswith("7") else word
        assert (result.ok, result.answer) == (True, f"Observation: <{given}> Observation: <{given}>"), word
        assert len(result.steps) == 3
        others = [other for other in ("word1", "word500", "word998") if other != word]
        said = "\n".join((result.journal or agents[0].run(word).journal).to_lines())  # type: ignore[union-attr]
        assert not [other for other in others if f'"{other}"' in said or f"<{other}>" in said], word
