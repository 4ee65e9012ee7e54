from __future__ import annotations

from email.utils import formatdate

import pytest

from brain.providers.failures import failed, retry_after


def failure(status, data=None, text="", headers=None):
    return failed(status, data, text, headers or {}, where="http://x", now=1_000_000.0)


def coded(code, message="m"):
    return {"error": {"message": message, "code": code}}


@pytest.mark.parametrize(
    ("status", "data", "kind", "retryable"),
    [
        (400, None, "bad_request", False),
        (401, None, "auth", False),
        (402, None, "quota", False),
        (403, None, "auth", False),
        (404, None, "not_found", False),
        (405, None, "bad_request", False),
        (408, None, "timeout", True),
        (409, None, "api", True),
        (413, None, "bad_request", False),
        (418, None, "bad_request", False),
        (422, None, "bad_request", False),
        (425, None, "api", True),
        (429, None, "rate_limit", True),
        (500, None, "server", True),
        (501, None, "server", False),
        (502, None, "server", True),
        (503, None, "server", True),
        (504, None, "server", True),
        (505, None, "server", False),
        (529, None, "server", True),
        (429, coded("insufficient_quota"), "quota", False),
        (429, {"error": {"type": "insufficient_quota"}}, "quota", False),
        (400, coded("content_filter"), "content_filter", False),
        (400, coded("context_length_exceeded"), "bad_request", False),
        (400, {"error": {"type": "exceed_context_size_error"}}, "bad_request", False),
        (403, coded("rate_limit_exceeded"), "rate_limit", True),
        (500, coded("insufficient_quota"), "quota", False),
        (200, coded(429), "rate_limit", True),
        (200, coded("invalid_api_key"), "auth", False),
        (200, coded("model_not_found"), "not_found", False),
        (200, coded("server_error"), "server", True),
        (200, coded(None), "api", True),
        (None, coded(1), "api", True),
    ],
)
def test_kinds(status, data, kind, retryable):
    """Each follows from the status and the server's codes; only what may pass is retryable."""
    error = failure(status, data)
    assert (error.kind, error.retryable) == (kind, retryable)


def test_the_server_may_say_whether_to_try_again():
    """Its word counts."""
    assert failure(500, headers={"x-should-retry": "false"}).retryable is False
    assert failure(400, headers={"x-should-retry": "true"}).retryable is True


@pytest.mark.parametrize(
    ("data", "text", "words"),
    [
        (coded(None, "slow down"), "", "slow down"),
        ({"error": "short"}, "", "short"),
        ({"message": "top"}, "", "top"),
        ({"detail": "Not Found"}, "", "Not Found"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "", "field required"),
        ([{"error": {"message": "listed"}}], "", "listed"),
        ({"error": {"message": {"error": {"message": "deep"}}}}, "", "deep"),
        ({"error": {"message": "no", "param": "stop"}}, "", "no (param stop)"),
        ({"strange": 1}, "", '{"strange": 1}'),
        (None, "<html><style>p {}</style><body>Bad\n <b>gateway</b></body></html>", "Bad gateway"),
        (None, "plain words", "plain words"),
        (None, "", "the server gave no reason"),
        (None, "x" * 600, "x" * 500 + "…"),
    ],
)
def test_the_servers_own_words(data, text, words):
    """Are found wherever servers put them, and shortened."""
    assert str(failure(400, data, text)) == f"HTTP 400 from http://x: {words}"


def test_the_message_says_what_to_do():
    """Where there is something to do; the request has its name."""
    error = failure(401, coded(None, "bad key"), headers={"x-request-id": "req_1"})
    assert str(error) == "HTTP 401 from http://x: bad key (check the API key)"
    assert (error.status, error.request_id) == (401, "req_1")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": formatdate(1_000_003, usegmt=True)}, 3.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "Fri, 99 Foo 2026 00:00:00 GMT"}, None),
        ({"retry-after": formatdate(1_000_003, usegmt=True), "date": formatdate(1_000_001, usegmt=True)}, 2.0),
    ],
)
def test_how_long_to_wait(headers, seconds):
    """Seconds, milliseconds or a date, told by the server's own clock where it shows it; or nothing usable."""
    assert retry_after(headers, now=1_000_000.0) == seconds
