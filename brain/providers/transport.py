"""The one way out: an HTTP request that ends in time, is bounded in size, and tells no secrets.

Rules:

- No redirect is followed: the key is for the host it was given for.
- Every failure is a ``ProviderError``. Its message, its cause and its traceback hold no secret: causes
  lose their tracebacks, because the frames of ``http.client`` hold the headers, and a cause that quotes
  a secret is left out.
- A request opens its own connection, so a transport holds no state and serves any number of threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from brain.errors import ProviderError
from brain.providers.endpoint import Endpoint
from brain.providers.failures import failed
from brain.providers.wire import positive

if TYPE_CHECKING:
    import http.client
    import ssl

    from brain.providers.connection import Connection, Pace

__all__ = ["Answer", "Transport"]

T = TypeVar("T")

_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer: its decoded JSON, or its text where that is a stream of events."""

    data: Any
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class Transport:
    """Sends requests.

    Args:
        timeout: seconds the server may be silent (connecting is given ``patience``).
        deadline: seconds a request may take in all, however busy the server seems.
        max_bytes: the longest answer accepted.
        patience: seconds to wait for a connection; 5 to 10 are usual.
        context: TLS settings; the system's certificates by default.
        connect: opens a connection; for tests.
        clock: monotonic seconds; for tests.
        now: seconds since the epoch; for tests.
    """

    def __init__(
        self,
        *,
        timeout: float = 300.0,
        deadline: float = 600.0,
        max_bytes: int = 32 << 20,
        patience: float = 10.0,
        context: ssl.SSLContext | None = None,
        connect: Callable[..., Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.timeout: float = positive("timeout", timeout)
        self.deadline: float = positive("deadline", deadline)
        self.max_bytes: int = positive("max_bytes", max_bytes, whole=True)
        self._patience = patience
        self._context = context
        self._connect = connect
        self._clock = clock
        self.now = now

    def post(self, endpoint: Endpoint, payload: bytes, headers: Mapping[str, str]) -> Answer:
        """Send a request and return the whole answer."""

        def read(response: http.client.HTTPResponse) -> Iterator[Answer]:
            yield self._answer(response, endpoint)

        (answer,) = self._exchange(endpoint, payload, {"Accept": "application/json", **headers}, read)
        return answer

    def lines(
        self, endpoint: Endpoint, payload: bytes, headers: Mapping[str, str]
    ) -> Generator[str | Answer, None, None]:
        """Send a request and yield the lines of the answer as they come.

        A server that does not stream is given its due: the one ``Answer`` is all that is yielded.
        """

        def read(response: http.client.HTTPResponse) -> Iterator[str | Answer]:
            kind = response.headers.get("content-type", "").lower()
            if "json" in kind and "event-stream" not in kind:
                yield self._answer(response, endpoint)
                return
            size = 0
            while line := response.readline(self.max_bytes + 1):
                size += len(line)
                if size > self.max_bytes:
                    raise _TooLong(f"it is longer than {self.max_bytes} bytes")
                yield line.decode("utf-8", "replace")
            if response.length:
                raise _CutOff(f"{response.length} bytes before its end")

        return self._exchange(endpoint, payload, {"Accept": "text/event-stream, application/json", **headers}, read)

    def _answer(self, response: http.client.HTTPResponse, endpoint: Endpoint) -> Answer:
        text = b"".join(self._pieces(response)).decode("utf-8-sig", "replace")
        said = _headers(response)
        streamed = "event-stream" in said.get("content-type", "").lower()  # though it was not asked to
        return Answer(None if streamed else self._decoded(text, said, endpoint), text, said)

    def _pieces(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        size = 0
        while piece := response.read(_CHUNK):
            size += len(piece)
            if size > self.max_bytes:
                raise _TooLong(f"it is longer than {self.max_bytes} bytes")
            yield piece
        if response.length:  # http.client tells of a chunked body that was cut off, and of no other
            raise _CutOff(f"{response.length} bytes before its end")

    def _decoded(self, text: str, headers: dict[str, str], endpoint: Endpoint) -> Any:
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            pass
        start = " ".join(endpoint.scrub(text[:2000])[:200].split())
        page = text.lstrip()[:1] == "<"
        what = "it is a web page, so base_url may be wrong" if page else "it is not JSON" if start else "it is empty"
        encoding = headers.get("content-encoding", "identity")
        if encoding != "identity":
            what, start = f"it is compressed ({encoding}), which was not asked for", ""
        raise ProviderError(
            f"the answer of {endpoint.shown} cannot be used: {what}{f': {start}' if start else ''}",
            kind="malformed",
            status=200,
            retryable=not page,
        )

    def _exchange(
        self,
        endpoint: Endpoint,
        payload: bytes,
        headers: Mapping[str, str],
        read: Callable[[http.client.HTTPResponse], Iterator[T]],
    ) -> Generator[T, None, None]:
        """Send a request and read a good answer; all that fails becomes a ``ProviderError``."""
        connection: Connection | None = None
        try:
            from brain.providers.connection import Pace

            connection = self._connected(endpoint, Pace(self.timeout, self.deadline, self._clock))
            _send(connection, endpoint, payload, headers)
            response = connection.getresponse()
            if not 200 <= response.status < 300:
                raise self._refusal(response, endpoint)
            yield from read(response)
            return
        except ProviderError as error:
            failure = error
        except Exception as error:
            failure = self._failure(error, endpoint)
        finally:
            if connection is not None:
                connection.end()
        raise failure  # out here, so that what was caught is not its context

    def _connected(self, endpoint: Endpoint, pace: Pace) -> Connection:
        if self._context is None and endpoint.scheme == "https" and self._connect is None:
            import ssl

            self._context = ssl.create_default_context()  # reads the system's certificates: once is enough
        from brain.providers.connection import connect

        opened: Connection = (self._connect or connect)(endpoint, pace, patience=self._patience, context=self._context)
        return opened

    def _refusal(self, response: http.client.HTTPResponse, endpoint: Endpoint) -> ProviderError:
        headers = _headers(response)
        try:  # the status says it already; a body that breaks off takes nothing away from that
            body = response.read(_CHUNK)
        except Exception:
            body = b""
        text = endpoint.scrub(body.decode("utf-8-sig", "replace"))
        if 300 <= response.status < 400:
            return ProviderError(
                f"HTTP {response.status} from {endpoint.shown}: it redirects, which is not followed with a key; "
                "set base_url to where the server really is",
                kind="redirect",
                status=response.status,
            )
        try:
            data = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            data = None
        error = failed(response.status, data, text, headers, where=endpoint.shown, now=self.now())
        error.args = (endpoint.scrub(str(error)),)  # once more: JSON may have hidden it behind escapes
        return error

    def _failure(self, error: Exception, endpoint: Endpoint) -> ProviderError:
        """Return the ``ProviderError`` for what the network or ``http.client`` raised."""
        import http.client

        inner = getattr(error, "reason", None)  # urllib wraps what happened
        cause = inner if isinstance(inner, Exception) else error
        name, retryable = type(cause).__name__, True
        if isinstance(cause, TimeoutError):
            kind, what = "timeout", f"no answer in time ({self.timeout:g} s of silence, {self.deadline:g} s in all)"
        elif isinstance(cause, _TooLong):
            kind, what, retryable = "malformed", f"the answer cannot be used: {cause}", False
        elif name == "SSLCertVerificationError":
            kind, what, retryable = "connection", f"its certificate cannot be trusted: {cause}", False
        elif isinstance(cause, OSError | http.client.IncompleteRead):
            kind, what = "connection", f"the connection failed: {_told(cause)}"
        elif isinstance(cause, http.client.HTTPException):
            kind, what = "malformed", f"the server does not speak HTTP: {_told(cause)}"
        else:
            kind, what, retryable = "malformed", f"the request could not be made: {_told(cause)}", False
        problem = ProviderError(endpoint.scrub(f"{endpoint.shown}: {what}"), kind=kind, retryable=retryable)
        if endpoint.scrub(repr(error)) == repr(error) and endpoint.scrub(str(error)) == str(error):
            problem.__cause__ = _bare(error)
        return problem

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_context": None}  # TLS settings do not travel; the system's are used there


class _TooLong(Exception):
    pass


class _CutOff(OSError):
    pass


def _send(connection: Connection, endpoint: Endpoint, payload: bytes, headers: Mapping[str, str]) -> None:
    """Write a request. A frame of its own: no traceback of ours holds what it holds."""
    target = f"{endpoint.scheme}://{endpoint.netloc}{endpoint.target()}" if connection.proxied else endpoint.target()
    connection.putrequest("POST", target, skip_accept_encoding=True)
    common = {"Content-Type": "application/json", "User-Agent": "brain", "Connection": "close", **headers}
    for name, value in {**endpoint.headers(common), **connection.proxy_headers}.items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(payload)))
    connection.endheaders(payload)


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _told(error: BaseException) -> str:
    name = type(error).__name__.lstrip("_")
    return f"{name}: {error}" if str(error) else name


def _bare(error: BaseException) -> BaseException:
    """Return an error without its traceback and its context."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
