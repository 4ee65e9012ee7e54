"""The host's end of the channel, against a program that says whatever it likes."""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import threading
import time

import pytest

from brain.sandbox.bridge import FRAME, Bridge, Ended, Limits

ROUNDS = 20_000 if os.environ.get("BRAIN_THOROUGH") else 400
CALLS = 5


def frame(body: str | bytes) -> bytes:
    body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return len(body).to_bytes(4, "big") + body


def call(number=1, name='"add"', args="[1,2]", kwargs="{}") -> bytes:
    return frame(f'{{"t":"call","id":{number},"name":{name},"args":{args},"kwargs":{kwargs}}}')


DONE = frame('{"t":"done","error":null,"answer":[7]}')


class Talk:
    """A bridge whose other ends this test holds; the program's side is written beforehand."""

    def __init__(self, said: bytes, *, seconds=2.0, calls=CALLS, close=True, framed=False):
        self.performed: list = []
        self.answers = b""
        requests, to_requests = os.pipe()
        from_replies, replies = os.pipe()
        out, to_out = os.pipe()
        err, to_err = os.pipe()
        ours = [requests, replies, out, err]
        self.bridge = Bridge(requests, replies, -1 if framed else out, err, Limits(seconds, calls))
        writer = threading.Thread(target=self.write, args=(to_requests, said, close), daemon=True)
        reader = threading.Thread(target=self.read, args=(from_replies,), daemon=True)
        writer.start()
        reader.start()
        started = time.monotonic()
        self.ended = self.last = None
        try:
            self.last = self.bridge.converse('{"t":"run"}', {"add", "boom"}, self.perform)
        except Ended as reason:
            self.ended = reason
        self.seconds = time.monotonic() - started
        for fd in (*ours, to_out, to_err):
            os.close(fd)
        reader.join()
        writer.join()
        if not close:
            os.close(to_requests)

    @staticmethod
    def write(fd, said, close):
        view = memoryview(said)
        try:
            while view:
                view = view[os.write(fd, view) :]
        except BrokenPipeError:
            pass
        if close:
            os.close(fd)

    def read(self, fd):
        while part := os.read(fd, 1 << 16):
            self.answers += part
        os.close(fd)

    def perform(self, name, args, kwargs):
        self.performed.append((name, args, kwargs))
        if name == "boom":
            raise KeyError("kaput")
        return sum(each for each in args if isinstance(each, int))

    def replies(self):
        data, found = self.answers, []
        while data:
            size = int.from_bytes(data[:4], "big")
            found.append(json.loads(data[4 : 4 + size]))
            data = data[4 + size :]
        return found[1:]  # after the program itself


def test_a_call_is_performed_and_answered():
    """The plain case: each call gets the reply with its own number."""
    talk = Talk(call(1) + call(2, args="[5]", kwargs='{"k":1}') + DONE)
    assert talk.performed == [("add", [1, 2], {}), ("add", [5], {"k": 1})]
    assert talk.replies() == [{"t": "result", "id": 1, "value": 3}, {"t": "result", "id": 2, "value": 5}]
    assert talk.last == {"t": "done", "error": None, "answer": [7]}


def test_a_tools_error_is_told_with_type_and_message():
    """A ``KeyError`` says what it was given, not that in quotes (check 41)."""
    talk = Talk(call(1, '"boom"') + DONE)
    assert talk.replies() == [{"t": "error", "id": 1, "type": "KeyError", "message": "kaput"}]
    assert talk.bridge.calls == 1


def test_calls_past_the_budget_reach_nobody():
    """The cap is exact, however many frames arrive at once (checks 28, 30, 45)."""
    talk = Talk(b"".join(call(n) for n in range(50)) + DONE)
    assert (len(talk.performed), talk.bridge.calls, talk.bridge.refused, talk.bridge.over_budget) == (5, 5, 45, True)
    assert {each["type"] for each in talk.replies()[5:]} == {"ToolBudgetExceeded"}


def test_calls_to_other_tools_are_refused_and_counted_apart():
    """Only tools of this run can be called, and a storm of others ends the run."""
    names = ['"admin_delete"', '"__import__"', '"add.__globals__"', '""', '"ADD"']
    talk = Talk(b"".join(call(n, each) for n, each in enumerate(names)) + DONE)
    assert talk.performed == []
    assert (talk.bridge.calls, talk.bridge.refused, talk.bridge.over_budget) == (0, 5, False)
    storm = Talk(b"".join(call(n, '"x"') for n in range(3000)) + DONE)
    assert storm.ended is not None
    assert storm.ended.kind == "refused_calls"


