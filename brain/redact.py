"""Redaction: secrets masked by the names they stand under and by what they look like.

Journal files, traces and the ``Redactor`` hook share these rules. Masking what is masked changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MASK", "Redaction", "sounds_secret"]

MASK = "[redacted]"

_DEPTH = 100  # as deep as the journal writes

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ANYWHERE = frozenset(
    {"password", "passwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials"}
)
_ANYWHERE |= {"authorization", "apikey"}
_AT_END = frozenset({"token", "cookie", "auth", "pwd", "jwt", "bearer"})
_KEY_OF = frozenset({"api", "access", "private", "secret", "signing", "encryption", "auth", "master", "client", "ssh"})

# How widespread kinds of keys look: OpenAI, Anthropic and their kin; Google; AWS; GitHub; Slack; JSON web tokens;
# what follows Bearer or Basic; passwords in addresses; private keys in PEM.
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|r8)[-_][A-Za-z0-9_-]{8,}|\bAIza[\w-]{20,}|\bAKIA[0-9A-Z]{12,}"
    r"|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bxox[a-z]-[\w-]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}|(?<=\bBearer )[\w.~+/-]{8,}=*|(?<=\bBasic )[A-Za-z0-9+/]{12,}=*"
    r"|(?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,20}PRIVATE KEY-----"
)
# "name": "value" as JSON, Python and their nested quotations write it.
_QUOTED = re.compile(
    r"""(\\{0,7}["'])([A-Za-z][\w .-]{1,60})\1(\s{0,5}[:=]\s{0,5})(?:(\\{0,7}["'])(.{0,2000}?)(?<!\\)\4|-?\d[\d.]*)"""
)
# name=value; and, at the beginning of a line, name: value, as headers have it.
_ASSIGNED = re.compile(r"\b([A-Za-z][\w-]{1,60})=([^\s\"'&,;{}\[\]][^\s\"'&,;{}]{0,4000})")
_HEADER = re.compile(r"^[ \t]{0,20}([A-Za-z][\w-]{1,60}): {0,5}([^\s\"'{}\[\]][^\n\"'{}]{0,4000})", re.MULTILINE)


def sounds_secret(name: str, more: Iterable[str] = ()) -> bool:
    """Return whether a value under this name is likely to be a secret."""
    words = [word.lower() for word in _WORDS.findall(name[:200])]
    if not words:
        return False
    if "".join(words) in more or words[-1] in _AT_END or not _ANYWHERE.isdisjoint(words):
        return True
    return "key" in words and not _KEY_OF.isdisjoint(words)


class Redaction:
    """Masks secrets in texts and in plain values.

    Args:
        keys: further names whose values are masked; case, ``_`` and ``-`` do not matter.
        secrets: texts that are masked wherever they stand.
    """

    __slots__ = ("_keys", "_secrets")

    def __init__(self, *, keys: Iterable[str] = (), secrets: Iterable[str] = ()) -> None:
        self._keys = frozenset("".join(word.lower() for word in _WORDS.findall(key)) for key in keys)
        self._secrets = sorted({each for each in secrets if each}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text with what is secret in it masked."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        if "=" in text or ":" in text:
            text = _QUOTED.sub(self._quoted, text)
            text = _HEADER.sub(self._plain, _ASSIGNED.sub(self._plain, text))
        return _SHAPES.sub(MASK, text)

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return a value with what is secret in it masked; the same object where nothing is."""
        if isinstance(value, str):
            masked = self.text(value)
            return value if masked == value else masked
        if depth > _DEPTH:
            return value
        if isinstance(value, Mapping):
            made = {key: self._under(key, each, depth + 1) for key, each in value.items()}
            return value if all(made[key] is each for key, each in value.items()) else made
        if isinstance(value, list | tuple):
            listed = [self.value(each, depth + 1) for each in value]
            if all(new is old for new, old in zip(listed, value, strict=True)):
                return value
            return listed if isinstance(value, list) else tuple(listed)
        return value

    def _under(self, key: Any, value: Any, depth: int) -> Any:
        if isinstance(key, str) and sounds_secret(key, self._keys):
            return _all_masked(value, depth)
        return self.value(value, depth)

    def _quoted(self, match: re.Match[str]) -> str:
        quote, name, between, opening, inner = match.groups()
        if not sounds_secret(name, self._keys) or inner in ("", MASK):
            # The value may hold names of its own; what is nested in quotes is looked at again.
            if inner and ("=" in inner or ":" in inner):
                return f"{quote}{name}{quote}{between}{opening}{_QUOTED.sub(self._quoted, inner)}{opening}"
            return match[0]
        opening = opening or quote
        return f"{quote}{name}{quote}{between}{opening}{MASK}{opening}"

    def _plain(self, match: re.Match[str]) -> str:
        if not sounds_secret(match[1], self._keys):
            return match[0]
        return match[0][: match.start(2) - match.start()] + MASK


def _all_masked(value: Any, depth: int) -> Any:
    """Return a value that stood under a secret name: its shape stays, what it says does not."""
    if value is None or isinstance(value, bool) or value in ("", MASK):
        return value
    if isinstance(value, Mapping) and depth <= _DEPTH:
        return {key: _all_masked(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list) and depth <= _DEPTH:
        return [_all_masked(each, depth + 1) for each in value]
    return MASK
