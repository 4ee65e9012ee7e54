from __future__ import annotations

import copy
import io
import logging
import pickle
import socket
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import pytest

from brain.errors import ProviderError
from brain.messages import user
from brain.providers import (
    AnthropicProvider,
    Cached,
    ChatCompletionsProvider,
    Fallback,
    RateLimited,
    ResponsesProvider,
    Retrying,
    Transport,
)
from brain.providers.secrets import Secret, scrub
from brain.types import Reply
from tests.providers.server import FakeServer, chat, trusting

KEY = "sk-Zz9/secret+KEY=0000"
HI = [user("hi")]


def failure(response, *, stream=False, **options):
    """The error that a response leads to, and how long that took."""
    began = time.monotonic()
    with FakeServer([response]) as server:
        provider = ChatCompletionsProvider(server.url, "m", KEY, **options)
        ask = (lambda: list(provider.stream(HI))) if stream else (lambda: provider.generate(HI))
        with pytest.raises(ProviderError) as caught:
            ask()
    return caught.value, time.monotonic() - began


CUT = {"headers": {"Content-Length": "500"}, "body_text": '{"cho'}
CHUNKED = {"headers": {"Transfer-Encoding": "chunked"}, "chunks": ['{"cho'], "close": True}


@pytest.mark.parametrize(
    ("response", "options", "kind"),
    [
        ({"drop": True}, {}, "connection"),
        (CUT, {}, "connection"),
        (CHUNKED, {}, "connection"),
        ({"hang": True}, {"timeout": 0.2}, "timeout"),
        ({"hang": True}, {"deadline": 0.2}, "timeout"),
        ({"drip": b" " * 999}, {"deadline": 0.3, "timeout": 60}, "timeout"),
        ({"drip": b" " * 999, "headers": {"Content-Length": "999"}}, {"deadline": 0.3}, "timeout"),
        ({"status": 500, "drip": b" " * 999}, {"deadline": 0.3}, "server"),
    ],
)
def test_a_connection_that_goes_wrong_ends_in_time(response, options, kind):
    """Dropped, cut off, silent, or a byte now and then: an error of the right kind within the deadline."""
    error, seconds = failure(response, **options)
    assert (error.kind, error.retryable) == (kind, True)
    assert seconds < 15


def test_a_stream_that_drips_ends_in_time():
    """Though it is never silent."""
    error, seconds = failure(
        {"drip": b": wait\n\n" * 99, "headers": {"Content-Type": "text/event-stream"}}, stream=True, deadline=0.3
    )
    assert error.kind == "timeout"
    assert seconds < 15


def test_headers_that_drip_end_in_time():
    """The deadline holds before the first line of an answer is complete."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        over = threading.Event()

        def serve():
            connection, _ = listener.accept()
            with connection:
                for byte in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 999:
                    try:
                        connection.send(bytes([byte]))
                    except OSError:
                        return
                    if over.wait(0.05):
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        began = time.monotonic()
        with pytest.raises(ProviderError) as caught:
            ChatCompletionsProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", "m", deadline=0.3).generate(HI)
        over.set()
        thread.join()
    assert caught.value.kind == "timeout"
    assert time.monotonic() - began < 15


def test_nobody_listens():
    """That is a connection error; its cause is kept, without its frames."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ProviderError) as caught:
        ChatCompletionsProvider(f"http://127.0.0.1:{port}", "m").generate(HI)
    assert caught.value.kind == "connection"
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    assert caught.value.__cause__.__traceback__ is None


