"""Rows about the text protocol of ReAct and runs of ``ReActAgent``."""

from __future__ import annotations

import builtins
import json
import threading
from typing import Any

from brain.patterns import ReActAgent
from brain.patterns.react import parse
from brain.testing import ScriptedProvider
from brain.types import PatternResult, Reply, Usage


def react_parse(given: Any, expected: dict[str, Any]) -> list[str]:
    said = parse(given["reply"], given["tools"])
    outcome = "final" if said.outcome == "plain" else said.outcome
    got: dict[str, Any] = {
        "outcome": outcome,
        "thought": said.thought,
        "action": said.action if outcome == "action" else None,
        "action_input": said.action_input if outcome == "action" else None,
        "final": said.final if outcome == "final" else None,
        "unknown_tool": outcome == "action" and said.action not in given["tools"],
    }
    problems = []
    for key, value in expected.items():
        if key in ("outcome", "unknown_tool", "thought", "action", "final"):
            problems += _unless(_trimmed(got[key]) == _trimmed(value), key, value, got[key])
        elif key == "action_input":
            if value is not None:  # null: any of the other keys says more
                problems += _unless(_trimmed(got[key]) == _trimmed(value), key, value, got[key])
        elif key == "action_input_json":
            problems += _unless(_decoded(got["action_input"]) == value, key, value, got["action_input"])
        elif key == "action_input_any":
            problems += _unless(_trimmed(got["action_input"]) in map(_trimmed, value), key, value, got["action_input"])
        elif key == "not_contains":
            for name, texts in value.items():
                problems += [f"{name} contains {text!r}" for text in texts if text in (got[name] or "")]
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def react_run(given: Any, expected: dict[str, Any]) -> list[str]:
    calls: list[list[Any]] = []
    provider = ScriptedProvider([_reply(each) for each in given["replies"]])
    options = given.get("options", {})
    unknown = set(options) - {"require_final_answer"}
    try:
        agent = ReActAgent(
            {name: _tool(name, does, calls) for name, does in given["tools"].items()},
            provider,
            max_steps=given.get("max_steps", 8),
            **{key: value for key, value in options.items() if key not in unknown},
        )
        result = agent.run(given.get("task", "task"))
    except BaseException as error:
        problems = [] if "raises" in expected else [f"raised {error!r}"]
        for key, value in expected.items():
            if key == "raises":
                kinds = {each.__name__ for each in type(error).__mro__}
                problems += _unless(value in kinds, key, value, type(error).__name__)
            elif key.startswith("model_calls"):
                problems += _counted(key, value, len(provider.requests))
        return problems

    problems = []
    sent = [json.dumps(list(each.messages), ensure_ascii=False) for each in provider.requests]
    for key, value in expected.items():
        if key == "ok":
            problems += _unless(result.ok == value, key, value, (result.ok, result.error))
        elif key == "answer":
            problems += _unless(_trimmed(result.answer) == _trimmed(value), key, value, result.answer)
        elif key.startswith("model_calls"):
            problems += _counted(key, value, len(provider.requests))
        elif key == "tool_calls":
            problems += _unless(calls == value, key, value, calls)
        elif key in ("request_contains", "request_not_contains"):
            for number, texts in value.items():
                request = sent[int(number) - 1] if int(number) <= len(sent) else ""
                wanted = key == "request_contains"
                problems += [
                    f"request {number}: {text!r} {'missing' if wanted else 'found'}"
                    for text in texts
                    if (json.dumps(text, ensure_ascii=False)[1:-1] in request) is not wanted
                ]
        elif key == "error_contains":
            problems += [f"error {result.error!r} lacks {text!r}" for text in value if text not in (result.error or "")]
        elif key == "error_any":
            problems += _unless(any(text in (result.error or "") for text in value), key, value, result.error)
        elif key == "steps":
            problems += _unless(len(result.steps) == value, key, value, len(result.steps))
        elif key == "raises":
            problems.append(f"did not raise {value}")
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def prompt_format(given: Any, expected: dict[str, Any]) -> list[str]:
    tools = given["tools"]
    names = tools if isinstance(tools, list) else list(tools)
    provider = ScriptedProvider(["Final Answer: done"])
    agent = ReActAgent(dict.fromkeys(names, _quiet), provider, system_prompt=given["system_prompt"])
    result = agent.run(given["task"])
    system, user = (message["content"] for message in provider.requests[0].messages)
    problems = []
    for key, value in expected.items():
        if key == "no_exception":
            problems += _unless(result.ok, key, value, result.error)
        elif key in ("user_contains", "system_contains"):
            text = user if key == "user_contains" else system
            problems += [f"{key}: {each!r} missing in {text!r}" for each in value if each not in text]
        elif key in ("user_not_contains", "system_not_contains"):
            text = user if key == "user_not_contains" else system
            problems += [f"{key}: {each!r} found in {text!r}" for each in value if each in text]
        elif key == "messages_recorded_in_trace":
            assert result.journal is not None
            recorded = [list(entry.action.messages) for entry in result.journal if hasattr(entry.action, "messages")]
            problems += _unless(recorded == [list(each.messages) for each in provider.requests], key, value, recorded)
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def concurrency(given: Any, expected: dict[str, Any]) -> list[str]:
    problems = []
    for key, value in expected.items():
        if key == "second_requests_not_contain":
            provider = ScriptedProvider(["Final Answer: a"] * len(given["runs"]))
            agent = ReActAgent(provider=provider)
            for task in given["runs"]:
                agent.run(task)
            problems += [f"found {text!r}" for text in value if text in str(list(provider.requests[1].messages))]
        elif key == "each_result_uses_own_word":
            problems += _threads(given["threads"])
        elif key == "no_exception":
            pass  # an exception in a thread is a problem of _threads
        elif key == "second_ok":
            agent = ReActAgent(provider=ScriptedProvider([RuntimeError("down"), "Final Answer: up"]))
            results = [agent.run("a"), agent.run("b")]
            problems += _unless([each.ok for each in results] == [False, value], key, value, results)
        elif key == "first_result_unchanged":
            agent = ReActAgent(
                {"s": str}, ScriptedProvider(["Action: s\nAction Input: 1", "Final Answer: a", "Final Answer: b"])
            )
            first = agent.run("a")
            before = repr(first) + repr(first.journal)
            agent.run("b")
            problems += _unless(repr(first) + repr(first.journal) == before, key, before, repr(first))
        else:
            problems.append(f"this checker does not know {key!r}")
    return problems


