"""Which JSON value a reply holds, and when it holds none."""

from __future__ import annotations

import time

import pytest

from brain.errors import StructureError
from brain.structured import extract


def refused(text: str, want: str = "object") -> str:
    with pytest.raises(StructureError) as caught:
        extract(text, want)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure! {"a": 1} Anything else?', {"a": 1}),
        ('} and ] come first {"a": 1}', {"a": 1}),
        ('{"a": "}"} tail', {"a": "}"}),
        ('{"a": "\\"}{"}', {"a": '"}{'}),
        ('Use {} for a gap. {"a": 1}', {"a": 1}),
        ("{}", {}),
        ('Keep <b>{x}</b>, [^1], {{y}} and {1, 2}: {"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ('On the interval [0, 1) it holds: {"a": 1}', {"a": 1}),
        ('Rows: ["x", "y"], so {"a": 1}', {"a": 1}),
        ('[{"a": 1}]', {"a": 1}),
        ('{"a": 1}{"a": 1}', {"a": 1}),
        ('{"a": 1, "b": 2} is {"b": 2, "a": 1}', {"a": 1, "b": 2}),
    ],
)
def test_prose_around_a_value_does_not_matter(text, value):
    """Brackets in prose begin no value, and those in strings end none."""
    assert value == extract(text, "object")


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": 1}\n```',
        '```JSON\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        '~~~json5\n{"a": 1,}\n~~~',
        '````json\n{"a": 1}\n````',
        '```python\n{"a": 1}\n```',
        '```json {"a": 1}```',
        'Here: ```{"a": 1}``` ok',
        'So `{"a": 1}` it is',
        '  ```json\r\n{"a": 1}\r\n```  ',
        '```json\n{"a": 1}',
        '```json\n\n{"a": 1}\n\n```\nbye',
        '```python\nprint({"b": 2})\n```\n```json\n{"a": 1}\n```',
        'The draft was {"a": 0}.\n```json\n{"a": 1}\n```\nDone.',
    ],
)
def test_a_fence_of_any_kind_may_stand_around_it(text):
    """A fence with any tag, or none, closed or not, holds the value."""
    assert extract(text, "object") == {"a": 1}


def test_program_code_is_no_value():
    """Of a block of code only a value that is all of it counts."""
    refused('```python\nprint({"a": 1})\n```')
    refused('```js\nlet x = {"a": 1}\n```')


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"a": 2}</think>{"a": 1}',
        '<think>\nIf {"a": 2 ...\n</think>\n\n{"a": 1}',
        'so {"a": 2}, no\n</think>\n{"a": 1}',
        'so {"a": oops\n</think>\n{"a": 1}',
        'so {"a": "oops\n</think>\n{"a": 1}',
        '<THINKING>x</THINKING> {"a": 1} <think>done? {"a": 3}</think>',
        'A <think> tag is not shown. {"a": 1}',
    ],
)
def test_reasoning_is_not_the_reply(text):
    """What stands in a reasoning block, or before its lone end, is no answer."""
    assert extract(text, "object") == {"a": 1}


