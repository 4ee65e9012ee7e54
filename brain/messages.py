"""Messages, and the transcript that grows by them.

A message is a plain ``dict`` in the shape of Chat Completions: ``role``, ``content``, and, where
tools are involved, ``tool_calls`` or ``tool_call_id``.

A ``Transcript`` is a sequence of messages that only ever grows at its end. Adding to one gives a
new one that shares everything with the old, so a policy may hand its whole transcript to the model
at every step and a run of n steps still costs n, not n squared, in time and in memory. Each message
is hashed once, when it is first asked with; the hash of a transcript is chained from those.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

__all__ = ["Message", "Transcript", "assistant", "system", "tool_result", "user"]

Message = dict[str, Any]
"""One message: ``{"role": ..., "content": ..., ...}``."""


def system(content: str, *, cache_stable: bool = False) -> Message:
    """Make a system message; ``cache_stable`` marks the prefix that stays the same from call to call."""
    message: Message = {"role": "system", "content": content}
    if cache_stable:
        message["cache_stable"] = True
    return message


def user(content: str) -> Message:
    """Make a user message."""
    return {"role": "user", "content": content}


def assistant(content: str, tool_calls: Sequence[dict[str, Any]] = ()) -> Message:
    """Make an assistant message, with the tool calls it holds in the shape of Chat Completions."""
    message: Message = {"role": "assistant", "content": content}
    if tool_calls:
        message["tool_calls"] = list(tool_calls)
    return message


def tool_result(call_id: str, content: str) -> Message:
    """Make the message that answers the tool call ``call_id``."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


class _Log:
    """The storage that transcripts share: messages, and the digest of each prefix once it is known."""

    __slots__ = ("digests", "items")

    def __init__(self, items: list[Message]) -> None:
        self.items = items
        self.digests: list[bytes] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Log, (self.items,))


class Transcript(Sequence[Message]):
    """Messages in order; adding to a transcript gives a longer one that shares its storage.

    Args:
        messages: the first messages; the list itself is not kept.
    """

    __slots__ = ("_length", "_log")

    _log: _Log
    _length: int

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        if isinstance(messages, Transcript):
            self._log, self._length = messages._log, messages._length
        else:
            self._log = _Log(list(messages))
            self._length = len(self._log.items)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        items = self._log.items
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return items[start:stop] if step == 1 else [items[i] for i in range(start, stop, step)]
        if not -self._length <= index < self._length:
            raise IndexError(f"message {index} of {self._length}")
        return items[index % self._length]

    def __iter__(self) -> Iterator[Message]:
        # Another transcript may be growing the shared storage: stop at our own end.
        items = self._log.items
        for index in range(self._length):
            yield items[index]

    def __add__(self, more: Iterable[Message]) -> Transcript:
        added = list(more)
        longer = Transcript.__new__(Transcript)
        if self._length == len(self._log.items):
            longer._log = self._log
        else:  # somebody else has gone on from here: part ways
            longer._log = _Log(self.to_list())
            longer._log.digests = self._log.digests[: self._length]
        longer._log.items.extend(added)
        longer._length = self._length + len(added)
        return longer

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Transcript):
            if self._log is other._log:
                return self._length == other._length
            return self.to_list() == other.to_list()
        if isinstance(other, list | tuple):
            return self.to_list() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # messages are dicts, so a transcript is no key

    def __repr__(self) -> str:
        return f"Transcript({self.to_list()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Transcript, (self.to_list(),))

    def to_list(self) -> list[Message]:
        """Return the messages as a fresh list."""
        items = self._log.items
        return items[: self._length] if self._length != len(items) else items.copy()

    @property
    def storage(self) -> int:
        """A number that is equal for transcripts that share their storage; one is then a prefix of the other."""
        return id(self._log)

    def digest(self) -> bytes:
        """Return the 16 bytes that stand for all messages up to here; each is hashed only once."""
        digests = self._log.digests
        if len(digests) < self._length:
            from hashlib import blake2b

            last = digests[-1] if digests else b""
            for index in range(len(digests), self._length):
                last = blake2b(last + _bytes_of(self._log.items[index]), digest_size=16).digest()
                digests.append(last)
        return digests[self._length - 1] if self._length else b"\0" * 16


def _bytes_of(message: Message) -> bytes:
    """Return the bytes that stand for a message; most hold a role and a text, and are soon done."""
    if len(message) == 2:
        role, content = message.get("role"), message.get("content")
        if type(role) is str and type(content) is str:
            return f"{role}\0{content}".encode("utf-8", "surrogatepass")
    return b"\0" + canonical(message)


def canonical(value: Any) -> bytes:
    """Return the same bytes for equal values, whatever the order of their keys.

    Values that JSON does not know are written as their type's name and ``str``; what has an address
    in its text (a function, a bare object) is written as its type alone, so that two processes agree.
    """
    try:
        return _ENCODER.encode(value).encode("ascii")
    except (TypeError, ValueError, RecursionError):  # mixed keys do not sort, circles and deep nests do not end
        return _ENCODER.encode(_plain(value, 0)).encode("ascii")


def _other(value: Any) -> Any:
    name = type(value).__name__
    kind: Any = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return f"<{name}>"
    if callable(value):
        return f"<{name} {getattr(value, '__qualname__', '')}>"
    try:
        return f"<{name}> {value}"
    except Exception:
        return f"<{name}>"


def _plain(value: Any, depth: int) -> Any:
    if depth > 50:  # deeper than any message a server accepts; a circle never ends
        return "<deep>"
    if isinstance(value, dict):
        pairs = [[_plain(key, depth + 1), _plain(item, depth + 1)] for key, item in value.items()]
        return {"<dict>": sorted(pairs, key=repr)}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return _other(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_other)
