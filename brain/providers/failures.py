"""What went wrong at a server, told from the status, the body and the headers of its answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from brain.errors import ProviderError

__all__ = ["error_in", "failed", "retry_after", "said_by"]

_SHOWN = 500  # characters of the server's own words in a message: enough for a sentence or two

_BY_STATUS = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "timeout",
    409: "api",
    410: "not_found",
    425: "api",
    429: "rate_limit",
    451: "content_filter",
}
# Worth another try, as the official clients have it (408, 409, 429, 5xx), but for what a second try cannot change.
_RETRIED = {408, 409, 425, 429}
_FINAL = {501, 505}

# Words in a server's `code` or `type`, most telling first. The same words mean the same on all servers.
_BY_CODE = (
    ("content_filter", ("content_filter", "content_policy", "responsibleai", "moderation", "safety")),
    ("quota", ("quota", "billing", "credit", "payment", "balance")),
    ("rate_limit", ("rate_limit", "ratelimit", "too_many_requests", "resource_exhausted")),
    ("auth", ("auth", "api_key", "permission", "forbidden", "access_denied")),
    ("not_found", ("not_found", "unknown_model")),
    (
        "bad_request",
        ("invalid", "context_length", "context_size", "unsupported", "bad_request", "too_large", "badrequest"),
    ),
    ("timeout", ("timeout", "deadline_exceeded")),
    ("server", ("overloaded", "server", "internal", "unavailable", "api_error", "upstream", "engine")),
)
_MAY_PASS = {"rate_limit", "server", "timeout", "connection", "api"}

_HINTS = {
    "auth": "check the API key",
    "not_found": "check base_url and model",
    "quota": "the account has no credit left",
}


def failed(
    status: int | None,
    data: Any,
    text: str,
    headers: Mapping[str, str],
    *,
    where: str,
    now: float,
) -> ProviderError:
    """Return the error that an answer of a server amounts to.

    Args:
        status: the HTTP status; ``None`` for an error that came inside a stream.
        data: the decoded body, if it is JSON.
        text: the body as text.
        headers: the headers of the answer, names in lower case.
        where: the address, for the message.
        now: seconds since the epoch, for dates in ``Retry-After``.
    """
    words, codes, inner = said_by(data, text)
    code = inner if status in (None, 200) else status
    known = next((kind for kind, hints in _BY_CODE if any(hint in each for hint in hints for each in codes)), "")
    kind, retryable = _kind(code, known)
    told = headers.get("x-should-retry", "").strip().lower()
    if told in ("true", "false"):
        retryable = told == "true"
    number = f"HTTP {status}" if status not in (None, 200) else f"error{f' {inner}' if inner else ''}"
    hint = f" ({_HINTS[kind]})" if kind in _HINTS else ""
    return ProviderError(
        f"{number} from {where}: {words or 'the server gave no reason'}{hint}",
        kind=kind,
        status=status,
        retryable=retryable,
        request_id=(headers.get("x-request-id") or headers.get("request-id") or "")[:200],
        retry_after=retry_after(headers, now),
    )


def _kind(code: int | None, known: str) -> tuple[str, bool]:
    if code is None or not 300 <= code < 600:
        kind = known or "api"
        return kind, kind in _MAY_PASS
    if code < 400:
        return "redirect", False
    if code >= 500:
        # A quota or a bad request is no better for being reported as a server's failure.
        return ("server", code not in _FINAL) if known not in ("quota", "content_filter") else (known, False)
    if code == 429 and known == "quota":
        return "quota", False
    if code in (400, 403, 413, 422) and known in ("content_filter", "quota", "rate_limit"):
        return known, known == "rate_limit"
    return _BY_STATUS.get(code, "bad_request"), code in _RETRIED


def error_in(data: Any) -> Any:
    """Return the error that a body with status 200 holds, ``None`` if it holds none."""
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, Mapping):
        return None
    if data.get("error"):
        return data
    if data.get("type") == "error" or data.get("object") == "error":
        return data
    if not any(key in data for key in ("choices", "content", "output")) and (data.get("errors") or data.get("detail")):
        return data
    return None


def said_by(data: Any, text: str) -> tuple[str, list[str], int | None]:
    """Return what a server said about an error: its words, its codes in lower case, and a status it named."""
    codes: list[str] = []
    status: int | None = None
    words = ""
    place = data
    for _ in range(6):  # error objects are nested two or three deep at most
        if isinstance(place, list):
            place = place[0] if place else None
        if isinstance(place, str):
            words = words or place
        if not isinstance(place, Mapping):
            break
        for key in ("code", "type", "status", "status_code", "statusCode"):
            named = place.get(key)
            if isinstance(named, str) and named.isdecimal() and len(named) == 3:
                named = int(named)
            if isinstance(named, int) and not isinstance(named, bool):
                status = status or named
            elif isinstance(named, str):
                codes.append(re.sub(r"[\s-]+", "_", named.lower()))
        for key in ("message", "msg", "error_description", "title"):
            said = place.get(key)
            if isinstance(said, str) and said.strip():
                words = words or said
        param = place.get("param")
        if isinstance(param, str) and param and param not in words:
            words = f"{words} (param {param})".strip()
        place = next((place[key] for key in ("error", "errors", "detail", "message") if place.get(key)), None)
    if not words:
        words = json.dumps(data, ensure_ascii=False) if data is not None else _plain(text)
    words = " ".join(words.split())
    return (words if len(words) <= _SHOWN else words[:_SHOWN] + "…"), codes, status


def _plain(text: str) -> str:
    """Return the readable part of a page that stands in place of an answer."""
    text = text[:20_000]
    if "<" in text:
        text = re.sub(r"(?is)<(script|style)\b.*?(</\1>|$)", " ", text)
        text = re.sub(r"<[^<>]{0,1000}>", " ", text)
    return text


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds a server asks to wait: ``retry-after-ms``, or ``Retry-After`` as seconds or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            if unit != 1.0:
                continue
            from email.utils import parsedate_to_datetime

            try:
                then = parsedate_to_datetime(value).timestamp()
                if headers.get("date"):  # the server's clock may be another than ours
                    now = parsedate_to_datetime(headers["date"]).timestamp()
            except (ValueError, TypeError, OverflowError, IndexError):
                continue
            seconds = max(then - now, 0.0)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None
