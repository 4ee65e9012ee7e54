from __future__ import annotations

import pickle
import threading

import pytest

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.messages import Transcript, user
from brain.providers import Cached, Fallback, FaultyProvider, LocalEchoProvider, RateLimited, Retrying
from brain.testing import ScriptedProvider
from brain.types import Reply, Usage

HI = [user("hi")]


def passing(**fields):
    return ProviderError("busy", kind="server", retryable=True, **fields)


def retrying(script, **options):
    """A provider over a script, the waits it asks for, and what the script was asked."""
    waits = []
    inner = ScriptedProvider(script)
    return Retrying(inner, sleep=waits.append, random=lambda: 0.0, **options), waits, inner


def test_waits_double_up_to_eight_seconds():
    """Half a second first; up to a quarter less at random."""
    provider, waits, _ = retrying([passing()] * 6 + ["ok"], max_retries=6)
    assert provider.generate(HI).text == "ok"
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    waits = []
    Retrying(ScriptedProvider([passing(), "ok"]), sleep=waits.append, random=lambda: 1.0).generate(HI)
    assert waits == [0.375]


def test_the_server_says_how_long_to_wait():
    """At least so long, a little more at random, and not at all if that is too long."""
    provider, waits, _ = retrying([passing(retry_after=7.0), passing(retry_after=0.0), "ok"])
    assert provider.generate(HI).text == "ok"
    assert waits == [7.0, 1.0]
    provider, waits, inner = retrying([passing(retry_after=121.0), "ok"])
    with pytest.raises(ProviderError) as caught:
        provider.generate(HI)
    assert (waits, len(inner.requests)) == ([], 1)
    assert caught.value.__notes__ == ["gave up: the server asks to wait 121 s"]


@pytest.mark.parametrize(
    "error",
    [ProviderError("no", kind="auth"), ProviderError("no", kind="bad_request"), ValueError("bug"), KeyError("bug")],
)
def test_what_cannot_succeed_is_not_tried_again(error):
    """It comes through as it is."""
    provider, waits, _ = retrying([error, "ok"])
    with pytest.raises(type(error)) as caught:
        provider.generate(HI)
    assert caught.value is error
    assert waits == []


def test_errors_of_the_network_are_tried_again():
    """Those that a provider of the user's own lets through."""
    provider, waits, _ = retrying([ConnectionResetError(), TimeoutError(), "ok"])
    assert provider.generate(HI).text == "ok"
    assert len(waits) == 2


def test_retries_and_waiting_are_bounded():
    """By their number and by the time spent."""
    provider, waits, inner = retrying([passing()] * 9)
    with pytest.raises(ProviderError) as caught:
        provider.generate(HI)
    assert (len(waits), len(inner.requests)) == (2, 3)
    assert caught.value.__notes__ == ["gave up after 3 attempts"]
    provider, waits, _ = retrying([passing(retry_after=60.0)] * 9, max_retries=8, budget=150)
    with pytest.raises(ProviderError):
        provider.generate(HI)
    assert waits == [60.0, 60.0]
    provider, waits, _ = retrying([passing()], max_retries=0)
    with pytest.raises(ProviderError):
        provider.generate(HI)
    assert waits == []


def test_retries_are_told():
    """To whoever asks to know."""
    told = []
    provider, _, _ = retrying([passing(), "ok"], on_retry=lambda *it: told.append(it))
    provider.generate(HI)
    ((error, wait, number),) = told
    assert (str(error), wait, number) == ("busy", 0.5, 1)


class Streamer:
    """A provider that streams what it is told, one list a call; exceptions are raised."""

    def __init__(self, *calls):
        self.calls = list(calls)

    def generate(self, messages, tools=(), tool_choice="none"):
        raise AssertionError("asked without a stream")

    def stream(self, messages, tools=(), tool_choice="none"):
        for each in self.calls.pop(0):
            if isinstance(each, Exception):
                raise each
            yield each


def test_a_stream_is_asked_for_again_only_before_it_begins():
    """After that its text would come twice."""
    provider = Retrying(Streamer([passing()], ["a", Reply("a")]), sleep=lambda _: None)
    assert list(provider.stream(HI)) == ["a", Reply("a")]
    got = []
    with pytest.raises(ProviderError):
        got.extend(Retrying(Streamer(["a", passing()], ["b"]), sleep=lambda _: None).stream(HI))
    both = Fallback(Streamer([passing()]), Streamer(["b", Reply("b")]))
    assert list(both.stream(HI)) == ["b", Reply("b")]
    with pytest.raises(ProviderError):
        list(Fallback(Streamer(["a", passing()]), Streamer(["b"])).stream(HI))
    with pytest.raises(ProviderError, match="all 2"):
        list(Fallback(Streamer([passing()]), Streamer([passing()])).stream(HI))


def test_the_first_provider_that_can_replies():
    """Any failure leads on; when all fail, all are told."""
    down, up = ScriptedProvider([ProviderError("no", kind="auth"), OSError("x")] * 2), ScriptedProvider(["up"])
    both = Fallback(down, up)
    assert both.generate(HI).text == "up"
    last = ProviderError("full", kind="quota", status=402)
    with pytest.raises(
        ProviderError, match=r"^all 2 providers failed: ScriptedProvider: busy; ScriptedProvider: full$"
    ) as caught:
        Fallback(ScriptedProvider([passing()]), ScriptedProvider([last])).generate(HI)
    assert (caught.value.kind, caught.value.status, caught.value.retryable) == ("quota", 402, True)
    assert caught.value.__cause__ is last
    alone = passing()
    with pytest.raises(ProviderError) as caught:
        Fallback(ScriptedProvider([alone])).generate(HI)
    assert caught.value is alone


