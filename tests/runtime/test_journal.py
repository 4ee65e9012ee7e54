"""The journal: linear, chained, and readable again."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import pytest

from brain.errors import BrainError, ConfigurationError, PolicyDenied, ProviderError
from brain.messages import Transcript, user
from brain.patterns import ReActAgent
from brain.policy import Act, Ask, Note
from brain.runtime import Entry, Journal
from brain.runtime.codec import Lost, decode, encode
from brain.runtime.journal import digest_of
from brain.testing import ScriptedProvider
from brain.types import Observation, Reply, ToolCall, Usage

ROUND_TRIPS = [
    *[None, True, 1, 1.5, "x", "\ud83d", "", [], {}, [1, ["a", None]], {"a": {"b": [1]}}],
    *[(1, (2,)), {1: "a", None: "b", (1, 2): 3}, {"$tuple": [1]}, {3, 1}, frozenset({"a"}), b"\x00\xff"],
    *[datetime.datetime(2026, 12, 1, 9, 30), datetime.date(2026, 12, 1), datetime.time(9, 30), math.inf, -math.inf],
]


@pytest.mark.parametrize("value", ROUND_TRIPS, ids=repr)
def test_a_value_survives_json_without_loss(value: Any) -> None:
    """Type and all, through strict JSON."""
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert again == value
    assert type(again) is type(value)


def test_what_json_cannot_hold_says_that_it_is_lost() -> None:
    """It reads back as ``Lost``, with its type and text, and stays so."""
    for value, name in ((object, "type"), (len, "builtin_function_or_method"), (3 + 4j, "complex")):
        lost = decode(json.loads(json.dumps(encode(value))))
        assert isinstance(lost, Lost)
        assert lost.type == name
        assert decode(encode(lost)) == lost
    assert math.isnan(decode(encode(math.nan)))


def test_values_in_a_circle_end() -> None:
    """Nesting is bounded."""
    circle: list[Any] = []
    circle.append(circle)
    assert "$lost" in json.dumps(encode(circle))


def test_every_kind_of_entry_survives_json() -> None:
    """Asks, acts, notes; replies, observations, errors; hooks' replacements."""
    talk = Transcript([user("q")])
    longer = talk + [user("r")]
    entries = [
        Entry(
            Ask(talk, phase="plan"),
            Reply("a", (ToolCall("t", {"x": 1}, "c1"), ToolCall("t", "raw")), Usage(1, 2)),
            "d0",
        ),
        Entry(Note("route", "x -> y", data={"a": (1, 2)}), None, "d1"),
        Entry(
            Ask(longer, ({"type": "function"},), "auto", {"type": "object"}, agent="b"),
            Reply("", finish_reason="length"),
            "d2",
        ),
        Entry(
            Act("t", {"k": b"1"}, "so", "c1"),
            Observation("t", False, {1: 2}, "raised", "trace"),
            "d3",
            Act("u", "v"),
            1.5,
            0.25,
        ),
        Entry(Act("t", None), ProviderError("down", kind="server", status=503, retryable=True), "d4"),
        Entry(Act("t", "x"), PolicyDenied("no", contract_id="r1", denied_action=len, details={"why": "so"}), "d5"),
        Entry(Ask(talk), Reply("b"), "d6"),
    ]
    journal = Journal("P", "task", entries=entries)
    again = Journal.from_lines(journal.to_lines())
    assert (again.pattern, again.task, again.version) == (journal.pattern, journal.task, journal.version)
    for before, after in zip(entries, again, strict=True):
        assert after.action == before.action
        assert (after.digest, after.performed, after.at, after.seconds) == (
            *(before.digest, before.performed, before.at, before.seconds),
        )
        if isinstance(before.outcome, BrainError):
            assert type(after.outcome) is type(before.outcome)
            assert str(after.outcome) == str(before.outcome)
        else:
            assert after.outcome == before.outcome
    error = again[4].outcome
    assert isinstance(error, ProviderError)
    assert (error.kind, error.status, error.retryable) == ("server", 503, True)


