"""Rows about providers: a real server on this machine answers, and nobody waits."""

from __future__ import annotations

import builtins
import io
import json
import logging
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import warnings
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from brain.errors import ConfigurationError, ProviderError
from brain.patterns import ReActAgent
from brain.providers import (
    CassetteMismatch,
    ChatCompletionsProvider,
    Price,
    Recording,
    Replaying,
    Retrying,
    Transport,
    estimate_tokens,
    tally,
)
from brain.providers.chat_reply import read_usage
from brain.providers.connection import connect
from brain.testing import ScriptedProvider
from brain.types import Reply, Usage
from tests.providers.server import FakeServer, chat

_USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
    "reasoning_tokens": "reasoning",
}


class _Played:
    """One row of provider_http, played: what came of it and what could be seen."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.reply: Reply | None = None
        self.error: BaseException | None = None
        self.attempts = 0
        self.waits: list[float] = []
        self.seen: list[str] = []
        """Everything a person could see: texts, reprs, logs, tracebacks, pickles."""
        self.chain: list[str] = []
        self.warned = False
        self.requests: list[Any] = []
        self.elsewhere: list[str] = []
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        root = logging.getLogger()
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            with warnings.catch_warnings(record=True) as caught, FakeServer() as server:
                warnings.simplefilter("always")
                self._play(given, server)
                self.requests = [each.body for each in server.asked]
                self.warned = bool(caught)
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
        self.seen.append(log.getvalue())

    def _play(self, given: dict[str, Any], server: FakeServer) -> None:
        responses = [_ready(each, given) for each in given["responses"]]
        server.responses = [each for each in responses if "exception" not in each] or [{"drop": True}]
        lock = threading.Lock()

        def reach(endpoint: Any, pace: Any, **options: Any) -> Any:
            with lock:
                self.attempts += 1
                number = min(self.attempts, len(responses)) - 1
            if endpoint.port != server.port:
                self.elsewhere.append(endpoint.netloc)
            if number >= 0 and "exception" in responses[number]:
                raise _exception(responses[number]["exception"])
            return connect(endpoint, pace, **options)

        timeout = given.get("timeout", 10.0)
        slow = any(each.get("hang") for each in responses)
        url = given.get("base_url") or server.url
        if "base_url" in given:  # the row's host, played by ours
            parts = urlsplit(url.strip())
            url = parts._replace(scheme="http", netloc=f"127.0.0.1:{server.port}").geturl()
        options = dict(given.get("request", {}))
        try:
            provider = Retrying(
                ChatCompletionsProvider(
                    url,
                    "m",
                    given.get("api_key"),
                    transport=Transport(timeout=min(timeout, 0.15) if slow else timeout, connect=reach),
                    **{key: value for key, value in options.items() if key in ("stop", "temperature", "max_tokens")},
                    extra_body={k: v for k, v in options.items() if k not in ("stop", "temperature", "max_tokens")},
                ),
                max_retries=given.get("max_retries", 2),
                sleep=self.waits.append,
            )
        except ConfigurationError as error:
            self.error = error
            self._look(error)
            return
        agent, plain = ReActAgent(provider=provider), ChatCompletionsProvider(url, "m", given.get("api_key"))
        self.seen += [repr(provider), str(provider), repr(agent), str(agent), repr(pickle.dumps(plain))]
        self.seen += [repr(dict(vars(each))) for each in (provider, provider.inner)]
        if given["responses"]:
            self._ask(provider, [{"role": "user", "content": "x" * given.get("request_chars", 2)}], given.get("stream"))

    def _ask(self, provider: Any, messages: list[Any], stream: Any) -> None:
        try:
            if stream:
                *_, self.reply = provider.stream(messages)
            else:
                self.reply = provider.generate(messages)
        except BaseException as error:
            self.error = error
            self._look(error)

    def _look(self, error: BaseException) -> None:
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        self.seen += ["".join(told.format()), str(error), repr(error), repr(pickle.dumps(error))]
        each: BaseException | None = error
        while each is not None:
            self.chain += [str(each), repr(each), repr(each.args), repr(vars(each))]
            each = each.__cause__ or each.__context__


def provider_http(given: Any, expected: dict[str, Any]) -> list[str]:
    played = _Played(given)
    reply, error = played.reply, played.error
    kind = "config" if isinstance(error, ConfigurationError) else getattr(error, "kind", None)
    if error is not None and kind is None and type(error).__name__ != expected.get("raises"):
        return [f"raised {error!r}"]
    problems = []
    if error is not None and not any(key.startswith("error") for key in expected):
        wants_reply = expected.keys() & {
            "text",
            "tool_calls",
            "usage",
            "finish_reason",
            "usage_known",
            "reasoning_kept",
        }
        problems += [f"failed: {error!r} ({kind})"] if wants_reply else []
    for key, value in expected.items():
        got: Any = None
        if key in ("error", "error_class_any"):
            allowed = {expected.get("error")} | set(expected.get("error_class_any", ()))
            holds, got = kind in allowed, kind or reply
        elif key == "text":
            holds, got = reply is not None and reply.text.strip() == value.strip(), reply
        elif key == "never_text":
            holds, got = reply is None or reply.text.strip() != value.strip(), reply
        elif key == "tool_calls":
            got = (
                [{"name": each.name, "arguments": each.arguments, "id": each.id} for each in reply.tool_calls]
                if reply
                else None
            )
            holds = got is not None and len(got) == len(value)
            holds = holds and all({k: have.get(k) for k in want} == want for want, have in zip(value, got, strict=True))
        elif key == "usage":
            got = reply.usage if reply else None
            holds = got is not None and all(
                getattr(got, _USAGE.get(name, name)) == count for name, count in value.items()
            )
        elif key == "usage_known":
            holds, got = reply is not None and (reply.usage is not None) == value, reply
        elif key == "finish_reason":
            holds, got = reply is not None and reply.finish_reason == value, reply
        elif key == "reasoning_kept":
            holds, got = (reply is not None and bool(reply.reasoning)) == value or error is not None, reply
        elif key == "reasoning":
            holds, got = reply is not None and reply.reasoning.strip() == value.strip(), reply
        elif key == "attempts":
            holds, got = played.attempts == value, played.attempts
        elif key in ("attempts_min", "attempts_max"):
            got = played.attempts
            holds = got >= value if key == "attempts_min" else got <= value
        elif key in ("waits_min", "waits_max"):
            got = played.waits
            holds = len(got) >= len(value) and all(
                have >= want if key == "waits_min" else have <= want for want, have in zip(value, got, strict=False)
            )
        elif key == "message_contains":
            got = str(error)
            holds = error is not None and all(text.lower() in got.lower() for text in value)
        elif key in ("never_contains", "repr_not_contains", "never_contains_in_chain"):
            places = played.seen + played.chain
            got = [place[:2000] for place in places if any(text in place for text in value)]
            holds = not got
        elif key == "raises":
            holds, got = type(error).__name__ == value, error
        elif key == "no_crash":
            holds = True  # anything else has returned above
        elif key == "warning":
            holds = played.warned == value
        elif key == "redirect_without_auth":
            holds, got = not played.elsewhere and reply is not None, played.elsewhere
        elif key == "second_request_lacks":
            got = played.requests[1] if len(played.requests) > 1 else None
            holds = got is not None and not any(name in got for name in value)
        else:
            holds, got = False, "this checker does not know the key"
        if not holds:
            problems.append(f"{key}: expected {value!r}, got {got!r}; error: {error!r}")
    return problems


def _ready(response: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Make a row's response one that the server serves without anybody waiting."""
    if "delay_seconds" in response:
        return {"hang": True} if response["delay_seconds"] > given.get("timeout", 10.0) else response["then"]
    headers = {}
    for name, value in response.get("headers", {}).items():
        before, marked, rest = str(value).partition("$HTTPDATE")
        if marked:
            seconds = float(rest.rstrip("s") or 0)
            value = before + formatdate(time.time() + seconds, usegmt=True)
        headers[name] = value
    return {**response, "headers": headers}