@pytest.mark.parametrize("text", ['<think>it is {"a": 1}', '{"a": 1} no</think>', '  <think>\n{"a": 1}'])
def test_a_value_that_is_only_in_the_reasoning_is_none(text):
    """A reply that never leaves its reasoning holds no value."""
    refused(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
        ("""{'a': "it's", "b": 'say "x"', 'c': 'it\\'s'}""", {"a": "it's", "b": 'say "x"', "c": "it's"}),
        ("{“a”: “x”, “b”: 1}", {"a": "x", "b": 1}),
        ('{“a”: “say "x"”, ‘b’: ‘y’}', {"a": 'say "x"', "b": "y"}),
        ('{"a": "a “b” c"}', {"a": "a “b” c"}),
        ('{"a": 1, // one\n "b": [1, 2,], /* two */ # three\n}', {"a": 1, "b": [1, 2]}),
        ('{"a": "// no # comment /* here */"}', {"a": "// no # comment /* here */"}),
        ("{a: 1, b_c: 'x'}", {"a": 1, "b_c": "x"}),
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        ('{"a": "\\(x\\) \\d"}', {"a": "\\(x\\) \\d"}),
        ('{"a": "\\u00e9\\ud83d\\ude00"}', {"a": "é😀"}),
        ("{'a': '\\x41\\U0001f600'}", {"a": "A😀"}),
        ('{"a": "\\ud83d!"}', {"a": "\ufffd!"}),
        ('{"a": .5, "b": 5., "c": -1e3, "d": +2}', {"a": 0.5, "b": 5.0, "c": -1000.0, "d": 2}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a"：1，"b"：2}', {"a": 1, "b": 2}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('```json\n"{\\"a\\": \\"x\\"}"\n```', {"a": "x"}),
        ('{\\"a\\": \\"x\\"}', {"a": "x"}),
        ('{"a": 1, "a": 1}', {"a": 1}),
        ('{"a": 12345678901234567890123}', {"a": 12345678901234567890123}),
        ('{"a": "True", "b": True}', {"a": "True", "b": True}),
    ],
)
def test_what_can_mean_only_one_thing_is_read(text, value):
    """Comments, commas, quotes and words that JSON does not have are read where their meaning is certain."""
    assert value == extract(text, "object")
    assert repr(value) == repr(extract(text, "object"))  # 1 is not True


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("no json here", "no JSON object"),
        ('{"a": [1, 2', "ends before it does"),
        ('{"a": "x', "ends before it does"),
        ('{"a"', "ends before it does"),
        ('{"a": 1} then {"a": 2', "ends before it does"),
        ('{"result": {"passes": true}, "no', "ends before it does"),
        ('{"a": 1 /* x', "ends before it does"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 007}', "'007' is no value"),
        ('{"a": 1 "b": 2}', "comma is missing"),
        ('{"a": "say "x""}', "comma is missing"),
        ('{"a": {1, 2}}', "no key"),
        ("{'a': open('x')}", "'open' is no value"),
        ('{"a": 1, "a": 2}', "two values"),
        ('{"a": true, "a": 1}', "two values"),
        ('{"a": 1} or {"a": 2}', "2 different"),
        ('{"a": true} or {"a": 1}', "2 different"),
        ('{"a": 1} no: {"a": oops}', "'oops' is no value"),
        ('[{"a": 1}, {"b": 2}]', "no JSON object but other JSON"),
        ('```json\n{"a": 1}\n```\nor rather {"a": 2}', "2 different"),
        ('```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', "2 different"),
        ('["x", {"a": 1}, oops]', "'oops' is no value"),
        ('{"a": [1, 2, ...]}', "is no value"),
        ('{"a": ' + "9" * 5000 + "}", "5000 characters"),
        ("[" * 200, "nested"),
        ('{"a":' * 200, "nested"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
    ],
)
def test_what_takes_a_guess_is_refused(text, says):
    """A value that is cut off, broken, or one of several is an error that says why."""
    assert says in refused(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["a", "b"]', ["a", "b"]),
        ('As in [1] and [2]: ["a"]', ["a"]),
        ('- [ ] to do\n["a"]', ["a"]),
        ('{"steps": ["a"]}', ["a"]),
        ("[]", []),
        ("Nothing found: []", []),
        ('{"n": 1} gives ["a"]', ["a"]),
        ("[1, 2]", [1, 2]),
    ],
)
def test_a_list_is_found(text, value):
    """Marks in prose are no lists, and an object that holds just one list stands for it."""
    assert value == extract(text, "array")


@pytest.mark.parametrize(
    "text", ["[1] or [2]", 'First: ["a"]\nIn the end: []', '["a"', '{"a": [1], "b": [2]}', '["a", "b", ...]', "", "{}"]
)
def test_a_list_is_not_guessed(text):
    """Several lists, half a list, and none are errors."""
    refused(text, "array")


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("```\n3\n```", 3), ("null", None), ('"x"', "x"), ("<think>2?</think> 3", 3), ("x [1]", [1])],
)
def test_any_value_may_be_wanted(text, value):
    """Where any value will do, a bare one counts if it is all there is."""
    assert value == extract(text)
    assert type(value) is type(extract(text))


@pytest.mark.parametrize("text", ["it is true", "true\nfalse", "NaN", "3 4", "<think>3", "[", '{"a": 1} ["b"]'])
def test_a_bare_value_is_not_picked_out_of_a_text(text):
    """A word in a sentence is no value."""
    refused(text, "any")


def test_an_unknown_wish_is_the_callers_mistake():
    """``want`` takes three words."""
    with pytest.raises(ValueError, match="expected 'object', 'array' or 'any'"):
        extract("{}", "dict")  # type: ignore[arg-type]


def test_errors_can_be_printed():
    """An error about text with half a character in it is text that can be written to a file."""
    refused("\ud800 no", "any").encode()
    refused('{"a": \ud800}').encode()


MILLION = 1_000_000
FLOODS = ["[", "{", '{"a":', '"', "`", "```\n", '{"a":1,', "<think>", "\n<think>", "</think>", "[1,", '["', "[/*", "'"]
FLOODS += ["{'", "é{", '\\"', '{\\"', "[1)", '{"a":x}', "```python\n{", "{a:1}", "[[[[1,2)", " ", "\n", "[“", "#\n["]
FLOODS += ["{}", "-"]


@pytest.mark.parametrize("flood", FLOODS)
def test_time_is_linear_in_the_text(flood):
    """A million characters of anything are refused, or read, in about a second; nothing recurses."""
    text = flood * (MILLION // len(flood))
    said = ""
    began = time.process_time()
    try:
        extract(text, "object")
    except StructureError as error:
        said = str(error)
    assert len(said) < 500
    # Quadratic work would take hours.
    assert time.process_time() - began < 15
