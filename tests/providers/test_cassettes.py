from __future__ import annotations

import json
import pickle
import threading

import pytest

from brain.errors import ConfigurationError, ProviderError
from brain.messages import Transcript, user
from brain.providers import CassetteMismatch, LocalEchoProvider, Recording, Replaying, Retrying, cassette
from brain.testing import ScriptedProvider
from brain.types import Reply, ToolCall, Usage

HI = [user("hi")]
FULL = Reply("é\n", (ToolCall("f", {"a": 1}, "c"), ToolCall("g", "{raw")), Usage(1, 2, 3, 4, 5), "stop", "hm", "m")
SPEC = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "talk.jsonl"


def record(path, *script, ask=(HI,), **options):
    recording = Recording(ScriptedProvider(list(script)), path, **options)
    for messages in ask:
        recording.generate(messages)
    return recording


def test_what_was_recorded_is_replayed(path):
    """Whole, streamed or not; and the header names the form and the version of the library."""
    record(path, FULL, FULL, ask=(HI, [user("again")]))
    header = json.loads(path.read_text().splitlines()[0])
    assert header["brain_cassette"] == 1
    assert header["library"]
    replaying = Replaying(path)
    assert replaying.generate(HI) == FULL
    assert list(replaying.stream([user("again")])) == [FULL.text, FULL]
    assert replaying.unused == 0
    replaying.check_used()


def test_errors_are_recorded_too(path):
    """And raised again, with all they say."""
    recording = Recording(
        ScriptedProvider([ProviderError("busy", kind="server", status=503, retryable=True, retry_after=2.0), "ok"]),
        path,
    )
    assert Retrying(recording, sleep=lambda _: None).generate(HI).text == "ok"
    waits = []
    assert Retrying(Replaying(path), sleep=waits.append, random=lambda: 0.0).generate(HI).text == "ok"
    assert waits == [2.0]
    with pytest.raises(ProviderError) as caught:
        list(Replaying(path).stream(HI))
    assert (str(caught.value), caught.value.kind, caught.value.status) == ("busy", "server", 503)


def test_a_stream_is_recorded_as_a_whole(path):
    """Its error as well."""

    class Streamer:
        def generate(self, messages, tools=(), tool_choice="none"):
            raise AssertionError

        def stream(self, messages, tools=(), tool_choice="none"):
            yield "o"
            if messages[0]["content"] != "hi":
                raise ProviderError("cut", kind="truncated")
            yield "k"
            yield Reply("ok")

    recording = Recording(Streamer(), path)
    assert list(recording.stream(HI)) == ["o", "k", Reply("ok")]
    with pytest.raises(ProviderError, match="cut"):
        list(recording.stream([user("else")]))
    assert Replaying(path).generate(HI) == Reply("ok")
    with pytest.raises(ProviderError, match="cut"):
        Replaying(path).generate([user("else")])


def test_what_the_model_is_told_makes_the_request(path):
    """Private keys and the kind of sequence do not; tools, choice, schema and order do."""
    record(path, "a")
    same = Transcript([{"content": "hi", "role": "user", "cache_stable": True, "mine": object()}])
    assert Replaying(path).generate(same, [], "auto").text == "a"
    for other in (
        lambda it: it.generate([user("hi ")]),
        lambda it: it.generate(HI, [SPEC], "auto"),
        lambda it: it.generate(HI, schema={}),
    ):
        with pytest.raises(CassetteMismatch):
            other(Replaying(path))


def test_equal_requests_get_their_replies_in_order(path):
    """And a request too many is told that all are used up."""
    record(path, "1", "2", "3", ask=[HI, HI, [user("x")]])
    replaying = Replaying(path)
    assert [replaying.generate([user("x")]).text, replaying.generate(HI).text, replaying.generate(HI).text] == [
        "3",
        "1",
        "2",
    ]
    with pytest.raises(CassetteMismatch, match="all 3 recorded replies are used up"):
        replaying.generate(HI)


def test_a_miss_shows_the_difference(path):
    """To the request recorded next; and it is no ordinary exception, so that no pattern swallows it."""
    record(path, "1", "2", ask=[[user("one"), user("two")], HI])
    with pytest.raises(CassetteMismatch) as caught:
        Replaying(path).generate([user("one"), user("three")])
    shown = str(caught.value)
    assert '-   "content": "two",' in shown
    assert '+   "content": "three",' in shown
    assert '"content": "one"' not in [line[1:].strip() for line in shown.splitlines() if line[:1] in "+-"]
    assert not isinstance(caught.value, Exception)


