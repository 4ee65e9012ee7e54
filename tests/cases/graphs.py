"""Rows about conversations made shorter, and about runs of Debate and Research."""

from __future__ import annotations

import builtins
import json
from itertools import pairwise
from typing import Any

from brain.compact import compact
from brain.ledger import ContextCompaction, Ledger
from brain.messages import Message
from brain.normalise import flat
from brain.patterns import Debate, Research
from brain.patterns.react import parse
from brain.testing import ScriptedProvider
from brain.types import Observation, PatternResult


def compaction(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    if "facts" in given:
        return _facts(given, expected)
    limits = {key: given[key] for key in ("keep_last", "max_chars") if key in given}
    before = json.dumps(given["messages"])
    messages = compact(given["messages"], **limits)
    problems = [] if json.dumps(given["messages"]) == before else ["the given messages were changed"]
    said = "\n".join(flat(each.get("content")) for each in messages)
    roles = [each["role"] for each in messages]
    got: dict[str, Any] = {
        "unchanged": messages == given["messages"],
        "roles": roles,
        "count": len(messages),
        "truncation_marked": "[cut: " in said or "are left out here]" in said,
        "no_consecutive_same_role": not any(a == b != "tool" for a, b in pairwise(roles)),
        "react_pairs_intact": _pairs_intact(messages),
        "tool_pairs_intact": _results_of_calls(messages),
        "system_kept": [m for m in given["messages"] if m["role"] == "system"]
        == [m for m in messages if m["role"] == "system"],
        "last_kept": messages[-1:] == given["messages"][-1:],
    }
    got["tool_calls_answered"] = got["tool_pairs_intact"]
    for key, wanted in expected.items():
        if key in ("contains_all", "contains"):
            problems += [f"{text!r} is lost" for text in wanted if text not in said]
        elif key == "not_contains":
            problems += [f"{text!r} is still there" for text in wanted if text in said]
        elif key == "total_chars_max":
            size = sum(len(flat(each.get("content"))) for each in messages)
            problems += [] if size <= wanted else [f"{size} characters, expected at most {wanted}"]
        elif key in ("count_max", "messages_max"):
            problems += [] if len(messages) <= wanted else [f"{len(messages)} messages, expected at most {wanted}"]
        elif key in got:
            problems += [] if got[key] == wanted else [f"{key}: expected {wanted!r}, got {got[key]!r}: {messages}"]
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def _facts(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    ledger = Ledger(ContextCompaction())
    for tool, argument, result in given["facts"]:
        ledger.record(tool, argument, Observation(str(result)))
    wanted = {"ledger_entries": len(ledger.facts)}
    return [
        f"{key}: expected {value!r}, got {wanted.get(key)!r}"
        for key, value in expected.items()
        if wanted.get(key) != value
    ]


def _pairs_intact(messages: list[Message]) -> bool:
    """Whether each action is followed by its observation, and each observation follows an action."""
    for before, after in pairwise([{"role": ""}, *messages, {"role": ""}]):
        acts = before["role"] == "assistant" and parse(flat(before.get("content")), []).action is not None
        observes = after["role"] == "user" and flat(after.get("content")).startswith("Observation")
        if acts != observes:
            return False
    return True


def _results_of_calls(messages: list[Message]) -> bool:
    made = [call["id"] for each in messages for call in each.get("tool_calls") or ()]
    answered = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    return made == answered


def debate_run(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    critics = given.get("critic_replies") or [
        json.dumps({"severity": each, "weaknesses": [], "improvements": []})
        for each in given.get("critic_severities", ())
    ]
    stages = {
        "proposer": given.get("proposer_replies", ["proposal"]),
        "critic": critics,
        "judge": given.get("judge_replies", ['{"passes": true, "issues": []}']),
        "answer": given.get("answer_replies", ["ANSWER"]),
    }
    marks = {"critic": '- "severity":', "judge": '- "passes":', "answer": "Write the final answer"}
    limits = {key: given[key] for key in ("max_rounds", "max_proposer_steps") if key in given}
    result, counts = _run(lambda model: Debate(provider=model, **limits), stages, marks, "proposer", given)
    problems = []
    for key, wanted in dict(expected).items():
        if key == "never" and "treated_as_severity" in wanted:
            # A critique that cannot be read may not count as harmless: it goes back, or the run fails.
            revised = "proposer" in result.path[result.path.index("critic") :] if "critic" in result.path else False
            problems += [] if revised or not result.ok else [f"the debate went on: {result.path}"]
            expected = {each: value for each, value in expected.items() if each != key}
    return problems + _compared(result, counts, expected)


def research_run(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    stages = {
        "search": given.get("search_replies", ["findings"]),
        "verify": given.get("verify_replies", ['{"passes": true, "issues": []}']),
        "synthesize": given.get("synthesize_replies", ["ANSWER"]),
    }
    marks = {"verify": '- "passes":', "synthesize": "Write the final answer"}
    limits = {key: given[key] for key in ("max_verify_rounds", "max_search_steps", "verify") if key in given}
    result, counts = _run(lambda model: Research(provider=model, **limits), stages, marks, "search", given)
    return _compared(result, counts, expected)


def _run(
    make: Any, stages: dict[str, Any], marks: dict[str, str], other: str, given: Any
) -> tuple[PatternResult, dict[str, int]]:
    """Run a pattern on a model whose stages have scripts of their own; the last line of each is said again."""
    counts = dict.fromkeys(stages, 0)

    def model(messages: Any, **_: Any) -> Any:
        last = str(messages[-1]["content"])
        stage = next((name for name, mark in marks.items() if mark in last), other)
        replies = stages[stage]
        counts[stage] += 1
        return _said(replies[min(counts[stage], len(replies)) - 1])

    return make(ScriptedProvider(model)).run(given.get("task", "TASK")), counts


def _said(reply: Any) -> Any:
    if not isinstance(reply, dict) or "error" not in reply:
        return reply if isinstance(reply, str) else json.dumps(reply)
    name, _, rest = reply["error"].partition("(")
    kind = getattr(builtins, name, None) or type(name, (Exception,), {})
    return kind(rest.rstrip(")").strip("'\""))


def _compared(result: PatternResult, counts: dict[str, int], expected: dict[str, Any]) -> list[str]:
    problems = []
    for key, wanted in expected.items():
        if key == "ok":
            problems += [] if result.ok == wanted else [f"ok is {result.ok}: {result.error}"]
        elif key == "answer":
            problems += [] if result.answer.strip() == wanted.strip() else [f"the answer is {result.answer!r}"]
        elif key == "answer_nonempty":
            problems += [] if bool(result.answer.strip() and result.ok) == wanted else [f"answer {result.answer!r}"]
        elif key == "path":
            problems += [] if result.path == wanted else [f"the path is {result.path}"]
        elif key in ("error_contains", "error_any"):
            held = [text in (result.error or "") for text in wanted]
            problems += [] if (all if key == "error_contains" else any)(held) else [f"the error is {result.error!r}"]
        elif key.endswith("_calls_max") and key.removesuffix("_calls_max") in counts:
            count = counts[key.removesuffix("_calls_max")]
            problems += [] if count <= wanted else [f"{count} {key}"]
        elif key.endswith("_calls") and key.removesuffix("_calls") in counts:
            count = counts[key.removesuffix("_calls")]
            problems += [] if count == wanted else [f"{count} {key}"]
        elif key in ("model_calls", "model_calls_max"):
            count = sum(counts.values())
            problems += [] if count == wanted or (key == "model_calls_max" and count < wanted) else [f"{count} {key}"]
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


CHECKERS = {"compaction": compaction, "debate_run": debate_run, "research_run": research_run}
