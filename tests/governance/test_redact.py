"""Redaction: what sounds or looks secret is masked, and nothing else."""

from __future__ import annotations

import json
import time

import pytest

from brain.redact import MASK, Redaction, sounds_secret

REDACT = Redaction()


@pytest.mark.parametrize(
    "name",
    [
        *["password", "PASSWORD", "db_password", "passwordHash", "client_secret", "clientSecret", "Authorization"],
        *["proxy-authorization", "api_key", "apiKey", "x-api-key", "API-KEY", "apikey", "access_key", "privateKey"],
        *["token", "access_token", "refreshToken", "csrf-token", "cookie", "Set-Cookie", "credentials", "auth"],
        *["ssh_key", "secretAccessKey", "passphrase", "pwd"],
    ],
)
def test_names_that_sound_secret(name: str) -> None:
    """In the ways that people and programs write them."""
    assert sounds_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *["key", "keyboard", "monkey", "tokens", "max_tokens", "token_count", "author", "authority", "secretary"],
        *["primary_key", "keys", "note", "url", "passenger", "compass", "cookies_accepted", "", "sort_key", "input"],
    ],
)
def test_names_that_do_not(name: str) -> None:
    """Words that merely hold such a word, and counts of tokens."""
    assert not sounds_secret(name)


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "hunter22"}',
        "{'password': 'hunter22'}",
        'Action Input: {"a": 1, "login": {"password": "hunter22"}}',
        '"{\\"password\\": \\"hunter22\\"}"',
        '{"body": "{\\"password\\": \\"hunter22\\"}"}',
        "password=hunter22&x=1",
        "--password=hunter22",
        "Authorization: Bearer hunter22.hunter22",
        "curl -H 'Authorization: Bearer hunter22.hunter22'",
        "https://user:hunter22@example.test/x",
        "sk-hunter22hunter22",
        "ghp_hunter22hunter22hunter22",
        '{"token": "hunter22", "n": 1}',
        "-----BEGIN PRIVATE KEY-----\nhunter22\n-----END PRIVATE KEY-----",
        '{"password": "hun\\"ter22 hunter22"}',
    ],
)
def test_secrets_in_texts_are_masked(text: str) -> None:
    """Once; masking again changes nothing."""
    once = REDACT.text(text)
    assert "hunter22" not in once
    assert MASK in once
    assert REDACT.text(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "the key is under the mat",
        '{"max_tokens": 100, "note": "ok"}',
        "https://example.test/a?b=c",
        "12:30: the author said: hello",
        "Thought: I should look it up.\nAction: search\nAction Input: api keys in general",
        "",
        '{"password": null, "secret": ""}',
    ],
)
def test_other_texts_are_left_alone(text: str) -> None:
    """Nothing is masked that is no secret."""
    assert REDACT.text(text) == text


def test_json_stays_json() -> None:
    """A masked document can still be read."""
    said = json.dumps({"a": [{"api_key": "x1"}, {"api_key": 12}], "b": "c"})
    assert json.loads(REDACT.text(said)) == {"a": [{"api_key": MASK}, {"api_key": MASK}], "b": "c"}


def test_values_are_masked_under_their_keys() -> None:
    """Nested, in lists and tuples; what holds no secret is the same object."""
    value = {"a": ({"token": "t1"}, "x"), "headers": {"Authorization": ["Bearer abc", "b"]}, "pin": 3}
    assert REDACT.value(value) == {"a": ({"token": MASK}, "x"), "headers": {"Authorization": [MASK, MASK]}, "pin": 3}
    clean = {"a": ["b", ("c", 1.5)], 3: None}
    assert REDACT.value(clean) is clean


def test_masking_is_quick_on_texts_made_to_be_slow() -> None:
    """Untrusted text of 50,000 characters takes well under a second."""
    began = time.perf_counter()
    for piece in ('"password": "', "a=", '\\"', "://a:", '"a":', "eyJ", "Bearer ", "-----BEGIN PRIVATE KEY-----"):
        REDACT.text((piece * 50_000)[:50_000])
    assert time.perf_counter() - began < 20