def _threads(count: int) -> list[str]:
    """One agent, many threads: each run's tool must see, and each answer must hold, its own word only."""

    def model(messages: Any, **_: Any) -> str:
        word = messages[1]["content"]
        if len(messages) == 2:
            return f"Thought: {word}\nAction: echo\nAction Input: {word}"
        return f"Final Answer: {word} {messages[-1]['content']}"

    agent = ReActAgent({"echo": lambda text: f"heard {text}"}, ScriptedProvider(model))
    results: dict[str, PatternResult | BaseException] = {}
    start = threading.Barrier(count)

    def work(word: str) -> None:
        try:
            start.wait()
            for _ in range(20):
                results[word] = result = agent.run(word)
                if result.answer != f"{word} Observation: heard {word}" or result.steps[0].action_input != word:
                    return
        except BaseException as error:
            results[word] = error

    threads = [threading.Thread(target=work, args=(f"word{number}",)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [
        f"{word}: {result!r}"
        for word, result in results.items()
        if not isinstance(result, PatternResult) or result.answer != f"{word} Observation: heard {word}"
    ]


def _reply(said: Any) -> Any:
    if isinstance(said, str):
        return said
    if "error" in said:
        name, _, rest = said["error"].partition("(")
        kind = getattr(builtins, name, None) or type(name, (Exception,), {})
        return kind(rest.rstrip(")").strip("'\""))
    usage = said.get("usage")
    tokens = Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)) if usage else None
    return Reply(said.get("text") or "", usage=tokens, finish_reason=said.get("finish_reason"))


def _tool(name: str, does: dict[str, Any], calls: list[list[Any]]) -> Any:
    sequence = iter(does.get("returns_seq", ()))

    def tool(text: str) -> Any:
        calls.append([name, text])
        if "raises" in does:
            raised, _, rest = does["raises"].partition("(")
            raise getattr(builtins, raised)(*([rest.rstrip(")").strip("'\"")] if rest.strip(")") else []))
        return next(sequence) if "returns_seq" in does else does.get("returns")

    return tool


def _quiet(text: str) -> str:
    return text


def _counted(key: str, value: Any, count: int) -> list[str]:
    held = {
        "model_calls": lambda: count == value,
        "model_calls_max": lambda: count <= value,
        "model_calls_any": lambda: count in value,
    }[key]()
    return _unless(held, key, value, count)


def _decoded(text: Any) -> Any:
    try:
        return json.loads(text, strict=False)
    except (TypeError, ValueError):
        return None


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _unless(holds: bool, key: str, expected: Any, got: Any) -> list[str]:
    return [] if holds else [f"{key}: expected {expected!r}, got {got!r}"]


CHECKERS = {
    "react_parse": react_parse,
    "react_run": react_run,
    "prompt_format": prompt_format,
    "concurrency": concurrency,
}
