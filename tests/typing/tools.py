"""What a type checker tells a user of tools. Checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

from brain.schema import fit, json_schema
from brain.tools import Tool, Toolset, tool
from brain.types import Observation


@tool
def search(query: str) -> str:
    return query


@tool(name="lookup", timeout=3, max_result_chars=2_000)
def look_up(word: str) -> str:
    return word


assert_type(search, Tool)
assert_type(look_up, Tool)
assert_type(tool(len, name="length", idempotent=True), Tool)
assert_type(tool(timeout=3), Callable[[Callable[..., Any]], Tool])
assert_type(search.schema, dict[str, Any])
assert_type(json_schema(list[int]), dict[str, Any])

tools = Toolset([search, look_up])
assert_type(Toolset({"a": len})["a"], Tool)
assert_type(tools.call("search", "words"), Observation)
assert_type(tools.call_raw("search", "{}"), Observation)
number: int = fit(int, "3")

tool(search, timeout="3")  # type: ignore[call-overload]
tool(retries=3)  # type: ignore[call-overload]
Toolset(5)  # type: ignore[arg-type]
