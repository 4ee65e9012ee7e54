"""Runs the program, with the host's tools as ordinary functions in it.

Everything in this process is the program's to change, and the host believes nothing of it: what is here is
for the program's good, not for the host's safety.
"""

from __future__ import annotations

import _thread
import builtins
import io
import os
import sys

from brain.sandbox.inside.wire import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["REPLIES", "REQUESTS", "Channel", "ToolBudgetExceeded", "ToolError", "run"]

REQUESTS, REPLIES = 3, 4
"""The descriptors of the channel in the program's process."""
_NAME = "<program>"
_ERROR_CHARS = 8000


class ToolError(Exception):
    """A tool failed; the class of the error has the name that it has on the host."""


class ToolBudgetExceeded(Exception):  # its name is part of the protocol that models are told of
    """The program has made all the tool calls it may make; the tool did not run."""


class _Answered(BaseException):
    """The program gave its answer, and is done."""


class Channel:
    """Frames to and from the host: four bytes of length, then JSON."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._read, self._write = os.read, os.write
        self._data = bytearray()
        self._number = 0
        self._replies: dict[int, dict[str, Any]] = {}
        self._sending, self._calling = _thread.RLock(), _thread.RLock()

    def send(self, text: str) -> None:
        """Send a frame."""
        body = text.encode()
        data = memoryview(len(body).to_bytes(4, "big") + body)
        with self._sending:
            while data:
                data = data[self._write(REQUESTS, data) :]

    def receive(self) -> Any:
        """Return the next frame from the host; what an exception in between left half read is kept."""
        data = self._data
        while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
            part = self._read(REPLIES, 1 << 16)
            if not part:
                os._exit(1)
            data += part
        end = 4 + int.from_bytes(data[:4], "big")
        text = data[4:end].decode()
        del data[:end]
        return loads(text)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a tool of the host; threads take turns, and each gets its own reply."""
        body = (
            f'"name":{dumps(name, self._room)},"args":{dumps(list(args), self._room, sets=False, tuple_keys=False)},'
            f'"kwargs":{dumps(kwargs, self._room, sets=False, tuple_keys=False)}}}'
        )
        if 4 * len(body) > self._room and len(body.encode()) > self._room:
            raise ValueError(f"the arguments of {name} are too large: {self._room} bytes may cross in one call")
        with self._calling:
            self._number = number = self._number + 1
            self.send(f'{{"t":"call","id":{number},{body}')
            while number not in self._replies:
                reply = self.receive()
                self._replies[reply["id"]] = reply
            reply = self._replies.pop(number)
        if reply["t"] == "result":
            return reply["value"]
        raise _error(reply["type"], reply["message"])


def _error(kind: str, message: str) -> Exception:
    """Make the exception that a tool raised on the host: the builtin of that name, or a ``ToolError``."""
    if kind == "ToolBudgetExceeded":
        return ToolBudgetExceeded(message)
    known = getattr(builtins, kind, None)
    if (
        isinstance(known, type)
        and issubclass(known, Exception)
        and not issubclass(known, (StopIteration, StopAsyncIteration))
    ):
        try:
            raised: Exception = known(message)
            return raised
        except TypeError:  # one that wants more than a message, such as UnicodeDecodeError
            pass
    made: type[ToolError] = type(kind, (ToolError,), {"__module__": "tools"})
    return made(message)


def run(channel: Channel, message: dict[str, Any]) -> None:
    """Run the program of a message, and tell the host how it ended."""
    module = type(sys)("tools")
    module.__doc__ = "The tools of this run."
    given: dict[str, Any] = {"ToolError": ToolError, "ToolBudgetExceeded": ToolBudgetExceeded}
    for tool in message["tools"]:
        given[tool["alias"]] = _stub(channel, tool)
    answer: list[str] = []
    given["final_answer"] = _final(answer, message["room"])
    vars(module).update(given)
    sys.modules["tools"] = module
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # which the site module, left out here, would have brought
    main = sys.modules["__main__"] = type(sys)("__main__")
    vars(main).update({"__builtins__": builtins, **given})
    sys.argv = [_NAME]

    error = _execute(message["program"], vars(main))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: S112  # the program may have closed or replaced it
            continue
    given_answer = "".join(answer) if error == "null" else ""
    channel.send(f'{{"t":"done","error":{error},"answer":[{given_answer}]}}')


