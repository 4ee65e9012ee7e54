"""Message lists that every server takes."""

from __future__ import annotations

import copy
import random

import pytest

from brain.messages import assistant, system, tool_result, user
from brain.normalise import flat, legal
from brain.types import ToolCall


def call(identity: str, arguments: object = "{}", name: str = "f") -> dict:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def roles(messages: list) -> list:
    return [each["role"] for each in messages]


def test_a_legal_list_stays_as_it_is():
    """What every server takes already is not changed, marks for caches included."""
    messages = [
        system("s", cache_stable=True),
        user("q"),
        assistant("let me see", [call("a"), call("b")]),
        tool_result("a", "1"),
        tool_result("b", "2"),
        assistant("done"),
        user("thanks"),
    ]
    assert messages == legal(messages)


def test_only_the_first_message_is_a_system_message():
    """Those at the start become one; a later one is sent where it stood, as the user's."""
    got = legal([system("a"), {"role": "developer", "content": "b"}, user("q"), assistant("r"), system("c"), user("d")])
    assert [system("a\n\nb"), user("q"), assistant("r"), user("c\n\nd")] == got


def test_nothing_is_empty_and_nobody_speaks_twice():
    """Empty messages go; what one speaker says in a row is joined."""
    messages = [user("q"), assistant(""), assistant(" \n"), {"role": "assistant", "content": None}, user("w"), user("")]
    assert [user("q\n\nw")] == legal(messages)
    assert [user("q"), assistant("a\n\nb")] == legal([user("q"), assistant("a"), assistant("b")])


def test_the_user_speaks_first():
    """A conversation that the user does not open gets an opening."""
    assert [user("(empty)")] == legal([])
    assert [system("s"), user("(empty)")] == legal([system("s"), user(" ")])
    assert [user("(empty)"), assistant("hello")] == legal([assistant("hello")])


def test_each_call_is_followed_by_its_result():
    """Results come in the order of the calls; a missing one says so, an empty one too."""
    got = legal(
        [
            user("q"),
            {"role": "assistant", "content": "", "tool_calls": [call("a"), call("b"), call("c")]},
            tool_result("c", ""),
            user("quick!"),
            tool_result("a", "1"),
        ]
    )
    assert roles(got) == ["user", "assistant", "tool", "tool", "tool", "user"]
    assert got[1]["content"] is None
    assert [(each["tool_call_id"], each["content"]) for each in got[2:5]] == [
        ("a", "1"),
        ("b", "(no result)"),
        ("c", "(no output)"),
    ]


def test_a_result_without_a_call_is_told_as_text():
    """A result that answers nothing cannot be sent as one, and is not lost."""
    assert [user("q\n\nResult of a tool call: 3 m")] == legal([user("q"), tool_result("x", "3 m")])


def test_ids_are_made_where_there_are_none():
    """Calls without ids, or with one id, are told apart; their results are given in order."""
    calls = {"role": "assistant", "content": None, "tool_calls": [call(""), call("x"), call("x")]}
    got = legal([user("q"), calls, {"role": "tool", "content": "1"}, tool_result("x", "2"), tool_result("", "3")])
    ids = [each["id"] for each in got[1]["tool_calls"]]
    assert len(set(ids)) == 3
    assert list(zip(ids, ["1", "2", "3"], strict=True)) == [(each["tool_call_id"], each["content"]) for each in got[2:]]


@pytest.mark.parametrize(
    ("given", "sent"),
    [('{"b": 1}', '{"b": 1}'), ({"a": 1}, '{"a": 1}'), ("{a:1", "{}"), ("[1]", "{}"), (None, "{}"), ("[" * 9999, "{}")],
)
def test_arguments_are_the_text_of_an_object(given, sent):
    """What a server would fail to read is sent as no arguments."""
    got = legal([user("q"), {"role": "assistant", "content": None, "tool_calls": [call("a", given)]}])
    assert sent == got[1]["tool_calls"][0]["function"]["arguments"]


def test_other_shapes_of_calls_are_understood():
    """Tool calls as objects of this library, flat ones, and those from before there were several."""
    got = legal(
        [
            user("q"),
            assistant("a", [ToolCall("f", {"a": 1}, "x"), {"name": "g", "id": "y"}]),
            tool_result("y", "2"),
            {"role": "assistant", "function_call": {"name": "h", "arguments": "{}"}},
            {"role": "function", "name": "h", "content": "3"},
        ]
    )
    assert roles(got) == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    names = [each["function"]["name"] for message in got for each in message.get("tool_calls", ())]
    assert names == ["f", "g", "h"]
    assert [each["content"] for each in got if each["role"] == "tool"] == ["(no result)", "2", "3"]


def test_parts_become_text():
    """Text parts are joined; another part leaves its kind, or stays where parts are kept."""
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    assert [user("look\n[image_url]")] == legal([{"role": "user", "content": parts}])
    assert [user(parts)] == legal([{"role": "user", "content": parts}], keep_parts=True)
    both = legal([user("first"), {"role": "user", "content": parts}], keep_parts=True)
    assert [{"type": "text", "text": "first"}, *parts] == both[0]["content"]


@pytest.mark.parametrize(
    ("content", "text"), [(None, ""), ("x", "x"), (["a", {"text": "b"}], "a\nb"), ({"a": 1}, '{"a": 1}'), (3, "3")]
)
def test_content_of_any_kind_is_text(content, text):
    """Content is whatever a caller put there; it goes out as text."""
    assert text == flat(content)


def test_any_list_becomes_legal():
    """Whatever roles, contents, calls and results are thrown together, the outcome keeps the rules."""
    contents = ["", " ", None, "x", "y", ["p", {"type": "text", "text": "q"}], {"k": 1}, 7]
    for seed in range(300):
        dice = random.Random(seed)
        messages = []
        for _ in range(dice.randint(0, 9)):
            message = {"role": dice.choice(["system", "user", "assistant", "tool", "developer", "odd", "function"])}
            message["content"] = dice.choice(contents)
            if message["role"] == "assistant" and dice.random() < 0.5:
                message["tool_calls"] = [call(dice.choice(["", "a", "b"])) for _ in range(dice.randint(0, 3))]
            if message["role"] == "tool":
                message["tool_call_id"] = dice.choice(["", "a", "b", "z"])
            messages.append(message)
        before = copy.deepcopy(messages)
        got = legal(messages)
        assert before == messages, seed
        assert got == legal(got), seed
        open_calls: list[str] = []
        for position, message in enumerate(got):
            assert message["role"] in ("system", "user", "assistant", "tool"), seed
            assert (message["role"] == "system") <= (position == 0), seed
            content = message["content"]
            assert (isinstance(content, str) and content.strip()) or (content is None and message["tool_calls"]), seed
            if message["role"] == "tool":
                assert open_calls.pop(0) == message["tool_call_id"], seed
            else:
                assert not open_calls, seed
                assert position == 0 or message["role"] != got[position - 1]["role"], seed
            open_calls += [each["id"] for each in message.get("tool_calls", ())]
        assert not open_calls, seed
        assert got[got[0]["role"] == "system"]["role"] == "user", seed
