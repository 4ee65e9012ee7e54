"""Cases of traces: what a run leaves behind can be written, holds no secrets, and survives what happens to the run."""

from __future__ import annotations

import ast
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

from brain.patterns import ReActAgent
from brain.providers import ChatCompletionsProvider
from brain.runtime import Journal, read_journal
from brain.testing import ScriptedProvider
from brain.trace import as_text, step_line, to_dict
from brain.types import PatternResult
from tests.providers.server import FakeServer


def trace(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    if "step_values" in given:
        return _values([_value(each) for each in given["step_values"]], expected)
    if "tool_args" in given:
        return _secrets(given["tool_args"], expected)
    if "error_text" in given:
        return _error(given["error_text"], expected)
    if "sink" in given:
        return _sink(given["sink"], expected)
    if "run" in given:
        return _stopped(given["run"], expected)
    return [f"no such scenario: {sorted(given)}"]


def _value(source: str) -> Any:
    """Read a Python literal; floats that have no literal are written as calls."""
    if source.startswith("float("):
        return float(ast.literal_eval(source[6:-1]))
    return ast.literal_eval(source)


def _run(value: Any, path: Path, tool_input: str = "x") -> PatternResult:
    lines = [f"Thought: t\nAction: look\nAction Input: {tool_input}", "Final Answer: done"]
    return ReActAgent({"look": lambda text: value}, ScriptedProvider(lines)).run("t", journal=path)


def _written(result: PatternResult, path: Path) -> dict[str, str]:
    """Return all that a run leaves behind, as text."""
    return {
        "trace": json.dumps(to_dict(result), allow_nan=False),
        "text": as_text(result),
        "lines": "\n".join(step_line(step) for step in result.steps),
        "file": path.read_text(encoding="utf-8"),
    }


def _values(values: list[Any], expected: dict[str, Any]) -> list[str]:
    problems = []
    for value in values:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.jsonl"
            result = _run(value, path)
            written = _written(result, path)  # strict JSON, or this raises
            for line in written["file"].splitlines():
                json.loads(line, parse_constant=lambda name: problems.append(f"{name} in the file"))
            json.loads(written["trace"], parse_constant=lambda name: problems.append(f"{name} in the trace"))
            (Path(folder) / "trace.json").write_text(written["trace"], encoding="utf-8")
            seen = [entry.outcome.value for entry in read_journal(path) if hasattr(entry.outcome, "value")]  # type: ignore[union-attr]
            if repr(seen) != repr([value]):
                problems.append(f"{value!r} came back from the journal as {seen!r}")
    known = {"json_dumps_ok", "strict_json", "utf8_file_ok"}
    return problems + [f"no such check: {key}" for key in expected if key not in known]


def _secrets(arguments: Any, expected: dict[str, Any]) -> list[str]:
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        result = _run(arguments, path, json.dumps(arguments))
        for place, said in _written(result, path).items():
            problems += [f"{text!r} is in the {place}" for text in expected.get("not_contains", ()) if text in said]
            problems += [
                f"{text!r} is not in the {place}"
                for text in expected.get("contains", ())
                if text not in said and place != "lines"  # a line shows the beginning of a step
            ]
    return problems


def _error(text: str, expected: dict[str, Any]) -> list[str]:
    """A server that repeats the key it was sent, asked by a provider that has it."""
    secrets = expected["not_contains"]
    with FakeServer([{"status": 401, "body": {"error": {"message": text}}}]) as server:
        result = ReActAgent(provider=ChatCompletionsProvider(server.url, "m", secrets[0])).run("t")
    journal = result.journal or Journal()
    said = json.dumps(to_dict(result)) + as_text(result) + "\n".join(journal.to_lines()) + repr(result.exception)
    return [f"{secret!r} is in what the run leaves" for secret in secrets if secret in said] + (
        [] if not result.ok else ["the run did not fail"]
    )


def _sink(kind: str, expected: dict[str, Any]) -> list[str]:
    def sink(event: Any) -> None:
        raise RuntimeError(kind)

    agent = ReActAgent({"look": str.upper}, ScriptedProvider(["Action: look\nAction Input: x", "Final Answer: done"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = agent.run("t", on_event=sink)
    got = {"run_ok": result.ok and result.answer == "done", "warning": len(caught) == 1}
    return [f"{key} is {got.get(key)}" for key, value in expected.items() if got.get(key) != value]


def _stopped(scenario: str, expected: dict[str, Any]) -> list[str]:
    if "KeyboardInterrupt" not in scenario or "step 2" not in scenario:
        return [f"no such scenario: {scenario}"]

    def look(text: str) -> str:
        if text == "2":
            raise KeyboardInterrupt
        return "saw"

    lines = [f"Action: look\nAction Input: {number}" for number in (1, 2)]
    try:
        ReActAgent({"look": look}, ScriptedProvider(lines)).run("t")
    except KeyboardInterrupt as stop:
        got: Any = {"raises": "KeyboardInterrupt"}
        partial: Any = stop.partial_result  # type: ignore[attr-defined]
        got["steps_available"] = sum(step.action is not None and bool(step.observation) for step in partial.steps)
    return [
        f"{key} is {got.get(key)!r}, expected {value!r}" for key, value in expected.items() if got.get(key) != value
    ]


CHECKERS = {"trace": trace}
