"""Conversations made shorter: what is kept, what is left out, and that it says so."""

from __future__ import annotations

import copy
import json
import random
from itertools import pairwise
from typing import Any

import pytest

from brain.compact import compact
from brain.errors import ConfigurationError
from brain.messages import Message, assistant, system, tool_result, user


def calling(*ids: str) -> Message:
    function = {"name": "look", "arguments": '{"k": 1}'}
    return assistant("", [{"id": each, "type": "function", "function": function} for each in ids])


NATIVE = [
    system("S"),
    user("TASK"),
    calling("t1", "t2"),
    tool_result("t1", "R1"),
    tool_result("t2", "R2"),
    calling("t3"),
    tool_result("t3", "R3"),
]


def test_a_conversation_within_its_limits_is_unchanged():
    """Also one whose last call has no result yet; the list is a new one."""
    pending = [*NATIVE, calling("t4")]
    assert compact(pending) == pending
    assert compact(pending, keep_last=50, max_chars=10_000) == pending
    assert compact(pending) is not pending
    assert compact([], keep_last=0, max_chars=1) == []


def test_calls_and_their_results_are_left_out_together():
    """The task stays and says how much is gone."""
    assert compact(NATIVE, keep_last=2) == [
        system("S"),
        user("TASK\n\n[3 earlier messages are left out here]"),
        calling("t3"),
        tool_result("t3", "R3"),
    ]


def test_the_newest_messages_are_kept_with_the_whole_of_their_exchange():
    """Three of the newest reach into the exchange before, which is kept."""
    assert compact(NATIVE, keep_last=3) == NATIVE
    assert compact(NATIVE, keep_last=0) == [system("S"), user("TASK\n\n[5 earlier messages are left out here]")]


def test_the_latest_question_is_kept_when_its_exchange_is_not():
    """Observations are no questions."""
    talk = [user("TASK"), assistant("A1"), user("And boats?"), assistant("Action: a"), user("Observation: 1")]
    assert compact(talk, keep_last=2) == [
        user("TASK\n\n[2 earlier messages are left out here]\n\nAnd boats?"),
        *talk[3:],
    ]


def test_a_result_too_long_alone_is_cut_with_a_mark():
    """The longest first; the mark says how much is shown of how much."""
    talk = [user("TASK"), assistant("a"), user("Observation: " + "x" * 400_000)]
    shorter = compact(talk, max_chars=1_000)
    assert shorter[:2] == talk[:2]
    assert sum(len(each["content"]) for each in shorter) <= 1_000
    text = str(shorter[2]["content"])
    kept = text.index(" [cut: the first ")
    assert kept > 900
    assert text == f"{talk[2]['content'][:kept]} [cut: the first {kept} of 400013 characters]"


def test_older_exchanges_go_before_the_newest_is_cut():
    """What is new is worth more than what is old."""
    talk = [user("TASK"), assistant("old"), user("Observation: " + "x" * 500), assistant("new"), user("Observation: y")]
    assert compact(talk, max_chars=100) == [user("TASK\n\n[2 earlier messages are left out here]"), *talk[3:]]


def test_long_arguments_are_cut_to_json_that_can_be_read():
    """Servers refuse arguments that are none."""
    long = calling("t1")
    long["tool_calls"][0]["function"]["arguments"] = json.dumps({"text": "x" * 5_000})
    (call,) = compact([user("TASK"), long, tool_result("t1", "R1")], max_chars=200)[1]["tool_calls"]
    assert (call["id"], json.loads(call["function"]["arguments"])) == ("t1", {"cut": "5012 characters"})


def test_the_task_is_never_cut():
    """System messages and the task alone may be more than the limit."""
    talk = [system("S" * 50), user("T" * 50), assistant("a" * 50), user("Observation: b")]
    shorter = compact(talk, max_chars=10)
    assert shorter[:2] == talk[:2]


def test_a_task_made_of_parts_keeps_them():
    """The mark is one more part."""
    talk: list[Message] = [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, *NATIVE[2:]]
    assert compact(talk, keep_last=2)[0]["content"] == [
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "[3 earlier messages are left out here]"},
    ]


@pytest.mark.parametrize("limits", [{"keep_last": -1}, {"max_chars": 0}, {"keep_last": True}])
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]):
    """By name."""
    with pytest.raises(ConfigurationError, match=next(iter(limits))):
        compact(NATIVE, **limits)


def test_whatever_the_conversation_nothing_is_torn_apart():
    """Random conversations, random limits: pairs whole, roles in turn, the task there, the input untouched."""
    for seed in range(400):
        dice = random.Random(seed)
        talk = [system("S")] * dice.randint(0, 1) + [user("TASK")]
        for number in range(dice.randint(0, 8)):
            size = dice.choice([1, 10, 300])
            kind = dice.choice(["native", "text", "talk"])
            if kind == "native":
                ids = [f"{number}-{each}" for each in range(dice.randint(1, 3))]
                talk += [calling(*ids), *(tool_result(each, "r" * size) for each in ids)]
            else:
                said = f"Observation: {'o' * size}" if kind == "text" else f"question {number}"
                talk += [assistant("Action: a" if kind == "text" else "well"), user(said)]
        before = copy.deepcopy(talk)
        limits = {"keep_last": dice.choice([None, 0, 1, 2, 5]), "max_chars": dice.choice([None, 1, 200, 1_000])}
        shorter = compact(talk, **limits)

        assert talk == before, seed
        roles = [each["role"] for each in shorter]
        assert not any(a == b != "tool" for a, b in pairwise(roles)), (seed, roles)
        made = [call["id"] for each in shorter for call in each.get("tool_calls", ())]
        assert made == [each["tool_call_id"] for each in shorter if each["role"] == "tool"], seed
        assert "TASK" in str(shorter[roles.index("user")]["content"]), seed
        questions = [str(each["content"]) for each in talk if str(each["content"]).startswith("question")]
        assert all(question in str(shorter) for question in questions[-1:]), seed
        if shorter != talk:
            assert "left out here]" in str(shorter) or "[cut: " in str(shorter), seed
