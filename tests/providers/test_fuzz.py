from __future__ import annotations

import copy
import http.client
import io
import json
import os
import random

import pytest

from brain.errors import ProviderError
from brain.messages import user
from brain.providers import AnthropicProvider, ChatCompletionsProvider, ResponsesProvider, Transport
from brain.types import Reply, ToolCall, Usage

COUNT = 20_000 if os.environ.get("BRAIN_THOROUGH") else 300
KEY = "sk-never-to-be-seen"
HI = [user("hi")]


class Canned:
    """A connection whose answer is there already."""

    proxied = False
    proxy_headers: dict[str, str] = {}

    def __init__(self, answer):
        self.answer = answer

    def putrequest(self, *_, **__):
        pass

    putheader = endheaders = end = putrequest

    def makefile(self, *_):
        return io.BytesIO(self.answer)

    def getresponse(self):
        response = http.client.HTTPResponse(self, method="POST")
        response.begin()
        return response


USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "prompt_tokens_details": {"cached_tokens": 1}}
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT = {
    "id": "x",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "hi"}],
                "tool_calls": [CHAT_CALL],
                "reasoning": "r",
                "refusal": None,
            },
        }
    ],
    "usage": USAGE,
    "error": None,
}
CHAT_STREAM = [
    {
        "model": "m",
        "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": "Hel", "reasoning": "r"}, "finish_reason": None}
        ],
    },
    {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a"'}}]},
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}}]},
    {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": USAGE},
]
MESSAGE = {
    "type": "message",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {
        "input_tokens": 1,
        "cache_read_input_tokens": 2,
        "output_tokens": 3,
        "output_tokens_details": {"thinking_tokens": 1},
    },
}
MESSAGE_STREAM = [
    {"type": "message_start", "message": {**MESSAGE, "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]
RESPONSE = {
    "object": "response",
    "status": "completed",
    "model": "m",
    "error": None,
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
    ],
    "usage": {"input_tokens": 1, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 1}},
}
RESPONSE_STREAM = [
    {"type": "response.created", "response": {**RESPONSE, "output": []}},
    {"type": "response.output_text.delta", "delta": "hi"},
    {"type": "response.output_item.done", "item": RESPONSE["output"][1]},
    {"type": "response.completed", "response": RESPONSE},
]
ODD = [
    None,
    True,
    False,
    0,
    -1,
    1e308,
    10**400,
    "",
    "x",
    "\ud800",
    "stop",
    "error",
    KEY,
    [],
    [None],
    [[]],
    {},
    {"type": "text"},
    {"text": 3},
    "data: {}",
    float("nan"),
]


def places(value, found):
    """All containers in a JSON value with something in them."""
    if isinstance(value, dict | list) and value:
        found.append(value)
        for each in value.values() if isinstance(value, dict) else value:
            places(each, found)
    return found


def bent(dice, value):
    """The value with up to three things in it changed, dropped, doubled or swapped."""
    value = copy.deepcopy(value)
    for _ in range(dice.randint(1, 3)):
        if not (found := places(value, [])):
            break
        place = dice.choice(found)
        key = dice.choice(list(place)) if isinstance(place, dict) else dice.randrange(len(place))
        what = dice.random()
        if what < 0.6:
            place[key] = copy.deepcopy(dice.choice(ODD))
        elif what < 0.8:
            del place[key]
        elif what < 0.9:
            place[key] = [place[key], place[key]]
        else:
            place[key] = copy.deepcopy(dice.choice(found)) if dice.random() < 0.5 else {"error": place[key]}
    return value


def broken(dice, data):
    """The bytes with something cut out, put in or flipped."""
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(data) + 1)
        what = dice.random()
        if what < 0.3:
            data = data[:place]
        elif what < 0.6:
            data = data[:place] + dice.randbytes(dice.randint(1, 3)) + data[place:]
        elif what < 0.8:
            data = (
                data[:place]
                + dice.choice([b"\r\n", b"\n\n", b"data: ", b"}", b"[[", b"\xef\xbb\xbf", b'"'])
                + data[place:]
            )
        else:
            data = data[:place] + data[place + dice.randint(1, 9) :]
    return data