def test_replies_left_over_are_found(path):
    """By number, and by an error that says which."""
    record(path, "1", "2", ask=[HI, [user("never asked")]])
    replaying = Replaying(path)
    replaying.generate(HI)
    assert replaying.unused == 1
    with pytest.raises(CassetteMismatch, match="never asked"):
        replaying.check_used()


def test_in_order_takes_any_request(path):
    """For a program whose prompts have changed."""
    record(path, "1", "2", ask=[HI, HI])
    replaying = Replaying(path, in_order=True)
    assert [replaying.generate([user(each)]).text for each in "ab"] == ["1", "2"]


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcDEF0123456789",
        "sk-ant-api03-abc_def-ghi",
        "AIzaSyA0123456789012345678901",
        "ghp_0123456789abcdef0123",
        "hf_abcdefghijkl",
    ],
)
def test_what_looks_like_a_key_is_masked(path, key):
    """In requests, replies and errors; the request is still found."""
    messages = [user(f"my key is {key}, ok?")]
    recording = Recording(ScriptedProvider([f"got {key}", ProviderError(f"no {key}")]), path)
    recording.generate(messages)
    with pytest.raises(ProviderError):
        recording.generate(messages)
    assert key not in path.read_text()
    assert Replaying(path).generate(messages).text == "got ***"


def test_what_the_caller_names_is_masked(path):
    """As texts, or by a function; given again, the request is found."""
    record(path, "Bob said so", ask=[[user("ask Bob")]], redact=["Bob"])
    assert "Bob" not in path.read_text()
    assert Replaying(path, redact=["Bob"]).generate([user("ask Bob")]).text == "*** said so"
    record(path, "x", ask=[[user("ask Bob")]], redact=str.upper)
    assert "ASK BOB" in path.read_text()


def test_modes(path):
    """``once`` records what is not there and replays what is, ``none`` only replays, ``all`` records anew."""
    with pytest.raises(ConfigurationError, match="record it first"):
        cassette(path, mode="none")
    with pytest.raises(ConfigurationError, match="needs a provider"):
        cassette(path)
    with pytest.raises(ConfigurationError, match="'once', 'none' or 'all'"):
        cassette(path, mode="sometimes")
    assert cassette(path, LocalEchoProvider()).generate(HI).text == "hi"
    assert cassette(path).generate(HI).text == "hi"
    assert cassette(path, ScriptedProvider([])).generate(HI).text == "hi"
    assert cassette(path, ScriptedProvider(["new"]), mode="all").generate(HI).text == "new"
    assert cassette(path, mode="none").generate(HI).text == "new"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no cassette of version 1"),
        ('{"brain_cassette": 2}\n', "no cassette of version 1"),
        ("rubbish\n", "talk.jsonl:1 is no line"),
        ('{"other": 1}\n', "talk.jsonl:1 is no line"),
        ('{"brain_cassette": 1}\n{"key": "k"}\n', "talk.jsonl:2 is no line"),
        ('{"brain_cassette": 1}\n[1]\n', "talk.jsonl:2 is no line"),
        ('{"brain_cassette": 1}\n{"key": "k", "req\n{}\n', "talk.jsonl:2 is no line"),
    ],
)
def test_a_file_that_is_no_cassette(path, text, says):
    """Is an error that names the line."""
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=says):
        Replaying(path)


def test_a_torn_last_line_is_passed_over(path):
    """The program died while it was written."""
    record(path, "1", "2", ask=[HI, [user("x")]])
    path.write_text(path.read_text()[:-20])
    assert Replaying(path).unused == 1


def test_threads_share_a_cassette(path):
    """No line is torn, and none is replayed twice."""
    recording = Recording(ScriptedProvider(lambda messages, **_: messages[0]["content"]), path)
    threads = [threading.Thread(target=recording.generate, args=([user(f"w{n}")],)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replaying, got = pickle.loads(pickle.dumps(Replaying(path))), []
    threads = [
        threading.Thread(target=lambda n=n: got.append((n, replaying.generate([user(f"w{n}")]).text)))
        for n in range(32)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == sorted((n, f"w{n}") for n in range(32))
    assert replaying.unused == 0
