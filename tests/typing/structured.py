"""What a type checker tells a user of structure and tool loops. Checked by mypy, never executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, assert_type

from brain.messages import Message, Transcript, user
from brain.normalise import legal
from brain.policy import Policy
from brain.providers.text_tools import TextToolsProvider
from brain.structured import Plan, Route, Scale, ask_as, parse_as, read_plan, read_route
from brain.structured.judgements import DebateCritique
from brain.testing import ScriptedProvider
from brain.toolloop import ToolTalk, tool_loop
from brain.tools import Toolset
from brain.types import LLMProvider, Reply


@dataclass
class Verdict:
    passes: bool
    confidence: Annotated[float, Scale(0, 1)]


def judge(text: str) -> Policy[bool]:
    verdict = yield from ask_as(Verdict, [user(text)], phase="judge")
    assert_type(verdict, Verdict)
    assert_type(verdict.confidence, float)
    names = yield from ask_as(list[str], [user(text)])
    assert_type(names, list[str])
    return verdict.passes


def act(text: str) -> Policy[str]:
    talk = yield from tool_loop([user(text)], Toolset(), max_rounds=3)
    assert_type(talk, ToolTalk)
    assert_type(talk.reply, Reply)
    assert_type(talk.messages, Transcript)
    return talk.problem


assert_type(ask_as(Verdict, [user("q")]), Policy[Verdict])
assert_type(parse_as(Verdict, "{}"), Verdict)
assert_type(parse_as(DebateCritique, "{}").severity, float)
assert_type(read_route("x", ["a"]), Route)
assert_type(read_plan("x"), Plan)
assert_type(legal([user("q")]), list[Message])
provider: LLMProvider = TextToolsProvider(ScriptedProvider(["x"]))
