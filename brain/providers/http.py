"""What the dialects share: a provider that asks a server over HTTP."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.messages import Message
from brain.providers.endpoint import Endpoint
from brain.providers.failures import error_in, failed
from brain.providers.secrets import Secret
from brain.providers.sse import events
from brain.providers.transport import Answer, Transport
from brain.providers.wire import encode, malformed, mended, positive, whole
from brain.types import Reply, ToolSpec

__all__ = ["Assembler", "HTTPProvider"]


class Assembler:
    """Puts a streamed reply together, event by event."""

    complete = False
    """Whether the end of the reply has been seen."""
    done = False
    """Whether nothing more will come."""

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in one event and return the text it adds to the reply."""
        raise NotImplementedError

    def body(self) -> Any:
        """Return what the body of the answer would be, had it not been streamed."""
        raise NotImplementedError


class HTTPProvider:
    """Asks a model on a server. A dialect says how requests and replies are written.

    Args:
        base_url: where the server is, as ``https://host/v1``.
        model: the model's name there.
        api_key: the key; ``None`` reads it from the environment if the dialect has a variable for this
            very host, and sends none to other hosts. ``""`` sends none.
        api_key_env: the environment variable to read the key from, for any host.
        max_tokens: the most tokens of a reply, hidden reasoning included. There is always a cap: a model
            that finds no end would go on until the deadline.
        temperature: sent when set; some models and servers refuse it.
        stop: texts that end a reply; sent when set.
        timeout: seconds the server may be silent.
        deadline: seconds one call may take in all.
        headers: further HTTP headers; they win over those of the library.
        extra_body: further keys of the request body; they win over those of the library.
        transport: how requests are sent; by default a ``Transport`` with ``timeout`` and ``deadline``.
    """

    accepts_schema = True
    accepts_transcript = True

    path = ""
    """The resource below the base URL."""
    home = ""
    """The host whose key the environment variable ``variable`` holds."""
    variable = ""
    knows_stop = True
    """Whether the dialect has texts that end a reply."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        api_key_env: str | None = None,
        max_tokens: int = 4096,
        temperature: float | None = None,
        stop: Sequence[str] | str | None = None,
        timeout: float = 300.0,
        deadline: float = 600.0,
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        transport: Transport | None = None,
    ) -> None:
        if not isinstance(model, str):
            raise WrongType(f"model must be a str, got {type(model).__name__}")
        if not model.strip():
            raise ConfigurationError("model must name the model to ask, got an empty text")
        self.model = model.strip()
        self.endpoint = Endpoint(base_url, self.path, headers=headers)
        if api_key_env is None and api_key != "" and self.at_home:
            api_key_env = self.variable
        self.endpoint.key = Secret(api_key, env=api_key_env or "")
        self.max_tokens: int = positive("max_tokens", max_tokens, whole=True)
        self.temperature = temperature
        self.stop = [stop] if isinstance(stop, str) else list(stop or ())
        if self.stop and not self.knows_stop:
            raise ConfigurationError(f"{type(self).__name__} cannot send stop: its API does not know it")
        self.extra_body = dict(extra_body or {})
        self.transport = transport or Transport(timeout=timeout, deadline=deadline)

    @property
    def at_home(self) -> bool:
        """Whether the server is the one the dialect comes from."""
        return self.endpoint.host == self.home

    def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask the model once.

        Args:
            messages: the conversation, in the shape of Chat Completions.
            tools: tools the model may call.
            tool_choice: ``"none"``, ``"auto"``, ``"required"``, the name of a tool, or the dialect's own form.
            schema: JSON schema the reply is constrained to.

        Raises:
            ProviderError: there is no usable reply; ``kind`` says why, ``retryable`` whether to try again.
        """
        try:
            return self._generated(messages, tools, tool_choice, schema)
        except ProviderError as error:
            failure = error
        # The frames below hold what the server said, which may be the key: they are no part of the traceback.
        raise failure.with_traceback(None)

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        tool_choice: Any = "none",
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[str | Reply]:
        """Ask the model once and yield its text as it comes, then the whole reply.

        Raises:
            ProviderError: as ``generate``; also when the stream ends without its end marker.
        """
        try:
            yield from self._streamed(messages, tools, tool_choice, schema)
            return
        except ProviderError as error:
            failure = error
        raise failure.with_traceback(None)

    def _generated(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> Reply:
        body = self._request(messages, tools, tool_choice, schema)
        try:
            answer = self._post(body)
        except ProviderError as error:
            amended = self._amended(body, error)
            if amended is None:
                raise
        else:
            return self._replied(answer)
        return self._replied(self._post(amended))

    def _streamed(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> Iterator[str | Reply]:
        body = {**self._request(messages, tools, tool_choice, schema), **self._streaming()}
        lines, amended = self._lines(body), None
        try:
            first = next(lines, "")
        except ProviderError as error:
            amended = self._amended(body, error)
            if amended is None:
                raise
        if amended is not None:
            lines = self._lines(amended)
            first = next(lines, "")
        if isinstance(first, Answer):  # the server does not stream
            reply = self._replied(first)
            if reply.text:
                yield reply.text
        else:
            assembler = self._assembler()
            try:
                yield from self._chunks(chain((first,), lines), assembler)
            finally:
                lines.close()
            reply = self._read(assembler.body(), {})
        yield reply

    def _request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> dict[str, Any]:
        return {**self._body(messages, tools, tool_choice, schema), **self.extra_body}

    def _post(self, body: Mapping[str, Any]) -> Answer:
        return self.transport.post(self.endpoint, encode(body), self._headers())

    def _lines(self, body: Mapping[str, Any]) -> Generator[str | Answer, None, None]:
        return self.transport.lines(self.endpoint, encode(body), self._headers())

    def _replied(self, answer: Answer) -> Reply:
        if "event-stream" not in answer.headers.get("content-type", "").lower():
            return self._read(answer.data, answer.headers)
        assembler = self._assembler()  # the server streams whether asked to or not
        for _ in self._chunks(answer.text.split("\n"), assembler):
            pass
        return self._read(assembler.body(), answer.headers)

    def _chunks(self, lines: Iterable[Any], assembler: Assembler) -> Iterator[str]:
        """Yield the text of a stream as the assembler finds it."""
        held = broken = ""
        for _, data in events(lines):
            if broken:
                raise malformed(f"a stream event is not JSON: {self.endpoint.scrub(broken)[:200]}", self.endpoint.shown)
            if data.strip() == "[DONE]":
                assembler.complete = True
                break
            try:
                event = json.loads(data, strict=False)
            except (ValueError, RecursionError):
                broken = data or "(nothing)"
                continue
            if not isinstance(event, Mapping):
                continue
            if event.get("error") or event.get("type") == "error":
                raise self._failed(event, None, {})
            text = held + assembler.add(event)
            # Half a character at the end of a chunk waits for its other half.
            held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
            if text := whole(text.removesuffix(held)):
                yield text
            if assembler.done:
                break
        if held:
            yield whole(held)
        if broken or not assembler.complete:
            raise ProviderError(
                f"{self.endpoint.shown}: the stream broke off before its end", kind="truncated", retryable=True
            )

    def _read(self, data: Any, headers: Mapping[str, str]) -> Reply:
        if (wrong := error_in(data)) is not None:
            raise self._failed(wrong, 200, headers)
        try:
            return self._reply(mended(data))
        except RecursionError:
            problem = malformed("it is nested too deeply", self.endpoint.shown)
        except ProviderError as error:
            problem = error
        problem.args = (self.endpoint.scrub(str(problem)),)
        raise problem

    def _failed(self, data: Any, status: int | None, headers: Mapping[str, str]) -> ProviderError:
        error = failed(status, data, "", headers, where=self.endpoint.shown, now=self.transport.now())
        error.args = (self.endpoint.scrub(str(error)),)
        return error

    # What a dialect says.

    def _headers(self) -> dict[str, str]:
        return {}

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], tool_choice: Any, schema: Any
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _streaming(self) -> dict[str, Any]:
        return {"stream": True}

    def _amended(self, body: dict[str, Any], error: ProviderError) -> dict[str, Any] | None:  # noqa: ARG002
        """Return the request as a server that refused it wants it; ``None`` if there is no such request."""
        return None

    def _reply(self, data: Any) -> Reply:
        raise NotImplementedError

    def _assembler(self) -> Assembler:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.endpoint.shown!r}, {self.model!r})"
