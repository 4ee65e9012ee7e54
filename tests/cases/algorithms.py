"""Rows about runs of Plan-and-Execute: what a failed step means for the plan and for the answer."""

from __future__ import annotations

import json
from typing import Any

from brain.patterns import PlanAndExecute
from brain.policy import Note
from brain.testing import ScriptedProvider


def plan_run(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    results = iter(given["step_results"])
    left = list(given["plan"]) if isinstance(given["plan"], list) else []

    def execute(step: str) -> Any:
        del left[:1]
        result = next(results)
        if "raises" in result:
            name, _, message = result["raises"].partition("(")
            raise type(name, (Exception,), {})(message.removesuffix(")"))
        return result.get("returns")

    def model(messages: Any, **_: Any) -> str:
        text = str(messages[-1]["content"])
        if "Lay out a plan" in text:
            return given["plan"] if isinstance(given["plan"], str) else json.dumps({"steps": given["plan"]})
        if "list the steps that are still needed" in text:
            return json.dumps({"steps": left})
        return str(given.get("answer", "ANSWER"))

    provider = ScriptedProvider(model)
    result = PlanAndExecute(execute, provider).run(given.get("task", "task"))
    notes = [entry.action for entry in result.journal or () if isinstance(entry.action, Note)]
    final = str(provider.requests[-1].messages[-1]["content"])
    got = {
        "ok": result.ok,
        "answer": result.answer,
        "answer_nonempty": bool(result.answer.strip()),
        "flagged_failed_steps": sum(each.kind == "step failed" for each in notes),
        "model_calls": len(provider.requests),
        "tool_calls": result.report.tool_calls,
    }
    problems = []
    for key, value in expected.items():
        if key == "final_prompt_contains":
            problems += [f"the final prompt lacks {each!r}: {final}" for each in value if each not in final]
        elif key == "final_prompt_not_contains":
            problems += [f"the final prompt has {each!r}: {final}" for each in value if each in final]
        elif key == "error_contains":
            problems += [f"error {result.error!r} lacks {each!r}" for each in value if each not in (result.error or "")]
        elif key not in got:
            problems.append(f"this checker does not know {key!r}")
        elif got[key] != value:
            problems.append(f"{key}: expected {value!r}, got {got[key]!r}")
    return problems


CHECKERS = {"plan_run": plan_run}
