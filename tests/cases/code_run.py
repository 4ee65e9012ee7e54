"""Rows about programs that models write: what they print, how they fail, that the host lives."""

from __future__ import annotations

import builtins
import time
from typing import Any

import brain.sandbox
from brain.sandbox import ProgramReport, SubprocessSandbox

KNOWN = {
    "stdout_contains", "stdout_not_contains", "stdout_max_chars", "error", "error_any", "error_contains", "max_seconds",
    "limits", "tool_calls", "tool_calls_max", "never", "second_program", "second_stdout_contains", "no_crash",
    "host_alive", "ok", "answer", "value", "documented",
}  # fmt: skip


def code_run(given: Any, expected: dict[str, Any]) -> list[str]:
    limits = {**given.get("limits", {}), **expected.get("limits", {})}
    options: dict[str, Any] = {"timeout": limits.get("seconds", limits.get("timeout", 20))}
    if "max_tool_calls" in limits:
        options["max_tool_calls"] = limits["max_tool_calls"]
    memory = limits.get("memory_mb")
    executor = SubprocessSandbox(**({"memory": memory << 20} if memory else {}))
    made: list[str] = []
    tools = {name: _tool(name, does, made) for name, does in given.get("tools", {}).items()}

    started = time.monotonic()
    report = executor.run(given["program"], tools, **options)
    seconds = time.monotonic() - started
    calls = len(made)
    problems = [f"this checker does not know {key!r}" for key in expected.keys() - KNOWN]
    error = report.error or ""
    for key, value in expected.items():
        if key == "stdout_contains":
            problems += _missing(key, value, report.stdout)
        elif key == "stdout_not_contains":
            problems += [f"stdout contains {each!r}" for each in _list(value) if each in report.output]
        elif key == "stdout_max_chars":
            problems += _unless(len(report.stdout) <= value, key, value, len(report.stdout))
        elif key == "error":
            problems += _unless((not report.ok) is bool(value), key, value, report)
        elif key == "ok":
            problems += _unless(report.ok is value, key, value, report)
        elif key == "error_any":
            problems += _unless(
                not report.ok and any(each.lower() in error.lower() for each in value), key, value, error
            )
        elif key == "error_contains":
            problems += _missing(key, value, error)
        elif key == "max_seconds":
            problems += _unless(seconds <= value, key, value, seconds)
        elif key in ("tool_calls", "tool_calls_max"):
            fits = calls <= value if key == "tool_calls_max" else calls == value == report.tool_calls
            problems += _unless(fits, key, value, (calls, report.tool_calls))
        elif key == "never":
            answers = {report.answer, report.stdout.strip()} if report.ok else set()
            problems += _unless(value["ok_with_answer"] not in answers, key, value, report)
        elif key in ("answer", "value"):
            problems += _unless(report.answer == value, key, value, report.answer)
        elif key == "second_program":
            second = executor.run(value, tools, **options)
            problems += _missing("second_stdout_contains", expected.get("second_stdout_contains", []), second.stdout)
        elif key == "documented":
            problems += _documented(report)
        elif key == "host_alive":
            problems += _unless(value is True, key, value, True)  # this line is reached
    return problems


def _documented(report: ProgramReport) -> list[str]:
    """The language is no boundary, and the documentation says so; the guarantees are the kernel's."""
    says = "no boundary" in (brain.sandbox.__doc__ or "")
    return [] if says and all(report.guarantees.values()) else ["not documented, or a guarantee is missing"]


def _tool(name: str, does: Any, made: list[str]) -> Any:
    """Make a tool of ``returns EXPRESSION`` (of q) or ``raises ERROR(TEXT)``."""
    verb, _, rest = (does if isinstance(does, str) else " ".join(map(str, *does.items()))).partition(" ")

    def tool(q: Any = "") -> Any:
        made.append(name)
        if verb == "raises":
            raise eval(rest if "(" in rest else rest + "()", vars(builtins))
        return eval(rest, {"q": q})

    return tool


def _missing(key: str, wanted: Any, text: str) -> list[str]:
    return [f"{key}: {each!r} is missing in {text!r}" for each in _list(wanted) if each not in text]


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _unless(holds: bool, key: str, expected: Any, got: Any) -> list[str]:
    return [] if holds else [f"{key}: expected {expected!r}, got {got!r}"]


CHECKERS = {"code_run": code_run}
