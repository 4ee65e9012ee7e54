"""Tools have the names and parameters in a program that the rule for them says."""

from __future__ import annotations

import functools

from brain.sandbox import ToolFace, aliases, faces
from brain.tools import Tool


def test_names_that_a_program_can_write_stay():
    """Others follow the rule, and give way to those that can stay."""
    names = ["get-item", "get_item", "print", "class", "2nd", "a.b", "", "größe", "final_answer", "tools", "__x", "_ok"]
    assert aliases(names) == {
        "get-item": "get_item_",
        "get_item": "get_item",
        "print": "print_",
        "class": "class_",
        "2nd": "tool_2nd",
        "a.b": "a_b",
        "": "tool_",
        "größe": "größe",
        "final_answer": "final_answer_",
        "tools": "tools_",
        "__x": "__x_",
        "_ok": "_ok",
    }


def test_a_signature_is_the_functions_own():
    """Every kind of parameter, in Python's own words."""

    def every(a, /, b, c=3, *rest, d, e=(1, 2), **more):
        """Take everything."""

    assert faces({"every": every}) == [
        ToolFace(
            "every",
            "every",
            "(a, /, b, c=_defaults[0], *rest, d, e=_defaults[1], **more)",
            (3, (1, 2)),
            ("a", "b", "c"),
            doc="Take everything.",
        )
    ]
    plain = {
        "none": lambda: 1,
        "keyword": lambda *, k: k,
        "partial": functools.partial(lambda a, b: a, 1),
        "method": [].append,
        "builtin": max,
    }
    assert [each.header for each in faces(plain)] == [
        "()",
        "(*, k)",
        "(b)",
        "(object, /)",
        "(*args, **kwargs)",
    ]


def test_a_tool_that_tells_nothing_is_taken_by_its_schema():
    """Required parameters come first; a keyword goes by another name; all are passed by name."""
    schema = {
        "type": "object",
        "properties": {"limit": {"type": "integer", "default": 5}, "from": {"type": "string"}, "to-all": {}},
        "required": ["from"],
    }
    remote = Tool("send", lambda **given: given, "Send it.", schema)
    assert faces({"send": remote}) == [
        ToolFace(
            "send",
            "send",
            "(from_, limit=_defaults[0], to_all=_defaults[1])",
            (5, None),
            ("from", "limit", "to-all"),
            {"from_": "from", "to_all": "to-all"},
            True,
            "Send it.",
        )
    ]


def test_a_tool_object_has_the_signature_of_what_it_calls():
    """Its own ``__call__`` takes anything and says nothing."""
    assert faces({"t": Tool("t", lambda q, n=2: q, "x")})[0].header == "(q, n=_defaults[0])"
