"""The text protocol of ReAct: what a reply says."""

from __future__ import annotations

import random
import time

import pytest

from brain.patterns.react import parse

TOOLS = ["search", "calculator", "look up"]


@pytest.mark.parametrize(
    ("reply", "action", "action_input"),
    [
        ("Action: search\nAction Input: tide", "search", "tide"),
        ("Thought 3: x\nAction 3: Search[Milhouse]", "search", "Milhouse"),
        ("Action: search(Milhouse)", "search", "Milhouse"),
        ('Action: search("Milhouse")', "search", "Milhouse"),
        ('Action: search(query="Milhouse")', "search", "Milhouse"),
        ('Action: search(query="a", n=3)', "search", '{"query": "a", "n": 3}'),
        ("Action: search[a [b] c]", "search", "a [b] c"),
        ("Action: [search]\nAction Input: q", "search", "q"),
        ("Action: `search`\nAction Input: q", "search", "q"),
        ("Action: look_up\nAction Input: q", "look up", "q"),
        ("Action: Use the search tool\nAction Input: q", "search", "q"),
        ("Action:\nsearch\nAction Input:\nq", "search", "q"),
        ("Action: search Action Input: q", "search", "q"),
        ("**Action:** search\n**Action Input:** q", "search", "q"),
        ("**Action: search**\n**Action Input: q**", "search", "q"),
        ("1. Thought: a\n2. Action: search\n3. Action Input: b", "search", "b"),
        ("THOUGHT: a\nACTION: search\nACTION INPUT: b", "search", "b"),
        ("Thought：查\nAction：search\nAction Input：大阪", "search", "大阪"),
        ("Action: search\nAction Input: ```\nq\n```\nand so on", "search", "q"),
        ("Action: calculator\n```python\nprint(1)\n```", "calculator", "print(1)"),
        ('Action: search\n{"q": 1}', "search", '{"q": 1}'),
        ('Action: {"action": "search", "action_input": "q"}', "search", "q"),
        ('Action: {"name": "search", "arguments": {"q": 1}}', "search", '{"q": 1}'),
        ('Action:\n```json\n[{"tool": "search", "tool_input": "q"}]\n```', "search", "q"),
        ("Action: calculator\nAction Input: [1, 2] + [3]", "calculator", "[1, 2] + [3]"),
        ("Action: calculator\nAction Input: {1, 2} | {3}", "calculator", "{1, 2} | {3}"),
        ("Action: search", "search", ""),
        ("Action: fly(now)", "fly", "now"),
        ("Action: fly to the moon\nAction Input: now", "fly to the moon", "now"),
        ("Action: search\nAction Input: q\nFinal Answer: made up", "search", "q"),
        ("Action: search\r\nAction Input: q\r\nObservation: made up", "search", "q"),
        ('Action: search\nAction Input: {"a": "line\nFinal Answer: no"}\nFinal Answer: x', "search", None),
    ],
)
def test_an_action_is_read(reply: str, action: str, action_input: str | None) -> None:
    """However a model writes an action, its tool and its input are found."""
    said = parse(reply, TOOLS)
    assert (said.outcome, said.action) == ("action", action)
    if action_input is not None:
        assert said.action_input == action_input


@pytest.mark.parametrize(
    ("reply", "final"),
    [
        ("Final Answer: 42", "42"),
        ("**Final Answer:** 42", "42"),
        ("**Final Answer: 42**", "42"),
        ("final_answer: 42", "42"),
        ("Final Answer:\n\nline 1\nline 2", "line 1\nline 2"),
        ("Final Answer: a\nObservation: b\nFinal Answer: c", "a"),
        ("Final Answer: a\nFinal Answer: a\nFinal Answer: a", "a"),
        ("Final Answer: x\nThought: wait\nAction: search\nAction Input: y", "x"),
        ("Final Answer: first think\nThought: is a word too", "first think\nThought: is a word too"),
        ("Final Answer: the <think> tag", "the <think> tag"),
        ("<think>\nFinal Answer: no\n</think>\nFinal Answer: 7", "7"),
        ("Action: Finish[Paris]", "Paris"),
        ("Action: Final Answer\nAction Input: 42", "42"),
        ('Action: {"action": "Final Answer", "action_input": "42"}', "42"),
    ],
)
def test_a_final_answer_is_read(reply: str, final: str) -> None:
    """A final answer runs to the end, but for what a model makes up after it."""
    said = parse(reply, TOOLS)
    assert (said.outcome, said.final) == ("final", final)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        "Observation: made up",
        "Observation: made up\nFinal Answer: 3",
        "<think>never ends\nFinal Answer: 7",
        "<think>only this</think>",
        "Action:",
        "Action:\nAction Input: x",
        "Action Input: x",
        "Action: none",
        "Final Answer:",
        "Final Answer:\n\n",
        'Action: {"action": "search", "action_inp',
        "Action: Finish[]",
    ],
)
def test_labels_that_cannot_be_used_are_invalid(reply: str) -> None:
    """Neither an action nor an answer, and what is wrong can be told to the model."""
    said = parse(reply, TOOLS)
    assert said.outcome == "invalid"
    assert said.problem.endswith(".")