class Plain:
    """The least a provider can be: no schema, no transcript, a reply that is a text."""

    def __init__(self):
        self.asked = []

    def generate(self, messages, tools=(), tool_choice="none"):
        self.asked.append((type(messages), tools, tool_choice))
        return "plain"


def test_a_wrapped_provider_is_asked_in_the_form_it_takes():
    """A list where it takes no transcript, no schema where it takes none."""
    plain = Plain()
    for wrapped in (Retrying(plain), Cached(plain), RateLimited(plain, per_minute=6e9), FaultyProvider(plain, {})):
        assert wrapped.accepts_schema is False
        assert wrapped.generate(Transcript(HI), [], "none", schema={"type": "object"}) == Reply("plain")
    assert plain.asked == [(list, [], "none")] * 4
    both = Fallback(plain, LocalEchoProvider())
    assert both.accepts_schema is True
    assert both.generate(Transcript(HI), schema={"type": "integer"}).text == "plain"
    assert list(Retrying(plain).stream(HI)) == ["plain", Reply("plain")]


def test_a_provider_that_returns_no_reply():
    """Is told so by whatever wraps it."""

    class Odd(Plain):
        def generate(self, *_, **__):
            return 7

    with pytest.raises(ProviderError, match="returned int"):
        Retrying(Odd()).generate(HI)


def test_requests_are_spaced_out():
    """The first goes at once; a burst may, after a quiet time."""
    now, waits = [0.0], []

    def sleep(seconds):
        waits.append(seconds)
        now[0] += seconds

    paced = RateLimited(LocalEchoProvider(), per_minute=60, sleep=sleep, clock=lambda: now[0])
    for _ in range(3):
        paced.generate(HI)
    assert waits == [1.0, 1.0]
    now[0] += 10
    paced.generate(HI)
    assert waits == [1.0, 1.0]
    waits.clear()
    burst = RateLimited(LocalEchoProvider(), per_minute=60, burst=3, sleep=sleep, clock=lambda: now[0])
    for _ in range(5):
        list(burst.stream(HI))
    assert waits == [1.0, 1.0]


def test_requests_under_way_are_bounded():
    """Over all threads."""
    under_way, most, lock = [0], [0], threading.Lock()
    both = threading.Barrier(2)

    class Slow(Plain):
        def generate(self, *_, **__):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            both.wait(5)  # needs a second one beside it, and there are never three
            with lock:
                under_way[0] -= 1
            return "x"

    limited = RateLimited(Slow(), max_concurrent=2)
    threads = [threading.Thread(target=limited.generate, args=(HI,)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]


def test_equal_requests_are_asked_once():
    """What counts is what the model is told; the repeated reply took no tokens; failures are not kept."""
    inner = ScriptedProvider([passing(), Reply("a", usage=Usage(5, 6)), "b", "c", "d"])
    cached = Cached(inner, max_entries=2)
    with pytest.raises(ProviderError):
        cached.generate(HI)
    assert cached.generate(HI) == Reply("a", usage=Usage(5, 6))
    assert cached.generate(Transcript([{**HI[0], "cache_stable": True}])) == Reply("a", usage=Usage())
    assert list(cached.stream(HI)) == ["a", Reply("a", usage=Usage())]
    assert cached.generate(HI, schema={"type": "string"}).text == "b"
    assert list(cached.stream([user("other")])) == ["c", Reply("c")]
    assert cached.generate(HI).text == "d"  # the least recently used had gone
    assert cached.hits == 2


def test_faults_come_at_their_call():
    """As an error of a kind, an exception, or a reply."""
    faulty = FaultyProvider(LocalEchoProvider(), {1: "timeout", 3: ZeroDivisionError("x"), 4: Reply("junk")})
    with pytest.raises(ProviderError) as caught:
        faulty.generate(HI)
    assert (caught.value.kind, caught.value.retryable) == ("timeout", True)
    assert faulty.generate(HI).text == "hi"
    with pytest.raises(ZeroDivisionError):
        faulty.generate(HI)
    assert [faulty.generate(HI).text, faulty.generate(HI).text, faulty.calls] == ["junk", "hi", 5]
    calm = Retrying(FaultyProvider(LocalEchoProvider(), {1: "server"}), sleep=lambda _: None)
    assert list(calm.stream(HI)) == ["hi", Reply("hi", finish_reason="stop", model="echo")]


def test_wrappers_travel():
    """With their settings; locks and places are made anew."""
    echo = LocalEchoProvider()
    for each in (
        Retrying(echo),
        Fallback(echo),
        Cached(echo),
        RateLimited(echo, per_minute=6e6, max_concurrent=1),
        FaultyProvider(echo, {}),
    ):
        arrived = pickle.loads(pickle.dumps(each))
        assert arrived.generate(HI).text == "hi"
        assert repr(arrived) == repr(each)


def test_wrong_options_are_errors_at_once():
    """That say what is expected."""
    echo = LocalEchoProvider()
    for make, error, says in (
        (lambda: Retrying(None), WrongType, "a provider has a method generate"),
        (lambda: Retrying(echo, max_retries=-1), ConfigurationError, "max_retries"),
        (lambda: Fallback(), ConfigurationError, "at least one"),
        (lambda: RateLimited(echo), ConfigurationError, "per_minute"),
        (lambda: RateLimited(echo, per_minute=0), ConfigurationError, "per_minute"),
        (lambda: Cached(echo, max_entries=0), ConfigurationError, "max_entries"),
    ):
        with pytest.raises(error, match=says):
            make()