def test_what_does_not_speak_http():
    """Is malformed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(9999)
                connection.sendall(b"SSH-2.0-OpenSSH_9.0\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ProviderError) as caught:
            ChatCompletionsProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", "m").generate(HI)
        thread.join()
    assert caught.value.kind == "malformed"


def test_an_answer_has_a_longest_length():
    """Whether it comes at once or as a stream."""
    small = Transport(max_bytes=1000)
    assert failure({"body": " " * 2000}, transport=small)[0].kind == "malformed"
    lines = ["data: {}", ""] * 500
    assert failure({"sse": lines}, stream=True, transport=small)[0].kind == "malformed"
    error, _ = failure({"sse": ["x" * 2000]}, stream=True, transport=small)
    assert (error.kind, error.retryable) == ("malformed", False)


def test_compression_is_not_asked_for_and_not_understood():
    """A server that compresses all the same is told apart from one that sends rubbish."""
    error, _ = failure({"headers": {"Content-Encoding": "gzip"}, "body": b"\x1f\x8b\x08\x00"})
    assert "compressed (gzip)" in str(error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("stream", [False, True])
def test_a_redirect_is_not_followed(status, stream):
    """Neither the key nor anything else reaches the other server."""
    with FakeServer([{"body": chat()}]) as other:
        response = {"status": status, "headers": {"Location": other.url + "/chat/completions"}, "body": ""}
        error, _ = failure(response, stream=stream)
        assert other.asked == []
    assert (error.kind, error.status, error.retryable) == ("redirect", status, False)


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch):
    """``http_proxy`` gets the whole address; a loopback server is asked directly; ``no_proxy`` counts."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeServer([{"body": chat("by proxy")}]) as proxy, FakeServer([{"body": chat("direct")}]) as server:
        monkeypatch.setenv("http_proxy", f"http://me:pass@127.0.0.1:{proxy.port}")
        assert ChatCompletionsProvider("http://far.example.test/v1", "m", KEY).generate(HI).text == "by proxy"
        assert proxy.asked[0].path == "http://far.example.test/v1/chat/completions"
        assert proxy.asked[0].headers["host"] == "far.example.test"
        assert proxy.asked[0].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="
        assert ChatCompletionsProvider(server.url, "m").generate(HI).text == "direct"
        assert len(proxy.asked) == 1
        monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
        with pytest.raises(ProviderError, match="only http:// proxies"):
            ChatCompletionsProvider("http://far.example.test/v1", "m").generate(HI)


def test_a_tunnel_is_asked_for_without_the_key(monkeypatch):
    """For https a proxy sees the host, the port, and its own password."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            connection, _ = listener.accept()
            with connection:
                heard.append(connection.recv(9999))
                connection.sendall(b"HTTP/1.1 403 Not here\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ProviderError, match="403 Not here") as caught:
            ChatCompletionsProvider("https://far.example.test/v1", "m", KEY).generate(HI)
        thread.join()
    assert heard == [b"CONNECT far.example.test:443 HTTP/1.1\r\nHost: far.example.test:443\r\n\r\n"]
    assert caught.value.kind == "connection"


def test_https_is_spoken_and_checked():
    """A certificate that nobody vouches for is no passing failure; one that is trusted will do."""
    with FakeServer([{"body": chat()}], tls=True) as server:
        with pytest.raises(ProviderError, match="certificate cannot be trusted") as caught:
            ChatCompletionsProvider(server.url, "m", KEY).generate(HI)
        assert (caught.value.kind, caught.value.retryable, server.asked) == ("connection", False, [])
        provider = ChatCompletionsProvider(server.url, "m", KEY, transport=Transport(context=trusting()))
        assert provider.generate(HI).text == "hello"
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.asked[0].headers["host"] == f"127.0.0.1:{server.port}"
        other = server.url.replace("127.0.0.1", "localhost")  # which the certificate does not name
        with pytest.raises(ProviderError, match="certificate cannot be trusted"):
            ChatCompletionsProvider(other, "m", KEY, transport=Transport(context=trusting())).generate(HI)


@pytest.mark.parametrize("response", [{"hang": True}, {"drip": b" " * 999}])
def test_https_ends_in_time(response):
    """As http does."""
    with FakeServer([response], tls=True) as server:
        transport = Transport(context=trusting(), deadline=0.5, timeout=0.4)
        began = time.monotonic()
        with pytest.raises(ProviderError) as caught:
            ChatCompletionsProvider(server.url, "m", transport=transport).generate(HI)
    assert caught.value.kind == "timeout"
    assert time.monotonic() - began < 15


def test_a_handshake_that_never_comes_ends_in_time():
    """Somebody listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(ProviderError) as caught:
        ChatCompletionsProvider(f"https://127.0.0.1:{listener.getsockname()[1]}", "m", timeout=0.2).generate(HI)
    assert caught.value.kind == "timeout"