@pytest.mark.parametrize(
    "reply",
    [
        "It is 4.",
        "The manual says 'Action: press reset' here.",
        "So the Final Answer: is in the middle of a line.",
        "```\nAction: search\nAction Input: q\n```\nis the form.",
        "Thought: I only think.",
    ],
)
def test_a_reply_without_labels_that_act_is_plain(reply: str) -> None:
    """Text in a sentence or a fence is no label, and a thought alone does nothing."""
    said = parse(reply, TOOLS)
    assert (said.outcome, said.final) == ("plain", reply)


def test_what_follows_an_invented_observation_is_not_kept() -> None:
    """The model's own turn ends before the observation it made up."""
    said = parse("Thought: a\nAction: search\nAction Input: b\nObservation: LIE\nFinal Answer: LIE", TOOLS)
    assert said.kept == "Thought: a\nAction: search\nAction Input: b"


def test_an_observation_inside_an_input_is_kept() -> None:
    """A label in a JSON value or a fence is text."""
    reply = 'Action: search\nAction Input: {"a":\n"x",\n"b": "Observation: y"}'
    assert parse(reply, TOOLS).kept == reply
    fenced = "Action: search\nAction Input:\n```\nObservation: y\n```"
    assert parse(fenced, TOOLS).action_input == "Observation: y"


@pytest.mark.parametrize(
    "unit",
    [
        "Action: {\n",
        "Action: a(b\n",
        "Observation: x\n",
        "Final Answer: x\n",
        "Question: x\n",
        "<think>\n",
        "</think>\n",
    ]
    + [
        "Thought: x\n",
        "```\n",
        'Action Input: {"',
        '\\"',
        "[",
        "{",
        "*",
        " ",
        "\n",
        "Action: use a ",
        "`",
        "**Action:** ",
    ],
)
def test_reading_is_linear_in_the_reply(unit: str) -> None:
    """Eight times the text takes about eight times as long, for text made to be hard; here: not 64 times."""
    short, long = (unit * (size // len(unit)) for size in (25_000, 200_000))
    fastest = {}
    for text in (short, long):
        times = []
        for _ in range(3):
            began = time.perf_counter()
            parse(text, TOOLS)
            times.append(time.perf_counter() - began)
        fastest[text] = min(times)
    assert fastest[long] < 30 * fastest[short] + 0.05


def test_any_text_is_read_as_something() -> None:
    """Random mixtures of labels, fences and brackets never raise."""
    parts = [
        "Thought:",
        "Action:",
        "Action Input:",
        "Observation:",
        "Final Answer:",
        "\n",
        " ",
        "```",
        "{",
        "}",
        "[",
        "]",
    ]
    parts += [
        '"',
        "'",
        "(",
        ")",
        "search",
        "<think>",
        "</think>",
        "\ud800",
        "\x00",
        "：",
        "**",
        "Question:",
        "none",
        "\\",
    ]
    for seed in range(3000):
        dice = random.Random(seed)
        text = "".join(dice.choices(parts, k=dice.randint(0, 30)))
        said = parse(text, TOOLS)
        assert said.outcome in ("action", "final", "plain", "invalid")
        assert said.action or said.outcome != "action", f"seed {seed}"
        assert said.final or said.outcome not in ("final", "plain"), f"seed {seed}"
        assert said.problem or said.outcome != "invalid", f"seed {seed}"
