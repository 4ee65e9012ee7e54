"""Cases of message lists as they go out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from brain.normalise import legal


def messages_normalise(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    messages = legal(given["messages"])
    roles = [each["role"] for each in messages]
    contents = [each.get("content") for each in messages]
    said = "\n".join(str(each) for each in messages)
    calls = [call["id"] for each in messages for call in each.get("tool_calls", ())]
    holds = {
        "system_only_first": "system" not in roles[1:],
        "no_consecutive_same_role": not any(
            role == following and role != "tool" for role, following in pairwise(roles)
        ),
        "no_empty_content": all(
            each.get("tool_calls") or (isinstance(each["content"], str) and each["content"].strip())
            for each in messages
        ),
        "all_content_str_or_null": all(content is None or isinstance(content, str) for content in contents),
        "keeps_tool_calls": bool(calls)
        and all(any(each.get("tool_call_id") == call for each in messages) for call in calls),
    }
    problems = []
    for key, wanted in expected.items():
        if key in holds:
            problems += [] if holds[key] == wanted else [f"{key} is {holds[key]}: {messages}"]
        elif key == "count":
            problems += [] if len(messages) == wanted else [f"{len(messages)} messages, expected {wanted}: {messages}"]
        elif key == "contains_all":
            problems += [f"{text!r} is lost: {messages}" for text in wanted if text not in said]
        elif key == "not_contains":
            problems += [f"{text!r} is still there: {messages}" for text in wanted if text in said]
        elif key == "roles":
            problems += [] if roles == wanted else [f"roles {roles}, expected {wanted}"]
        else:
            problems.append(f"no such check: {key}")
    return problems


CHECKERS = {"messages_normalise": messages_normalise}
