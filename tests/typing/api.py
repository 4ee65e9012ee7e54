"""What a type checker tells a user. Checked by mypy, never executed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

from brain import Hook, Journal, PatternResult, ReActAgent, Step
from brain.messages import user
from brain.policy import Finish, Policy, act, ask, delegate, together
from brain.runtime import Event, Run
from brain.testing import ScriptedProvider, Talk, play, says
from brain.types import LLMProvider, Observation, Reply


def search(query: str) -> str:
    return query


agent = ReActAgent({"search": search}, max_steps=3)
result = agent.run("task")
assert_type(result, PatternResult)
assert_type(result.answer, str)
assert_type(result.steps, list[Step])
assert_type(result.ok, bool)
assert_type(result.error, str | None)
assert_type(result.raise_for_error(), PatternResult)
assert_type(result.journal, Journal | None)
assert_type(agent.stream("task"), Iterator[Event])
assert_type(agent.iter("task"), Iterator[Step])
assert_type(play(agent, "task", [says("x")]), Talk)

provider: LLMProvider = ScriptedProvider(["x"])
hook: Hook = Hook()


def number(text: str) -> Policy[int]:
    reply = yield from ask([user(text)])
    assert_type(reply, Reply)
    return len(reply.text)


def policy() -> Policy[Finish]:
    observation = yield from act("search", "x")
    assert_type(observation, Observation)
    one = yield from number("a")
    assert_type(one, int)
    two = yield from delegate("other", number("b"))
    assert_type(two, int)
    many = yield from together(number("c"), number("d"))
    assert_type(many, list[int])
    return Finish(str(one + two + sum(many)))


run = Run(policy())