def _exception(text: str) -> Any:
    name, _, rest = text.partition("(")
    message = rest.removesuffix(")").strip("'\"")
    name = name.rpartition(".")[2]
    if name == "URLError":
        inner = _exception(message) if re.match(r"[\w.]+\(", message) else message
        return urllib.error.URLError(inner)
    if name == "timeout":
        return TimeoutError(message)
    if name == "gaierror":
        import socket

        return socket.gaierror(-2, message or "Name or service not known")
    if hasattr(builtins, name):
        kind: Any = getattr(builtins, name)
    else:
        import http.client
        import ssl

        kind = getattr(http.client, name, None) or getattr(ssl, name, None) or type(name, (OSError,), {})
    return kind(message) if message or name in ("IncompleteRead", "BadStatusLine") else kind()


def provider_url(given: Any, expected: dict[str, Any]) -> list[str]:
    try:
        got: Any = ChatCompletionsProvider(given["base_url"], "m").endpoint.url
    except ConfigurationError as error:
        got = error
    if "url" in expected:
        return [] if got == expected["url"] else [f"url: expected {expected['url']}, got {got!r}"]
    return [] if isinstance(got, ConfigurationError) else [f"expected {expected}, got {got}"]


def usage_cost(given: Any, expected: dict[str, Any]) -> list[str]:
    got: dict[str, Any] = {}
    if "calls" in given:
        prices = {
            model: Price(
                each["input"],
                each["output"],
                each.get("cached_input", each.get("cache_read")),
                each.get("cache_write", each.get("cache_write_input")),
            )
            for model, each in given.get("prices_per_million", {}).items()
        }
        bill = tally([(each["model"], read_usage(each.get("usage"))) for each in given["calls"]], prices)
        got = {
            "cost": bill.cost,
            "complete": bill.complete,
            "total_tokens": bill.usage.total_tokens,
            **{name: getattr(bill.usage, field) for name, field in _USAGE.items()},
        }
    elif "estimate" in given:
        got = {f"{side}_tokens": estimate_tokens(text) for side, text in given["estimate"].items()}
    problems = []
    for key, value in expected.items():
        if key not in got:
            problems.append(f"this checker does not know {key!r}")
        elif isinstance(value, float) and isinstance(got[key], int | float):
            problems += [] if abs(got[key] - value) < 1e-9 else [f"{key}: expected {value}, got {got[key]}"]
        elif got[key] != value or (value is None) != (got[key] is None):
            problems.append(f"{key}: expected {value!r}, got {got[key]!r}")
    return problems


