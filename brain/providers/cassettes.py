"""Cassettes: what a model replied, kept in a file, so that a program runs again without the model.

A cassette is JSON lines: a header with the version of the form, then one line per request with its key,
the request and the reply or the error. Keys are hashes over what a model is told (messages, tools,
schema); secrets are masked before anything is hashed or written.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from brain.errors import ConfigurationError, ProviderError
from brain.messages import Message
from brain.providers.record import (
    Redact,
    Redactor,
    error_from,
    error_record,
    masked,
    reply_from,
    reply_record,
    request_key,
    request_record,
)
from brain.providers.wrap import Wrapper, ask, ask_streaming
from brain.types import Reply, ToolSpec

__all__ = ["CassetteMismatch", "Recording", "Replaying", "cassette"]

_FORM = 1


class CassetteMismatch(BaseException):
    """A request is not on the cassette; the message shows how it differs from what is.

    It derives from ``BaseException`` so that nothing on the way makes a failed run of it: the program has
    drifted from its recording, and whoever replays it is to know.
    """


def cassette(
    path: str | Path, provider: Any = None, *, mode: str = "once", redact: Iterable[str] | Redact | None = None
) -> Recording | Replaying:
    """Return a provider that records or replays, whichever the mode says.

    Args:
        path: the file.
        provider: the model to record; not needed to replay.
        mode: ``once`` replays a cassette that exists and records one that does not; ``none`` only
            replays; ``all`` records anew.
        redact: texts to mask, or a function that masks them.
    """
    if mode not in ("once", "none", "all"):
        raise ConfigurationError(f"mode must be 'once', 'none' or 'all', got {mode!r}")
    if mode == "none" or (mode == "once" and Path(path).exists()):
        return Replaying(path, redact=redact)
    if provider is None:
        raise ConfigurationError(f"{path} is to be recorded (mode {mode!r}), which needs a provider")
    return Recording(provider, path, redact=redact)


class Recording(Wrapper):
    """Passes requests on and writes down what came of them; an existing file is begun anew.

    Args:
        provider: the provider to ask.
        path: the file to write; each line is there as soon as its reply is.
        redact: texts to mask, or a function that masks them. Keys of the provider, and what looks like
            a key, are masked in any case.
    """

    def __init__(self, provider: Any, path: str | Path, *, redact: Iterable[str] | Redact | None = None) -> None:
        super().__init__(provider)
        self.path = Path(path)
        self._redact = Redactor(redact, provider)
        self._lock = threading.Lock()
        from brain._version import __version__

        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"brain_cassette": _FORM, "library": __version__}) + "\n", encoding="utf-8")

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model and record the reply, or the error."""
        request = request_record(messages, tools, tool_choice, schema, self._redact)
        try:
            reply = ask(self.inner, messages, tools, tool_choice, schema)
        except ProviderError as error:
            self._write(request, "error", error_record(error))
            raise
        self._write(request, "reply", reply_record(reply))
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Stream a reply and record it as a whole, or the error."""
        request = request_record(messages, tools, tool_choice, schema, self._redact)
        try:
            for each in ask_streaming(self.inner, messages, tools, tool_choice, schema):
                if isinstance(each, Reply):
                    self._write(request, "reply", reply_record(each))
                yield each
        except ProviderError as error:
            self._write(request, "error", error_record(error))
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def _write(self, request: dict[str, Any], kind: str, outcome: dict[str, Any]) -> None:
        outcome = masked(json.loads(json.dumps(outcome, default=str)), self._redact)
        line = json.dumps({"key": request_key(request), "request": request, kind: outcome})
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Replaying:
    """Replies from a cassette; asks no model.

    Equal requests get their replies in the order of the recording. A request that is not on the
    cassette, or no more, is a ``CassetteMismatch`` that shows the difference to the nearest one.

    Args:
        path: the file.
        in_order: reply in the order of the file, whatever is asked.
        redact: what was masked at the recording, so that requests are the same again.
    """

    accepts_schema = True
    accepts_transcript = True

    def __init__(
        self, path: str | Path, *, in_order: bool = False, redact: Iterable[str] | Redact | None = None
    ) -> None:
        self.path = Path(path)
        self.in_order = in_order
        self._redact = Redactor(redact)
        self._lock = threading.Lock()
        self._lines = _read(self.path)
        self._left = list(range(len(self._lines)))

    @property
    def unused(self) -> int:
        """How many recorded replies have not been asked for."""
        return len(self._left)

    def check_used(self) -> None:
        """Raise ``CassetteMismatch`` if recorded replies have not been asked for."""
        if self._left:
            asked = "\n  ".join(_last(self._lines[each]["request"]) for each in self._left[:5])
            raise CassetteMismatch(f"{self.path}: {len(self._left)} recorded replies were not asked for:\n  {asked}")

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the recorded reply to this request, or raise the recorded error."""
        request = request_record(messages, tools, tool_choice, schema, self._redact)
        key = request_key(request)
        with self._lock:
            fitting = (each for each in self._left if self.in_order or self._lines[each]["key"] == key)
            found = next(fitting, None)
            if found is None:
                raise CassetteMismatch(self._miss(request))
            self._left.remove(found)
        line = self._lines[found]
        if "error" in line:
            raise error_from(line["error"])
        return reply_from(line["reply"])

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Yield the text of the recorded reply, then the reply."""
        reply = self.generate(messages, tools, tool_choice, schema=schema)
        if reply.text:
            yield reply.text
        yield reply

    def _miss(self, request: dict[str, Any]) -> str:
        head = f"{self.path} has no reply to this request"
        if not self._left:
            return f"{head}: all {len(self._lines)} recorded replies are used up; it ends with\n  {_last(request)}"
        from difflib import unified_diff

        # Requests mostly grow at their end, so the one recorded next is the one that was meant.
        recorded = _shown(self._lines[self._left[0]]["request"])
        difference = list(unified_diff(recorded, _shown(request), "recorded", "asked", lineterm="", n=2))
        return "\n".join([f"{head}; against the one recorded next:", *difference[:200]])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __repr__(self) -> str:
        return f"Replaying({str(self.path)!r})"


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"there is no cassette {path}: record it first (mode 'once' or 'all')") from None
    lines: list[dict[str, Any]] = []
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
            if number == 1:
                form = line["brain_cassette"]
                continue
            if not {"key", "request"} <= line.keys() or not line.keys() & {"reply", "error"}:
                raise KeyError("key, request and reply")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if number == len(rows) and number > 1:  # the line being written when the program died
                break
            raise ConfigurationError(f"{path}:{number} is no line of a cassette: {error!r}") from None
        lines.append(line)
    if not rows[0].strip() or form != _FORM:
        raise ConfigurationError(f"{path} is no cassette of version {_FORM}")
    return lines


def _last(request: Mapping[str, Any]) -> str:
    message = (request.get("messages") or [{}])[-1]
    return f"{message.get('role')}: {str(message.get('content'))[:200]}"


def _shown(request: Mapping[str, Any]) -> list[str]:
    return json.dumps(request, indent=1, ensure_ascii=False, sort_keys=True).splitlines()[:2000]
