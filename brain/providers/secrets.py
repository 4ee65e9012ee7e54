"""Keys and other secrets: used where they are needed, shown nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from brain.errors import ConfigurationError, ProviderError, WrongType

__all__ = ["Secret", "scrub", "sounds_secret"]

_MASK = "***"
_SHORTEST = 4  # what is shorter cannot be told from ordinary text, and no server gives out such keys

_SOUNDS_SECRET = re.compile(
    r"key|token|secret|password|passwd|auth|cookie|credential|signature|^sig$|^code$", re.IGNORECASE
)


class Secret:
    """A text that is only seen by whoever asks for it with ``reveal()``.

    It never shows in ``repr``, ``str`` or a format, and does not travel in a pickle: in another process
    it is read from its environment variable, or its absence is an error that says so.

    Args:
        value: the secret; ``None`` to read it from the environment when it is needed.
        env: name of the environment variable to fall back to.
        what: what it is, for messages.
    """

    __slots__ = ("_env", "_lost", "_value", "_what")

    def __init__(self, value: str | None = None, *, env: str = "", what: str = "the API key") -> None:
        if value is not None and not isinstance(value, str):
            raise WrongType(f"{what} must be a str, got {type(value).__name__}")
        value = (value or "").strip()  # a line end from a file or a variable is no part of a key
        if not (value.isascii() and value.isprintable()):
            raise ConfigurationError(f"{what} holds a line break or a character that no HTTP header can carry")
        self._value, self._env, self._what, self._lost = value, env, what, False

    def reveal(self) -> str:
        """Return the secret, ``""`` if there is none.

        Raises:
            ProviderError: it was lost on the way from another process.
        """
        value = self._value or (os.environ.get(self._env, "").strip() if self._env else "")
        if not value and self._lost:
            place = f"the environment variable {self._env}" if self._env else "the program that runs here"
            raise ProviderError(f"{self._what} does not travel in a pickle: give it in {place}", kind="config")
        if not (value.isascii() and value.isprintable()):
            raise ProviderError(f"the environment variable {self._env} is not usable as {self._what}", kind="config")
        return value

    def __repr__(self) -> str:
        return f"Secret({_MASK!r})" if self._value or self._env else "Secret('')"

    def __str__(self) -> str:
        return repr(self)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: Any) -> Secret:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._env, self._what, bool(self._value) or self._lost))


def _restored(env: str, what: str, lost: bool) -> Secret:
    secret = Secret(env=env, what=what)
    secret._lost = lost
    return secret


def sounds_secret(name: str) -> bool:
    """Whether a header or query parameter of this name is likely to hold a secret."""
    return bool(_SOUNDS_SECRET.search(name))


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Return the text with every secret masked, as it is and as URLs, JSON and HTTP Basic write it."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) < _SHORTEST:
            continue
        from base64 import b64encode
        from json import dumps
        from urllib.parse import quote, quote_plus

        quoted = {quote(secret), quote(secret, ""), quote_plus(secret), dumps(secret)[1:-1], repr(secret)[1:-1]}
        for form in (secret, *quoted, b64encode(secret.encode()).decode()):
            text = text.replace(form, _MASK)
    return text