def answer(dice, body, stream):
    """The bytes of an HTTP answer with a mutated body."""
    if stream:
        said = [bent(dice, each) if dice.random() < 0.2 else each for each in body]
        if dice.random() < 0.2:
            dice.shuffle(said)
        payload = "".join(f"data: {json.dumps(each)}\n\n" for each in said).encode() + b"data: [DONE]\n\n"
    else:
        payload = json.dumps(bent(dice, body)).encode()
    if dice.random() < 0.4:
        payload = broken(dice, payload)
    kind = "text/event-stream" if stream else "application/json"
    if dice.random() < 0.05:
        kind = dice.choice(["text/html", "application/json", "text/event-stream", ""])
    status = dice.choice(["200 OK"] * 9 + ["429 Slow", "500 Broken", "302 Found", "204 Nothing", "99 Odd", "0"])
    wait = dice.choice(["1", "x", "-1", "9" * 400])
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nRetry-After: {wait}\r\n".encode()
    if dice.random() < 0.5:
        head += f"Content-Length: {len(payload) + dice.choice([0, 0, 0, 5, -1])}\r\n".encode()
    elif dice.random() < 0.5:
        head += b"Transfer-Encoding: chunked\r\n"
        payload = f"{len(payload):x}\r\n".encode() + payload + b"\r\n0\r\n\r\n"
    if dice.random() < 0.05:
        head = broken(dice, head)
    return head + b"\r\n" + payload


DIALECTS = {
    "chat": (ChatCompletionsProvider, CHAT, CHAT_STREAM),
    "messages": (AnthropicProvider, MESSAGE, MESSAGE_STREAM),
    "responses": (ResponsesProvider, RESPONSE, RESPONSE_STREAM),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_answer_ends_as_a_reply_or_a_provider_error(dialect, stream):
    """Whatever a server sends; replies are well-formed, errors tell no key, and both kinds occur."""
    make, body, events = DIALECTS[dialect]
    given = {}
    transport = Transport(connect=lambda *_, **__: Canned(given["answer"]))
    provider = make("http://localhost:1", "m", KEY, transport=transport)
    replies = errors = 0
    kinds, told = set(), []
    for seed in range(COUNT):
        given["answer"] = answer(random.Random(seed), events if stream else body, stream)
        try:
            reply = [*provider.stream(HI)][-1] if stream else provider.generate(HI)
        except ProviderError as error:
            errors += 1
            kinds.add(error.kind)
            told.append(str(error))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r} for {given['answer']!r}") from error
        else:
            replies += 1
            check(reply)
    assert min(replies, errors) > COUNT / 10
    assert "unknown" not in kinds
    assert [each for each in told if KEY in each] == []


def check(reply):
    """Whether every part of a reply is what its type says."""
    assert type(reply) is Reply
    for text in (reply.text, reply.reasoning, reply.model):
        assert isinstance(text, str)
    "".join([reply.text, reply.reasoning, reply.model, *(call.name + call.id for call in reply.tool_calls)]).encode()
    json.dumps([call.arguments for call in reply.tool_calls], ensure_ascii=False).encode()
    assert reply.finish_reason is None or isinstance(reply.finish_reason, str)
    assert reply.usage is None or (isinstance(reply.usage, Usage) and min(vars_of(reply.usage)) >= 0)
    for call in reply.tool_calls:
        assert isinstance(call, ToolCall)
        assert isinstance(call.name, str)
        assert isinstance(call.id, str)
        assert isinstance(call.arguments, dict | str)


def vars_of(usage):
    return [getattr(usage, name) for name in usage.__slots__]