def test_a_journal_never_writes_a_message_twice() -> None:
    """Each entry holds only the messages that are new; 200 steps cost twice what 100 cost."""
    sizes = {}
    for steps in (100, 200):
        model = ScriptedProvider([f"Action: f\nAction Input: word{n:04}" for n in range(steps)])
        result = ReActAgent({"f": str.lower}, model, steps).run("t")
        assert result.journal is not None
        text = "\n".join(result.journal.to_lines())
        # The reply, the tool's input, its value and text, and the two messages made of them: no copies in later ones.
        assert text.count("word0007") == 6
        sizes[steps] = len(text)
    assert sizes[200] < 2.1 * sizes[100]


def test_a_torn_last_line_is_dropped() -> None:
    """As a crash leaves it."""
    journal = (
        ReActAgent({"f": str}, ScriptedProvider(["Action: f\nAction Input: x", "Final Answer: y"])).run("t").journal
    )
    assert journal is not None
    lines = list(journal.to_lines())
    assert len(Journal.from_lines([*lines[:-1], lines[-1][:20]])) == len(journal) - 1
    assert len(Journal.from_lines([*lines, '{"i": 99, "di'])) == len(journal)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "not a journal"),
        (["{}"], "not a journal"),
        (["[]"], "not a journal"),
        (["junk"], "line 1"),
        (['{"brain_journal": 99}'], "format 99"),
        (['{"brain_journal": 1}', "junk", "{}"], "line 2"),
        (['{"brain_journal": 1}', "{}"], "line 2"),
        (['{"brain_journal": 1}', '{"digest": "x", "at": 0, "seconds": 0, "ask": {"messages": 3}}'], "line 2"),
        (
            ['{"brain_journal": 1}', '{"digest": "x", "at": 0, "seconds": 0, "ask": {"from": 7, "messages": []}}'],
            "line 2",
        ),
        (['{"brain_journal": 1}', '{"digest": "x", "at": 0, "seconds": 0, "ask": {"messages": ["m"]}}'], "line 2"),
        (['{"brain_journal": 1}', "[" * 100_000, "{}"], "line 2"),
    ],
)
def test_what_is_no_journal_is_refused_with_its_line(lines: list[str], told: str) -> None:
    """Files are untrusted; the error says which line."""
    with pytest.raises(ConfigurationError, match=told):
        Journal.from_lines(lines)


def test_a_journal_file_cannot_name_other_classes() -> None:
    """An unknown error type reads back as the root of the library's own."""
    line = '{"digest": "x", "at": 0, "seconds": 0, "act": {"tool": "t"}, "error": {"type": "%s", "message": "m"}}'
    for name in ("SystemExit", "Any", "__doc__", "Interrupt"):
        journal = Journal.from_lines(['{"brain_journal": 1}', line % name])
        assert type(journal[0].outcome) is BrainError


def test_digests_are_equal_for_equal_actions_only() -> None:
    """Order of keys does not matter; everything else does."""
    same = digest_of(Act("t", {"a": 1, "b": [2]}))
    assert digest_of(Act("t", {"b": [2], "a": 1}, thought="for the trace only")) == same
    others = [
        Act("u", {"a": 1, "b": [2]}),
        Act("t", {"a": 1, "b": [3]}),
        Act("t", "{}"),
        Act("t", {"a": 1, "b": [2]}, phase="x"),
    ]
    assert same not in [digest_of(each) for each in others]
    assert digest_of(Ask(Transcript([user("a"), user("b")]))) == digest_of(Ask(Transcript([user("a")]) + [user("b")]))
    assert digest_of(Ask(Transcript([user("ab")]))) != digest_of(Ask(Transcript([user("a"), user("b")])))


def test_until_gives_an_earlier_journal() -> None:
    """From there another way can be taken."""
    journal = (
        ReActAgent({"f": str}, ScriptedProvider(["Action: f\nAction Input: x", "Final Answer: y"])).run("t").journal
    )
    assert journal is not None
    model = ScriptedProvider(["Final Answer: z"])
    assert ReActAgent({"f": str}, model).resume(journal.until(2)).answer == "z"
