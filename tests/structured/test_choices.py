"""Routes and plans in replies."""

from __future__ import annotations

import time

import pytest

from brain.errors import StructureError
from brain.structured import read_plan, read_route

ROUTES = ["reason", "analyze", "synthesize", "__done__", "yes", "no"]


@pytest.mark.parametrize(
    ("reply", "route"),
    [
        ('{"next": "analyze"}', "analyze"),
        ('{"next": " Analyze "}', "analyze"),
        ('I think:\n```json\n{"next": "synthesize"}\n```', "synthesize"),
        ('} oh\n{"reason": "a {b} c", "next": "reason"}', "reason"),
        ('{"route": "analyze"}', "analyze"),
        ('{"Next": "analyze", "why": "no"}', "analyze"),
        ('{"next": "__DONE__."}', "__done__"),
        ("done", "__done__"),
        ("analyze", "analyze"),
        ("**Analyze**.", "analyze"),
        ('"analyze"', "analyze"),
        ("Route: YES.", "yes"),
        ("I looked at it.\n**Next:** `analyze`", "analyze"),
        ("<think>reason?</think>\nanalyze", "analyze"),
    ],
)
def test_a_route_is_chosen(reply, route):
    """In JSON, after a label or by its bare name; case and markdown do not matter."""
    got = read_route(reply, ROUTES)
    assert (got.next, got.status) == (route, "ok")


@pytest.mark.parametrize(
    ("reply", "said"),
    [('{"next": "summarise_all"}', "summarise_all"), ('{"next": "analyse"}', "analyse"), ("Next: maybe", "maybe")],
)
def test_a_route_that_is_not_offered_is_known_as_such(reply, said):
    """What the model wanted is told; nothing near it is taken."""
    got = read_route(reply, ROUTES)
    assert (got.next, got.said, got.status) == (None, said, "unknown")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "unknown",
        "I would not analyze yet.",
        "The next step is analyze.",
        '{"next": "ana',
        '{"next": null}',
        '{"next": 3}',
        '{"next": ["analyze", "reason"]}',
        '{"next": "reason"} or {"next": "analyze"}',
        "Next: analyze\nNext: reason",
        '{"plan": "x", "why": "analyze"}',
    ],
)
def test_talk_is_no_route(reply):
    """The name of a route in a sentence, two routes, or JSON that cannot be read choose nothing."""
    assert read_route(reply, ROUTES).status == "unparsed"


def test_a_default_is_taken_and_the_reply_still_told():
    """A declared default goes where the reply does not say."""
    got = read_route('{"next": "bogus"}', ["yes", "no"], default="no")
    assert (got.next, got.said) == ("no", "bogus")


def test_routes_that_differ_in_case_are_told_apart():
    """A spelling that fits two routes chooses neither; the exact one does."""
    assert read_route("Yes", ["yes", "YES"]).next is None
    assert read_route("YES", ["yes", "YES"]).next == "YES"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ('{"steps": ["a", "b"]}', ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ('{"subgoals": ["a"], "quality_score": 3}', ("a",)),
        ('```json\n{"plan": [{"step": 1, "description": "a"}, {"task": "b"}]}\n```', ("a", "b")),
        ('{"steps": [{"Measure": "the berth"}, "cut"]}', ("Measure: the berth", "cut")),
        ('{"steps": {"1": "a", "2": "b"}}', ("a", "b")),
        ('{"steps": ["a", "", " b "]}', ("a", "b")),
        ('{"steps": "1. a\n2. b"}', ("a", "b")),
        ("1. a\n2. b", ("a", "b")),
        ("Plan:\n 1) a [1]\n    and more\n 2) b", ("a [1]", "b")),
        ("- a\n* b\n• c", ("a", "b", "c")),
        ("Step 1: a\nStep 2: b", ("a", "b")),
    ],
)
def test_steps_are_read(text, steps):
    """From JSON in the shapes that models choose, and from lists in words."""
    assert read_plan(text).steps == steps


@pytest.mark.parametrize(
    "text",
    [
        "",
        "First measure, then cut.",
        '{"steps": []}',
        '{"steps": "a"}',
        '{"steps": [["a"]]}',
        '{"steps": [null]}',
        '{"steps": ["a", "b"',
        '{"goal": "x"}',
        '{"steps": ["a"], "depends_on": ["x"]}',
        '{"steps": ["a"], "depends_on": [1]}',
        '{"steps": ["a"], "depends_on": [true]}',
    ],
)
def test_a_plan_without_readable_steps_is_an_error(text):
    """No steps, half a list and steps that are no texts are refused."""
    with pytest.raises(StructureError):
        read_plan(text)


def test_indices_are_read():
    """A number may have its step's name behind it."""
    assert read_plan('{"steps": ["a", "b"], "depends_on": ["0 # src/main.c", 1, "1: b"]}').depends_on == (0, 1, 1)


@pytest.mark.parametrize("flood", ["Next: ", "Next:\n", "1. a\n", "*"])
def test_time_is_linear_in_the_text(flood):
    """A million characters are read in about a second."""
    text = flood * (1_000_000 // len(flood))
    began = time.process_time()
    read_route(text, ROUTES)
    try:
        read_plan(text)
    except StructureError:
        pass
    assert time.process_time() - began < 20
