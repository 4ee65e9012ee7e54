"""The host's end of the channel to a program. Nothing that comes through it is believed.

A frame is four bytes of length and JSON. Its length is checked before it is read, its depth before it is
parsed, its keys and types before it is used; anything else ends the run. No read or write here blocks: a
program that sends half a frame, or never reads its replies, runs into its deadline and holds nobody up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from brain.sandbox.base import OnCall
from brain.sandbox.inside.wire import dumps, loads

__all__ = ["FRAME", "ROOM", "Bridge", "Ended", "Limits"]

FRAME = (1 << 20) + (1 << 16)
"""Bytes of one frame from a program: a mebibyte of value, and what is around it."""
ROOM = FRAME - (1 << 15)
"""Bytes of the values in one."""
_REPLY = 4 << 20  # bytes of one result, and of results that a program has not read yet
_TRAFFIC = 256 << 20  # bytes of all frames from a program
_FLOOD = 64 << 20  # bytes of output that are drained before a program is ended for it
_REFUSED = 1000  # calls that are answered with a refusal before a program is ended for them
_MESSAGE = 2000  # characters of a tool's error


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use."""

    seconds: float
    calls: int
    output: int = 1 << 18
    """Bytes of standard output that are kept, and as many of standard error."""


class Ended(Exception):  # not an error: how a run ended
    """The host's side ended the run."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(slots=True)
class _Kept:
    """The beginning of a stream, and how much there was."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    seen: int = 0

    def add(self, part: bytes) -> None:
        self.seen += len(part)
        self.data += part[: max(self.limit - len(self.data), 0)]

    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


