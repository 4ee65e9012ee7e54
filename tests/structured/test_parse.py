"""Dataclasses out of replies, and what is asked when they do not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import pytest

from brain.errors import ProviderError, StructureError
from brain.messages import Transcript, assistant, system, user
from brain.policy import Ask, Note
from brain.schema import json_schema
from brain.structured import Exact, Scale, ask_as, parse_as
from brain.structured.judgements import (
    DebateCritique,
    DebateVerdict,
    PeoatrPlan,
    PeoatrReflection,
    PeoatrThought,
    ResearchVerdict,
)
from brain.structured.words import described
from brain.types import Reply


@dataclass
class Part:
    name: str
    size: int = 1


@dataclass
class Whole:
    title: str
    parts: list[Part]
    share: Annotated[float, Scale(0, 1)] = 0.5
    tags: list[str] = field(default_factory=list)
    note: str | None = None


class Point(TypedDict):
    x: int
    y: int


def refused(kind: Any, text: str) -> str:
    with pytest.raises(StructureError) as caught:
        parse_as(kind, text)
    return str(caught.value)


def drive(policy: Any, *outcomes: Any) -> tuple[list[Any], Any]:
    """Send replies by hand, notes answered by nothing; return what was wanted and what came of it."""
    wanted, waiting, outcome = [], list(outcomes), None
    while True:
        try:
            wanted.append(policy.send(outcome))
        except StopIteration as stop:
            return wanted, stop.value
        outcome = None if isinstance(wanted[-1], Note) else waiting.pop(0)


def test_a_dataclass_comes_out_of_a_reply():
    """Nested fields, defaults and prose around the JSON."""
    text = 'Here: {"title": "t", "parts": [{"name": "a"}, {"name": "b", "size": 2}], "share": 0.25} Bye'
    assert parse_as(Whole, text) == Whole("t", [Part("a"), Part("b", 2)], 0.25)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Point, '{"x": 1, "y": "2"}', {"x": 1, "y": 2}),
        (list[str], '["a", "b"]', ["a", "b"]),
        (dict, '{"a": 1}', {"a": 1}),
        (list[Part], '[{"name": "a"}]', [Part("a")]),
        (int, "3", 3),
        (bool, "true", True),
        (Annotated[float, Scale(0, 1)], '"80 %"', 0.8),
    ],
)
def test_other_types_come_out_of_a_reply(kind, text, value):
    """What is no dataclass is parsed too."""
    assert parse_as(kind, text) == value


def test_each_field_that_does_not_fit_is_named():
    """The message says where, what was expected, and what came."""
    said = refused(Whole, '{"parts": [{"name": null, "size": 1.5}], "share": 2, "tags": [[]]}')
    for part in (
        "Whole",
        "title: expected text (str), got nothing",
        "parts[0].name: expected text, got null",
        "parts[0].size: expected a whole number, got 1.5",
        "share: expected a number from 0 to 1, got 2",
        "tags[0]: expected text",
    ):
        assert part in said


def test_a_message_stays_short():
    """A thousand problems are told as a few."""
    said = refused(list[int], str(["x"] * 1000))
    assert "and 992 more" in said
    assert len(said) < 600


@pytest.mark.parametrize(
    "text",
    [
        '{"passes": false, "issues": ["x"]}',
        '{"verdict": {"passes": false, "issues": ["x"]}}',
        '{"Passes": false, "ISSUES": ["x"]}',
        '{"passes": false, "issues": "x", "reason": "because"}',
        '[{"passes": false, "issues": ["x"]}]',
        "{'passes': False, 'issues': ('x'),}".replace("('x')", "['x']"),
    ],
)
def test_spelling_is_forgiven(text):
    """Capitals, a wrapper, a field too many and a lone text do not change what was said."""
    assert parse_as(DebateVerdict, text) == DebateVerdict(False, ["x"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"passes": "false"}', "passes: expected true or false, without quotes"),
        ('{"passes": "true"}', "without quotes"),
        ('{"passes": "no"}', "passes"),
        ('{"passes": 1}', "passes: expected true or false"),
        ('{"passes": null}', "passes: expected true or false, got null"),
        ('{"issues": []}', "passes: expected true or false (bool), got nothing"),
        ('{"passes": true, "Passes": false}', "passes: expected one value"),
        ("I am unable to evaluate.", "no JSON object"),
        ("It passes: true", "no JSON object"),
    ],
)
def test_a_verdict_is_not_guessed(text, says):
    """What is no plain truth value is no verdict."""
    assert says in refused(DebateVerdict, text)
    assert says in refused(ResearchVerdict, text).replace("ResearchVerdict", "DebateVerdict")


@pytest.mark.parametrize(
    ("written", "severity"),
    [
        ("0.4", 0.4),
        ("1", 1.0),
        ("0", 0.0),
        ('"0.8"', 0.8),
        ('"0.8/1.0"', 0.8),
        ('"8/10"', 0.8),
        ('"8 out of 10"', 0.8),
        ('"5 %"', 0.05),
        ('"100%"', 1.0),
        (".5", 0.5),
    ],
)
def test_a_share_of_the_scale_is_read(written, severity):
    """A text that says what the whole is means a share of it."""
    assert parse_as(DebateCritique, f'{{"severity": {written}}}') == DebateCritique(severity)


@pytest.mark.parametrize(
    "written",
    ["7", "7.5", '"7.5"', '"high"', "-0.2", "1.01", "3.1e+88", "NaN", "true", "null", "[0.5]", '"11/10"', '"110 %"']
    + ['"0.5 or 0.6"', '"1/0"', '""', "Infinity", '"-10 %"'],
)
def test_what_is_not_on_the_scale_is_refused(written):
    """No clamping, no rescaling, no default."""
    said = refused(DebateCritique, f'{{"severity": {written}}}')
    assert "severity" in said or "no number that JSON has" in said


def test_a_missing_number_is_not_zero():
    """A critique without a severity is none."""
    assert "severity" in refused(DebateCritique, '{"weaknesses": ["x"], "improvements": []}')


def test_plans_thoughts_and_reflections_are_read():
    """What a decision hangs on must be there; the rest may be missing."""
    assert parse_as(PeoatrPlan, '{"subgoals": ["a"], "quality_score": "4/5", "active_subgoal": "a"}').quality_score == 4
    assert parse_as(PeoatrThought, '{"route": "reflect", "analysis": "x"}').subgoal_complete is False
    assert parse_as(PeoatrReflection, '{"route": "replan", "mistake": null}').mistake == ""
    assert "quality_score" in refused(PeoatrPlan, '{"subgoals": ["a"]}')
    assert "quality_score" in refused(PeoatrPlan, '{"subgoals": ["a"], "quality_score": 3.7}')
    assert "quality_score" in refused(PeoatrPlan, '{"subgoals": ["a"], "quality_score": 6}')
    assert "'answer' or 'replan' or 'continue'" in refused(PeoatrReflection, '{"route": "stop"}')
    assert "route" in refused(PeoatrThought, '{"subgoal_complete": true}')


def test_a_scale_is_in_the_schema():
    """Providers that take a schema are told the bounds."""
    told = json_schema(DebateCritique)["properties"]["severity"]
    assert (told["type"], told["minimum"], told["maximum"]) == ("number", 0, 1)
    assert json_schema(DebateVerdict)["required"] == ["passes"]
    assert Exact().json_schema() == {}


def test_a_schema_is_told_in_words():
    """Simple fields are listed; what is nested is shown as a schema."""
    words = described(json_schema(DebateCritique))
    assert '- "severity": a number from 0 to 1; how much' in words
    assert '- "weaknesses": a list of texts (may be left out)' in words
    assert "JSON schema" in described(json_schema(Whole))
    assert "one JSON array" in described(json_schema(list[str]))
    assert '"reflect"' in described(json_schema(PeoatrThought))


def test_ask_as_gives_the_value():
    """The schema goes with the request and into the conversation; the caller's messages stay as they are."""
    talk = Transcript([system("s"), user("Judge it.")])
    wanted, verdict = drive(ask_as(DebateVerdict, talk, phase="judge"), Reply('{"passes": true}'))
    assert verdict == DebateVerdict(True, [])
    (asked,) = wanted
    assert isinstance(asked, Ask)
    assert (asked.phase, asked.tools, asked.schema) == ("judge", (), json_schema(DebateVerdict))
    assert [each["role"] for each in asked.messages] == ["system", "user"]
    assert asked.messages[1]["content"].startswith("Judge it.\n\nReply with one JSON object")
    assert talk == [system("s"), user("Judge it.")]