def replay(given: Any, expected: dict[str, Any]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        if "script" in given:
            return _same_again(given, expected, Path(folder) / "c.jsonl")
        if "recorded" in given:
            return _used(given, expected, Path(folder) / "c.jsonl")
        if "tools" in given:
            return _same_prompt(expected)
        if "record" in given:
            return _no_key(given, expected, Path(folder) / "c.jsonl")
    return [f"this checker does not know {sorted(given)}"]


def _same_again(given: Any, expected: dict[str, Any], path: Path) -> list[str]:
    """Runs of one script are the same, and so is the run of its recording."""
    agents = [
        ReActAgent({"search": lambda text: f"found {text}"}, provider)
        for provider in (
            *(ScriptedProvider(list(given["script"])) for _ in range(given["times"])),
            Recording(ScriptedProvider(list(given["script"])), path),
        )
    ]
    traces = [_trace(agent, expected) for agent in agents]
    traces.append(_trace(ReActAgent({"search": lambda text: f"found {text}"}, Replaying(path)), expected))
    return [] if all(each == traces[0] for each in traces) else [f"the traces differ: {traces}"]


def _trace(agent: Any, expected: dict[str, Any]) -> Any:
    result = agent.run("task")
    assert result.journal is not None
    # Times and durations are what the row allows to differ.
    entries = [(entry.action, entry.outcome) for entry in result.journal]
    steps = [(s.index, s.thought, s.action, s.action_input, s.observation, s.text) for s in result.steps]
    return repr((result.answer, result.ok, steps, entries)) if "traces_equal_except" in expected else None


def _used(given: Any, expected: dict[str, Any], path: Path) -> list[str]:
    recording = Recording(ScriptedProvider([f"reply {number}" for number in range(given["recorded"])]), path)
    for number in range(given["recorded"]):
        recording.generate([{"role": "user", "content": f"question {number}"}])
    replaying = Replaying(path)
    missed = ""
    try:
        for number in range(given["used"]):
            replaying.generate([{"role": "user", "content": f"question {number}"}])
    except CassetteMismatch as mismatch:
        missed = str(mismatch)
    if "detectable_leftover" in expected:
        want = expected["detectable_leftover"]
        return [] if replaying.unused == want else [f"leftover: expected {want}, got {replaying.unused}"]
    return [] if missed else [f"{expected}: nothing was detected"]


def _same_prompt(expected: dict[str, Any]) -> list[str]:
    program = (
        "from brain.patterns import ReActAgent\nfrom brain.testing import ScriptedProvider\nimport json\n"
        "p = ScriptedProvider(['Final Answer: x'])\n"
        "ReActAgent({'search': len, 'add': len, 'look_up': str}, p).run('task')\n"
        "print(json.dumps(list(p.requests[0].messages)))\n"
    )
    root = str(Path(__file__).parents[2])
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([*sys.path, root])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    return [] if (len(said) == 1) == expected["prompt_equal"] else [f"the prompts differ: {said}"]


def _no_key(given: Any, expected: dict[str, Any], path: Path) -> list[str]:
    key = given["record"].split()[-1]
    with FakeServer(
        [{"body": chat(f"your key is {key}")}, {"status": 401, "body": {"error": {"message": key}}}]
    ) as server:
        recording = Recording(Retrying(ChatCompletionsProvider(server.url, "m", key)), path)
        recording.generate([{"role": "user", "content": f"my key is {key}"}])
        try:
            recording.generate([{"role": "user", "content": "again"}])
        except ProviderError:
            pass
    text = path.read_text()
    problems = [f"the file holds {each!r}: {text}" for each in expected["file_not_contains"] if each in text]
    if len(text.splitlines()) != 3 or json.loads(text.splitlines()[0])["brain_cassette"] != 1:
        problems.append(f"not a recording of two calls: {text}")
    reply = Replaying(path, redact=[key]).generate([{"role": "user", "content": f"my key is {key}"}])
    return problems + ([] if reply.usage == Usage(9, 2) else [f"the recording replays as {reply}"])


CHECKERS = {
    "provider_http": provider_http,
    "provider_url": provider_url,
    "usage_cost": usage_cost,
    "replay": replay,
}