class Bridge:
    """One run's conversation over four descriptors, which stay the caller's to close.

    Args:
        requests: frames from the program.
        replies: frames to it.
        out: its standard output; -1 where that comes in frames.
        err: its standard error.
        limits: what it may use.
        first: bytes to send before anything else.
    """

    def __init__(self, requests: int, replies: int, out: int, err: int, limits: Limits, first: bytes = b"") -> None:
        import select

        self._requests, self._replies, self._limits = requests, replies, limits
        self._framed_output = out < 0
        self._deadline = 0.0
        self._buffer = bytearray()
        self._traffic = 0
        self._pending = bytearray(first)
        self._stalled = False
        self._streams = {fd: _Kept(limits.output) for fd in (out, err) if fd >= 0}
        self.out = self._streams[out] if out >= 0 else _Kept(limits.output)
        self.err = self._streams[err]
        self.calls = 0
        """Calls passed on to a tool."""
        self.refused = 0
        """Calls that were not."""
        self.over_budget = False
        """Whether a call past the budget was asked for."""
        self._poll = select.poll()
        self._writing = select.POLLOUT
        for fd in (requests, *self._streams):
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        os.set_blocking(replies, False)
        self._flush()

    def ready(self, seconds: float) -> dict[str, Any]:
        """Return what the launcher reports before it has the program; its word is the library's own."""
        self._deadline = time.monotonic() + seconds
        frame = self._parsed(self._frame())
        self.err.data.clear()  # what an engine says of itself is not the program's
        self.err.seen = 0
        if not isinstance(frame, dict) or frame.get("t") != "ready":
            raise Ended("channel", "the launcher did not report")
        return frame

    def converse(self, message: str, known: Collection[str], on_call: OnCall) -> dict[str, Any]:
        """Send the program, serve its calls, and return its last frame; raise ``Ended`` where there is none."""
        self._deadline = time.monotonic() + self._limits.seconds
        self._send(message)
        while True:
            frame = self._parsed(self._frame())
            kind = frame.get("t") if isinstance(frame, dict) else None
            if kind == "call":
                self._serve(frame, known, on_call)
            elif kind == "out" and self._framed_output:
                self._printed(frame)
            elif kind == "done":
                _check_done(frame)
                return frame  # type: ignore[no-any-return]
            else:
                raise Ended("channel", "the program sent a frame of no known kind on the tool channel")

    def drain(self, seconds: float = 0.0) -> None:
        """Take what is left of the output: what is there, or until the streams end, at most for some seconds."""
        deadline = time.monotonic() + seconds
        self._poll.unregister(self._requests)
        if self._stalled:
            self._poll.unregister(self._replies)
        while self._streams:
            left = deadline - time.monotonic()
            ready = [fd for fd, _ in self._poll.poll(max(left, 0) * 1000) if fd in self._streams]
            if not ready and left <= 0:
                return
            for fd in ready:
                try:
                    self._stream(fd)
                except Ended:
                    return

    # ---------------------------------------------------------------- frames in and out

    def _frame(self) -> str:
        """Wait for the next whole frame, taking care of everything else meanwhile."""
        buffer = self._buffer
        while True:
            size = int.from_bytes(buffer[:4], "big") if len(buffer) >= 4 else -1
            if size > FRAME:
                raise Ended(
                    "channel", f"the program announced a frame of {size} bytes on the tool channel; {FRAME} are allowed"
                )
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise Ended("timeout", f"the program was ended after {self._limits.seconds:g} s, its time limit")
            if 0 <= size <= len(buffer) - 4:
                body = bytes(buffer[4 : 4 + size])
                del buffer[: 4 + size]
                try:
                    return body.decode()
                except UnicodeDecodeError:
                    raise Ended("channel", "the program sent bytes that are no text on the tool channel") from None
            for fd, _ in self._poll.poll(min(left, 3600.0) * 1000):
                if fd == self._replies:
                    self._flush()
                elif fd in self._streams:
                    self._stream(fd)
                else:
                    self._read_request()

    def _read_request(self) -> None:
        try:
            part = os.read(self._requests, 1 << 18)
        except BlockingIOError:
            return
        if not part:
            raise Ended("closed", "the program ended without finishing")
        self._traffic += len(part)
        if self._traffic > _TRAFFIC:
            raise Ended("channel", f"the program sent more than {_TRAFFIC} bytes on the tool channel")
        self._buffer += part

    def _parsed(self, text: str) -> Any:
        try:
            return loads(text, tuple_keys=False)
        except ValueError as error:
            raise Ended(
                "channel", f"the program sent a malformed frame on the tool channel: {str(error)[:200]}"
            ) from None

    def _send(self, text: str) -> None:
        if len(self._pending) > _REPLY:
            raise Ended("channel", "the program asks for results and does not read them")
        body = text.encode()
        self._pending += len(body).to_bytes(4, "big") + body
        self._flush()

    def _flush(self) -> None:
        """Write what the program's pipe takes now; have the rest looked after."""
        pending = self._pending
        try:
            while pending:
                del pending[: os.write(self._replies, pending[: 1 << 16])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            pending.clear()  # it has closed its end; what it still has to say is read
        if bool(pending) is not self._stalled:
            self._stalled = not self._stalled
            if self._stalled:
                self._poll.register(self._replies, self._writing)
            else:
                self._poll.unregister(self._replies)

    # ---------------------------------------------------------------- output

    def _stream(self, fd: int) -> None:
        try:
            part = os.read(fd, 1 << 16)
        except BlockingIOError:
            return
        if not part:
            self._poll.unregister(fd)
            del self._streams[fd]
            return
        (self.out if self._streams[fd] is self.out else self.err).add(part)
        self._check_flood()

    def _printed(self, frame: dict[str, Any]) -> None:
        if frame.keys() != {"t", "data"} or type(frame["data"]) is not str:
            raise Ended("channel", "the program sent a malformed frame of output")
        try:
            self.out.add(bytes.fromhex(frame["data"]))
        except ValueError:
            raise Ended("channel", "the program sent a malformed frame of output") from None
        self._check_flood()

    def _check_flood(self) -> None:
        if self.out.seen + self.err.seen > _FLOOD:
            raise Ended("output", f"the program was ended after {_FLOOD >> 20} MiB of output")

    # ---------------------------------------------------------------- calls

    def _serve(self, frame: dict[str, Any], known: Collection[str], on_call: OnCall) -> None:
        """Make one call for the program: counted before it is made, whatever comes of it."""
        number, name, args, kwargs = _checked_call(frame)
        if name not in known:
            self._refuse(
                number,
                "NameError",
                f"there is no tool {name[:100]!r} in this run; there are: {', '.join(known) or 'none'}",
            )
            return
        if self.calls >= self._limits.calls:
            self.over_budget = True
            self._refuse(number, "ToolBudgetExceeded", "the program has used up its tool calls; the tool was not run")
            return
        self.calls += 1
        try:
            value = dumps(on_call(name, args, kwargs), _REPLY)
            if 4 * len(value) > _REPLY and len(value.encode()) > _REPLY:
                raise ValueError(f"the result of {name} is too large: {_REPLY} bytes may cross")
        except Exception as error:
            self._fail(number, type(error).__name__, _message(error))
        else:
            self._send(f'{{"t":"result","id":{number},"value":{value}}}')

    def _refuse(self, number: int, kind: str, message: str) -> None:
        self.refused += 1
        if self.refused > _REFUSED:
            raise Ended("refused_calls", f"the program was ended after {_REFUSED} calls that it may not make")
        self._fail(number, kind, message)

    def _fail(self, number: int, kind: str, message: str) -> None:
        clean = message[:_MESSAGE].encode("utf-8", "backslashreplace").decode()
        self._send(dumps({"t": "error", "id": number, "type": kind[:200], "message": clean}, FRAME))


def _message(error: Exception) -> str:
    """Return what an error says; a single text as it is, for ``str`` of a ``KeyError`` would quote it again."""
    if len(error.args) == 1 and type(error.args[0]) is str:
        return error.args[0]
    try:
        return str(error)
    except Exception as second:
        return f"(its text could not be had: {type(second).__name__})"


def _checked_call(frame: dict[str, Any]) -> tuple[int, str, list[Any], dict[str, Any]]:
    if frame.keys() == {"t", "id", "name", "args", "kwargs"}:
        number, name, args, kwargs = frame["id"], frame["name"], frame["args"], frame["kwargs"]
        if (
            type(number) is int
            and 0 <= number < 1 << 53
            and type(name) is str
            and type(args) is list
            and type(kwargs) is dict
            and all(type(key) is str for key in kwargs)
        ):
            return number, name, args, kwargs
    raise Ended("channel", "the program sent a malformed call on the tool channel")


def _check_done(frame: dict[str, Any]) -> None:
    if frame.keys() == {"t", "error", "answer"}:
        error, answer = frame["error"], frame["answer"]
        fits = error is None or (
            type(error) is dict
            and error.keys() == {"type", "text"}
            and all(type(each) is str for each in error.values())
        )
        if fits and type(answer) is list and len(answer) <= 1:
            return
    raise Ended("channel", "the program sent a malformed last frame on the tool channel")