def test_the_user_does_not_speak_twice():
    """After the model's turn the instruction is a message of its own; parts get one more part."""
    wanted, _ = drive(ask_as(DebateVerdict, [user("q"), assistant("a")]), Reply('{"passes": true}'))
    assert [each["role"] for each in wanted[0].messages] == ["user", "assistant", "user"]
    parts = [{"type": "text", "text": "q"}]
    wanted, _ = drive(ask_as(DebateVerdict, [{"role": "user", "content": parts}]), Reply('{"passes": true}'))
    assert [each["type"] for each in wanted[0].messages[0]["content"]] == ["text", "text"]
    assert len(parts) == 1
    wanted, _ = drive(ask_as(DebateVerdict, []), Reply('{"passes": true}'))
    assert [each["role"] for each in wanted[0].messages] == ["user"]


def test_a_reply_that_does_not_fit_is_asked_for_once_more():
    """The second request shows the reply and what was wrong with it; the repair is in the record."""
    wanted, critique = drive(
        ask_as(DebateCritique, [user("q")], phase="critic"), Reply('{"severity": 7.5}'), Reply('{"severity": 0.75}')
    )
    assert critique.severity == 0.75
    first, repair, second = wanted
    assert (repair.kind, repair.phase) == ("repair", "critic")
    assert "severity: expected a number from 0 to 1, got 7.5" in repair.text
    assert list(second.messages[:2]) == [first.messages[0], assistant('{"severity": 7.5}')]
    told = second.messages[2]["content"]
    assert "severity: expected a number from 0 to 1, got 7.5" in told
    assert "Reply with one JSON object" in told