def test_https_goes_through_a_tunnel(monkeypatch):
    """The proxy passes on what it cannot read, and what it was told holds no key."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    heard = []
    with FakeServer([{"body": chat("far")}], tls=True) as server, socket.create_server(("127.0.0.1", 0)) as listener:

        def pass_on(source, target):
            while data := source.recv(9999):
                heard.append(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

        def serve():
            near, _ = listener.accept()
            with near, socket.create_connection(("127.0.0.1", server.port)) as far:
                heard.append(near.recv(9999))
                near.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = threading.Thread(target=pass_on, args=(far, near))
                back.start()
                pass_on(near, far)
                back.join()

        thread = threading.Thread(target=serve)
        thread.start()
        monkeypatch.setenv("https_proxy", f"http://me:word@127.0.0.1:{listener.getsockname()[1]}")
        provider = ChatCompletionsProvider(
            "https://far.example.test/v1", "m", KEY, transport=Transport(context=trusting())
        )
        assert provider.generate(HI).text == "far"
        thread.join()
        assert server.asked[0].path == "/v1/chat/completions"
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert "proxy-authorization" not in server.asked[0].headers
    assert heard[0].startswith(b"CONNECT far.example.test:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6d29yZA==" in heard[0]
    assert KEY.encode() not in b"".join(heard)


def test_sixty_four_threads_share_one_provider():
    """Each gets the reply to its own question."""
    with FakeServer([lambda asked: {"body": chat(asked.body["messages"][0]["content"])}]) as server:
        provider = ChatCompletionsProvider(server.url, "m", timeout=30)
        wrong = []
        start = threading.Barrier(64)

        def work(word):
            start.wait()
            for number in range(4):
                reply = provider.generate([user(f"{word}-{number}")])
                if reply.text != f"{word}-{number}":
                    wrong.append(reply)

        threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(server.asked) == 256


@pytest.mark.parametrize(
    "response",
    [
        {"status": 401, "body": {"error": {"message": f"401 for key {KEY}"}}},
        {"status": 401, "body": '{"error": {"message": "key \\u0073k-Zz9\\/secret+KEY=0000"}}'},
        {"status": 500, "body": f"<p>Authorization: Bearer {KEY}</p>"},
        {"status": 400, "body": {"detail": [{"msg": "sk-Zz9%2Fsecret%2BKEY%3D0000"}]}},
        {"body": {"error": {"message": KEY, "code": 500}}},
        {"body": {"choices": [{"error": {"message": KEY}}]}},
        {"body": chat(None, refusal=KEY)},
        {"body": KEY},
        {"drop": True},
        {"hang": True},
        {"headers": {"Content-Length": "500"}, "body_text": KEY},
        {"status": 307, "headers": {"Location": f"http://127.0.0.1:$PORT/x?{KEY}"}},
        {"sse": [f'data: {{"error": "{KEY}"}}', ""]},
        {"sse": [f"data: {KEY}", "", "data: {}", ""]},
    ],
)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [ChatCompletionsProvider, AnthropicProvider, ResponsesProvider])
def test_a_key_is_found_nowhere(kind, stream, response):
    """Not in repr, str, pickle, logs at DEBUG, the error, its chain, its traceback with the locals of all frames."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    level = logging.getLogger().level
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        with FakeServer([response]) as server:
            provider = kind(server.url, "m", KEY, timeout=0.05, headers={"X-Api-Key": "hdr-secret"})
            seen = _seen(Retrying(provider, max_retries=1, sleep=lambda _: None), stream)
            sent = server.asked[0].headers
            wrapped = [Retrying(provider), Fallback(provider), Cached(provider), RateLimited(provider, per_minute=9)]
            for each in (provider, provider.endpoint, provider.endpoint.key, *wrapped):
                seen += [
                    repr(each),
                    str(each),
                    f"{each}",
                    repr(pickle.dumps(each)),
                    repr(vars(each) if hasattr(each, "__dict__") else ""),
                ]
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(level)
    assert (sent["authorization"], sent["x-api-key"]) == (f"Bearer {KEY}", "hdr-secret")
    for text in (*seen, log.getvalue()):
        for secret in (KEY, "Zz9/secret", "Zz9%2Fsecret", "hdr-secret"):
            assert secret not in text


