"""ReActAgent is the published loop: equal to a plain one on random conversations."""

from __future__ import annotations

import random
from typing import Any

import pytest

from brain.patterns import ReActAgent
from brain.testing import ScriptedProvider
from tests.reference import plain_react

WORDS = [
    "tide",
    "moon",
    "7",
    "42 km",
    "{x}",
    "%s",
    "Paris, France",
    "où ?",
    "a: b",
    "0.5",
    "it's",
    'say "hi"',
    "#1",
    "\\n",
]


class _Flaky(Exception):
    pass


def _reply(dice: random.Random, tools: list[str]) -> Any:
    words = " ".join(dice.choices(WORDS, k=dice.randint(1, 5)))
    thought = f"Thought: {' '.join(dice.choices(WORDS, k=3))}\n" if dice.random() < 0.8 else ""
    name = dice.choice([*tools, "teleport", "nothing like it"])
    kind = dice.choices(["act", "bare act", "final", "plain", "failure", "long"], [10, 2, 2, 1, 1, 2])[0]
    if kind == "act":
        return f"{thought}Action: {name}\nAction Input: {words}"
    if kind == "bare act":
        return f"  {thought}Action: {name}\n "
    if kind == "final":
        return f"{thought}Final Answer: {words}\n"
    if kind == "plain":
        return f"{words} and that is all."
    if kind == "long":
        return f"{thought}Action: {name}\nAction Input: {words}\nsecond line\n\n  third {words}"
    return _Flaky(f"down: {words}")


@pytest.mark.parametrize("block", range(10))
def test_react_equals_the_plain_loop_on_random_conversations(block: int) -> None:
    """Same requests, answer, ok, steps and counts, 50 conversations a block, provider failures included."""
    for seed in range(block * 50, block * 50 + 50):
        dice = random.Random(seed)
        names = dice.sample(["search", "calculator", "look up", "天气"], k=dice.randint(0, 3))
        script = [_reply(dice, names) for _ in range(12)]
        max_steps = dice.randint(1, 8)
        prompt = dice.choice([plain_react.SYSTEM_PROMPT, "No braces.", "{date} {tool_names} {0} {}"])
        results = dice.choices(["found", "", "Final Answer: no", "Thought: x\nAction: search", "é{}%"], k=20)

        def tools(results: list[str] = results, names: list[str] = names) -> dict[str, Any]:
            left = iter(results)

            def tool(text: str) -> str:
                if "7" in text:
                    raise ValueError(f"cannot: {text}")
                return next(left)

            return dict.fromkeys(names, tool)

        plain = plain_react.run(tools(), _player(script), "the task {tool_names}", max_steps, prompt)
        model = ScriptedProvider(script)
        result = ReActAgent(tools(), model, max_steps, prompt).run("the task {tool_names}")

        assert [list(request.messages) for request in model.requests] == plain.requests, f"seed {seed}"
        assert (result.answer, result.ok, result.iterations) == (plain.answer, plain.ok, plain.iterations), (
            f"seed {seed}"
        )
        # A failure of the world is also placed: which pattern, which call, which type.
        assert result.error == plain.error or (result.error or "").endswith(f"_Flaky: {plain.error}"), f"seed {seed}"
        steps = [(s.index, s.thought, s.action, s.action_input, s.text, s.observation) for s in result.steps]
        wanted = [(s.index, s.thought, s.action, s.action_input, s.text, s.observation) for s in plain.steps]
        assert steps == wanted, f"seed {seed}"


def _player(script: list[Any]) -> Any:
    lines = iter(script)

    def generate(_: Any) -> str:
        line = next(lines)
        if isinstance(line, Exception):
            raise line
        return str(line)

    return generate


def test_the_random_conversations_are_of_all_kinds() -> None:
    """The conversations above reach failures, unknown tools, raising tools, plain answers and the limit."""
    seen = set()
    for seed in range(500):
        dice = random.Random(seed)
        names = dice.sample(["search", "calculator", "look up", "天气"], k=dice.randint(0, 3))
        script = [_reply(dice, names) for _ in range(12)]
        max_steps = dice.randint(1, 8)
        plain = plain_react.run(dict.fromkeys(names, len), _player(script), "t", max_steps, "p")
        seen.add("ok" if plain.ok else plain.error.split(":")[0] if plain.error else "")
        seen |= {step.observation.split(" ")[0] for step in plain.steps if step.observation}
    assert {"ok", "down", "max_steps reached without Final Answer", "Unknown"} <= seen
