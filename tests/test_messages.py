"""Transcripts: sequences that grow at their end and share what they have in common."""

from __future__ import annotations

import pickle

import pytest

from brain.messages import Transcript, assistant, canonical, system, tool_result, user


def test_a_longer_transcript_leaves_the_shorter_as_it_was() -> None:
    """Adding gives a new transcript; both keep their own length."""
    short = Transcript([user("a")])
    long = short + [user("b")]
    assert (list(short), list(long)) == ([user("a")], [user("a"), user("b")])
    assert (len(short), len(long), short[-1], long[-1]) == (1, 2, user("a"), user("b"))
    assert long[1:] == [user("b")]
    assert long[::-1] == [user("b"), user("a")]


def test_two_ways_on_from_one_transcript_part() -> None:
    """The second does not see what the first added."""
    base = Transcript([user("a")])
    left, right = base + [user("l")], base + [user("r")]
    assert (left[-1], right[-1]) == (user("l"), user("r"))
    assert left.digest() != right.digest()
    assert (Transcript([user("a")]) + [user("r")]).digest() == right.digest()


def test_a_transcript_equals_the_list_of_its_messages() -> None:
    """Shared storage or not."""
    one = Transcript([user("a")])
    assert one == [user("a")] == one.to_list()
    assert one == Transcript([user("a")])
    assert one != Transcript([user("b")])
    assert one != one + [user("b")]
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(IndexError):
        one[1]
    with pytest.raises(TypeError):
        hash(one)


def test_a_list_taken_from_a_transcript_is_one_s_own() -> None:
    """Changing it changes nothing else."""
    talk = Transcript([user("a")])
    talk.to_list().append(user("b"))
    given = [user("x")]
    other = Transcript(given)
    given.append(user("y"))
    assert (len(talk), len(other)) == (1, 1)


def test_messages_have_the_shape_of_chat_completions() -> None:
    """The roles, and the private mark for the stable prefix."""
    assert system("s", cache_stable=True) == {"role": "system", "content": "s", "cache_stable": True}
    assert system("s") == {"role": "system", "content": "s"}
    assert assistant("a") == {"role": "assistant", "content": "a"}
    assert tool_result("c1", "r") == {"role": "tool", "tool_call_id": "c1", "content": "r"}


def test_equal_values_have_the_same_bytes_and_odd_ones_have_some() -> None:
    """Mixed keys, circles, deep nesting, objects without a text, lone surrogates."""
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({1: "a", None: "b"}) == canonical({None: "b", 1: "a"})
    circle: dict[str, object] = {}
    circle["self"] = circle
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]

    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    for value in (circle, deep, Mute(), object(), "\ud800", float("nan"), {"f": len}):
        assert canonical({"v": value}) == canonical({"v": value})
    assert b" at 0x" not in canonical({"v": [object(), len, lambda: 0]})