def test_twice_wrong_is_an_error():
    """After the second reply that does not fit there is no third request."""
    policy = ask_as(DebateVerdict, [user("q")])
    with pytest.raises(StructureError, match="No DebateVerdict in two replies") as caught:
        drive(policy, Reply("It is fine."), Reply('{"passes": "true"}'))
    assert "without quotes" in str(caught.value)


@pytest.mark.parametrize("reply", [Reply('{"passes": true}', finish_reason="length"), Reply(""), Reply(" \n")])
def test_a_reply_that_is_cut_off_or_empty_is_not_parsed(reply):
    """Not even if what there is of it looks whole; an empty one leaves no empty turn behind."""
    wanted, verdict = drive(ask_as(DebateVerdict, [user("q")]), reply, Reply('{"passes": false}'))
    assert verdict == DebateVerdict(False)
    assert isinstance(wanted[1], Note)
    assert all(each["content"].strip() for each in wanted[2].messages)
    roles = [each["role"] for each in wanted[2].messages]
    assert roles == (["user", "assistant", "user"] if reply.text.strip() else ["user"])


def test_a_failing_provider_is_not_a_reply():
    """What the provider raises passes through, and nothing is asked again."""
    policy = ask_as(DebateVerdict, [user("q")])
    next(policy)
    with pytest.raises(ProviderError, match="down"):
        policy.throw(ProviderError("down"))


def test_kinds_of_any_shape_have_a_name():
    """An error names the type in words."""
    assert "a list of a whole number" in refused(list[int], '["x"]')
    assert "'a' or 'b'" in refused(Literal["a", "b"], '"c"')