def _stub(channel: Channel, tool: dict[str, Any]) -> Callable[..., Any]:
    """Make the function that stands for a tool; wrong arguments raise in the program and reach nobody."""
    name, alias, names, renamed = tool["name"], tool["alias"], tool["names"], tool["renamed"]
    scope: dict[str, Any] = {
        "_defaults": [_Shown(each[0]) if type(each) is tuple else each[0] for each in tool["defaults"]]
    }
    exec(f"def {alias}{tool['header']}: pass", scope)  # noqa: S102  # written by the host
    shape = scope[alias]

    def stub(*args: Any, **kwargs: Any) -> Any:
        shape(*args, **kwargs)
        if names:
            kwargs = dict(zip(names, args, strict=False)) | {
                renamed.get(key, key): value for key, value in kwargs.items()
            }
            args = ()
        return channel.call(name, args, kwargs)

    stub.__name__ = stub.__qualname__ = alias
    stub.__module__, stub.__doc__ = "tools", tool["doc"]
    stub.__wrapped__ = shape  # type: ignore[attr-defined]  # where inspect and help() find the signature
    return stub


class _Shown:
    """A default that cannot cross; it is only ever shown, since an argument not given is not sent."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _final(answer: list[str], room: int) -> Callable[[Any], Any]:
    def final_answer(value: Any) -> Any:
        """Give the program's answer and end the program."""
        text = dumps(value, room, tuple_keys=False)
        if 4 * len(text) > room and len(text.encode()) > room:
            raise ValueError(f"the answer is too large: {room} bytes may cross")
        if not answer:
            answer.append(text)
        raise _Answered

    return final_answer


def _execute(source: str, scope: dict[str, Any]) -> str:
    """Run the text of a program; return its error as JSON, or ``null``."""
    try:
        exec(compile(source, _NAME, "exec", dont_inherit=True), scope)  # noqa: S102  # what all of this is for
    except _Answered:
        return "null"
    except SystemExit as end:
        if end.code is None or end.code == 0:
            return "null"
        return _told("SystemExit", f"the program ended itself with sys.exit({end.code!r})")
    except BaseException as error:
        return _told(type(error).__name__, _explain(error, source))
    return "null"


def _told(kind: str, text: str) -> str:
    if len(text) > _ERROR_CHARS:
        head, tail = _ERROR_CHARS // 4, 3 * _ERROR_CHARS // 4
        text = f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"
    clean = [each.encode("utf-8", "backslashreplace").decode() for each in (kind[:200], text)]
    return dumps({"type": clean[0], "text": clean[1]}, 10 * _ERROR_CHARS)


def _explain(error: BaseException, source: str) -> str:
    """Write the traceback of an error as the program's author would want it: from the program's first line on."""
    try:
        import linecache
        import traceback

        linecache.cache[_NAME] = (len(source), None, source.splitlines(True), _NAME)
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != _NAME:
            trace = trace.tb_next
        return "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    except BaseException as second:  # its own __str__ may raise; the traceback module may not be readable
        try:
            return f"{type(error).__name__}: {error}"
        except BaseException:
            return f"{type(error).__name__} (and its text could not be had: {type(second).__name__})"


class Printed(io.RawIOBase):
    """Standard output as frames, where there is no third pipe to the host."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, data: Any) -> int:
        """Send bytes that were printed."""
        data = bytes(data)[:32768]
        self._channel.send(f'{{"t":"out","data":"{data.hex()}"}}')
        return len(data)


def text_output(raw: Any) -> io.TextIOWrapper:
    """Make a text stream that takes any text and sends each line when it is whole."""
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)