@pytest.mark.parametrize(
    "said",
    [
        b"\xff\xff\xff\xff", (FRAME + 1).to_bytes(4, "big"), frame(b""), frame("null"), frame("[]"), frame("7"),
        frame('"x"'), frame("{}"), frame(b"\xff\xfe"), frame('{"t":"call"}'), frame('{"t":["done"]}'),
        frame('{"t":"ready","held":{}}'), frame('{"t":"out","data":"00"}'), frame('{"t":"done"}'),
        frame('{"t":"done","error":{},"answer":[]}'), frame('{"t":"done","error":"x","answer":[]}'),
        frame('{"t":"done","error":null,"answer":1}'), frame('{"t":"done","error":null,"answer":[1,2]}'),
        frame('{"t":"done","error":null,"answer":[],"ok":true}'), frame('{"t":"call","t":"done"}'),
        frame('{"t":"done","error":{"type":1,"text":"x"},"answer":[]}'),
        call(name="null"), call(name='["add"]'), call(name='{"a":1}'), call(args="7"), call(args='{"a":1}'),
        call(args='"12"'), call(kwargs="[]"), call(number="null"), call(number="-1"), call(number="1.5"),
        call(number="true"), call(number="[1]"), call(number=1 << 60), call(args="[NaN]"), call(args="[-1e999]"),
        call(args="[" + "9" * 500 + "]"), call(args="[" * 100_000 + "]" * 100_000), call(args='["\\ud800"]'),
        call(kwargs='{"a":1,"a":2}'), call(kwargs='{"$":"dict","v":[[1,2]]}'), call(args='{"$":"tuple","v":[]}'),
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_a_malformed_frame_ends_the_run_at_once(said):
    """No hang, no guess: the run ends with the reason, and no tool was called (check 42)."""
    talk = Talk(said + call() + DONE, close=False)
    assert talk.ended is not None
    assert talk.ended.kind == "channel"
    assert talk.performed == []
    assert talk.seconds < 15


def test_half_a_frame_waits_no_longer_than_the_deadline():
    """A program that falls silent within a frame holds nobody up."""
    talk = Talk(call()[:20], seconds=0.3, close=False)
    assert talk.ended is not None
    assert talk.ended.kind == "timeout"
    assert 0.2 < talk.seconds < 15


def test_an_end_without_a_last_frame_is_no_success():
    """End-of-file says nothing but that it is over."""
    for said in (b"", call(), call()[:-3]):
        talk = Talk(said)
        assert talk.ended is not None
        assert talk.ended.kind == "closed"


def test_what_follows_the_last_frame_is_not_served():
    """After its last frame a program is over."""
    assert Talk(DONE + call()).performed == []


def mutated(rng: random.Random) -> bytes:
    """Make a stream of frames, most of them good, and damage it."""
    samples = [
        call(1),
        call(2, '"boom"'),
        call(3, args='[{"$":"tuple","v":[1,"é"]}]'),
        call(4, kwargs='{"a":[null,true]}'),
        call(5, '"nobody"'),
        frame('{"t":"out","data":"6869"}'),
        DONE,
        frame('{"t":"done","error":{"type":"E","text":"x"},"answer":[]}'),
    ]
    data = bytearray(b"".join(rng.choice(samples) for _ in range(rng.randint(1, 8))))
    for _ in range(rng.randint(0, 6)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
            case 1:
                del data[at : at + rng.randint(1, 30)]
            case 2 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 3:
                data[at:at] = rng.choice(
                    [b"[" * 300, b'{"$":"set","v":[1,1]}', b"1e999", b"NaN", b"\\ud800", b'"', b"\x00\x0f\xff\xff"]
                )
            case 4:
                data[at:at] = data[: rng.randint(1, 200)]
            case 5:
                del data[at:]
            case _:
                pass
    return bytes(data)


def test_mutated_streams_end_in_a_result_or_a_reason():
    """Whatever arrives: a checked last frame or a named end, within time and memory, no call past the budget."""
    seed = int.from_bytes(os.urandom(4), "big")
    rng = random.Random(seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ends: dict[str, int] = {}
    for number in range(ROUNDS):
        talk = Talk(mutated(rng), seconds=2.0, framed=rng.random() < 0.5)
        where = f"seed {seed}, stream {number}"
        assert (talk.last is None) is (talk.ended is not None), where
        assert talk.seconds < 20, where
        assert len(talk.performed) == talk.bridge.calls <= CALLS, where
        assert all(name in ("add", "boom") for name, _, _ in talk.performed), where
        end = talk.ended.kind if talk.ended else "done"
        ends[end] = ends.get(end, 0) + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
    assert {"done", "channel", "closed"} <= ends.keys(), ends