def _seen(provider, stream):
    """Ask, and return all that an error shows. (A frame of its own, whose locals hold no key.)"""
    try:
        list(provider.stream(HI)) if stream else provider.generate(HI)
    except ProviderError as error:
        seen = [str(error), repr(error), repr(pickle.dumps(error)), repr(vars(error))]
        seen += traceback.TracebackException.from_exception(error, capture_locals=True).format()
        each = error.__cause__ or error.__context__
        while each is not None:
            seen += [repr(each), repr(each.args), repr(vars(each))]
            each = each.__cause__ or each.__context__
        return seen
    raise AssertionError("no error")


def test_a_cause_that_quotes_the_key_is_left_out():
    """The message says what it said, with the key masked."""

    def broken(*_, **__):
        raise OSError(f"failed with {KEY}")

    with pytest.raises(ProviderError, match=r"OSError: failed with \*\*\*") as caught:
        ChatCompletionsProvider("http://localhost:1", "m", KEY, transport=Transport(connect=broken)).generate(HI)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_key_does_not_travel(monkeypatch):
    """In another process it comes from the environment, or the first call says that it is missing."""
    with FakeServer([{"body": chat()}]) as server:
        provider = ChatCompletionsProvider(server.url, "m", KEY, api_key_env="BRAIN_TEST_KEY")
        assert copy.deepcopy(provider).endpoint.key.reveal() == KEY
        arrived = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(provider))))
        with pytest.raises(ProviderError, match=r"does not travel in a pickle.*BRAIN_TEST_KEY") as caught:
            arrived.generate(HI)
        assert (caught.value.kind, server.asked) == ("config", [])
        monkeypatch.setenv("BRAIN_TEST_KEY", "sk-there")
        assert isinstance(arrived.generate(HI), Reply)
        assert server.asked[0].headers["authorization"] == "Bearer sk-there"
        keyless = pickle.loads(pickle.dumps(ChatCompletionsProvider(server.url, "m", headers={"X-Title": "t"})))
        keyless.generate(HI)
        assert server.asked[1].headers["x-title"] == "t"


def test_a_secret_is_masked_in_all_its_forms():
    """As it is, quoted for a URL, escaped for JSON, and in Basic authorization."""
    secret = 'a"b/c d'
    text = 'a"b/c d a%22b/c%20d a%22b%2Fc+d a\\"b/c d YSJiL2MgZA=='
    assert scrub(text, [secret, "", "ab"]) == "*** *** *** *** ***"
    assert [str(Secret("x")), repr(Secret("x")), repr(Secret()), f"{Secret('x')}"] == ["Secret('***')"] * 2 + [
        "Secret('')",
        "Secret('***')",
    ]


def test_nothing_heavy_is_imported_before_the_first_request():
    """A program that uses no server pays for none."""
    program = (
        "import sys; from brain.providers import *; import brain.providers as p\n"
        "[getattr(p, name) for name in p.__all__]\n"
        "heavy = ('ssl', 'http.client', 'urllib.request', 'socket', 'asyncio', 'subprocess', 'difflib')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
