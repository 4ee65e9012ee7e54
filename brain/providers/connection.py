"""Sockets that keep to a deadline, and HTTP connections made of them.

A socket's timeout is for one operation: a server that sends a byte a second never runs into it. So
every operation here is given what is left until the deadline, if that is less than the timeout.

This module is imported at the first request, because it needs ``http.client`` and ``ssl``.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from brain.providers.endpoint import Endpoint, is_loopback

__all__ = ["Connection", "Pace", "connect"]


class Pace:
    """How long things may take: each operation, and all of them together."""

    def __init__(self, timeout: float, deadline: float, clock: Callable[[], float]) -> None:
        self.timeout = timeout
        self._clock = clock
        self._ends = clock() + deadline

    def left(self, most: float | None = None) -> float:
        """Return the seconds the next operation may take.

        Raises:
            TimeoutError: the deadline has passed.
        """
        left = self._ends - self._clock()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return min(left, self.timeout if most is None else most)


class _Paced:
    """As much of a socket as ``http.client`` uses, at a pace."""

    def __init__(self, sock: socket.socket, pace: Pace) -> None:
        self._sock = sock
        self._pace = pace

    def sendall(self, data: Any) -> None:
        self._sock.settimeout(self._pace.left())
        self._sock.sendall(data)

    def receive_into(self, buffer: Any) -> int:
        self._sock.settimeout(self._pace.left())
        return self._sock.recv_into(buffer)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self))

    def close(self) -> None:
        # http.client closes the connection while the last response is still being read; see Connection.end.
        pass


class _Reader(io.RawIOBase):
    def __init__(self, source: _Paced) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.receive_into(buffer)


class Connection(http.client.HTTPConnection):
    """One HTTP connection for one request; ``end()`` closes it."""

    def __init__(self, raw: socket.socket, pace: Pace, host: str) -> None:
        super().__init__(host)
        self._raw = raw
        self.sock = _Paced(raw, pace)
        self.auto_open = 0
        self.proxied = False
        self.proxy_headers: dict[str, str] = {}

    def end(self) -> None:
        """Close the connection for good."""
        self.close()
        self._raw.close()


def connect(endpoint: Endpoint, pace: Pace, *, patience: float, context: ssl.SSLContext | None) -> Connection:
    """Open a connection to an endpoint, through the proxy that the environment names, if it names one."""
    proxy = None if is_loopback(endpoint.host) or proxy_bypass(endpoint.host) else getproxies().get(endpoint.scheme)
    if not proxy:
        raw = _reach(endpoint.host, endpoint.port, pace, patience)
        return _finished(raw, endpoint, pace, context)
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http" or not parts.hostname:
        raise OSError(
            f"the proxy for {endpoint.scheme} has the scheme {parts.scheme!r}; only http:// proxies work here"
        )
    login = {}
    if parts.username:
        from base64 import b64encode

        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login["Proxy-Authorization"] = "Basic " + b64encode(pair.encode()).decode("ascii")
    raw = _reach(parts.hostname, parts.port or 80, pace, patience)
    if endpoint.scheme == "https":
        try:
            _tunnel(raw, endpoint, pace, login)
        except BaseException:
            raw.close()
            raise
        return _finished(raw, endpoint, pace, context)
    connection = Connection(raw, pace, endpoint.netloc)
    connection.proxied = True
    connection.proxy_headers = login
    return connection


def _reach(host: str, port: int, pace: Pace, patience: float) -> socket.socket:
    """Connect to the first address of a host that answers. (Only the look-up of its name knows no time limit.)"""
    failure: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        raw = None
        try:
            raw = socket.socket(family, kind, protocol)
            raw.settimeout(pace.left(patience))
            raw.connect(address)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return raw
        except OSError as error:
            failure = error
            if raw is not None:
                raw.close()
    raise failure or OSError(f"{host} has no address")


def _finished(raw: socket.socket, endpoint: Endpoint, pace: Pace, context: ssl.SSLContext | None) -> Connection:
    if endpoint.scheme == "https":
        try:
            raw.settimeout(pace.left())  # the handshake as a whole
            raw = (context or ssl.create_default_context()).wrap_socket(raw, server_hostname=endpoint.host)
        except BaseException:
            raw.close()
            raise
    return Connection(raw, pace, endpoint.netloc)


def _tunnel(raw: socket.socket, endpoint: Endpoint, pace: Pace, login: dict[str, str]) -> None:
    """Ask a proxy for a way through; it sees the host and port, and none of our headers."""
    place = f"[{endpoint.host}]:{endpoint.port}" if ":" in endpoint.host else f"{endpoint.host}:{endpoint.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", *(f"{name}: {value}" for name, value in login.items())]
    paced: Any = _Paced(raw, pace)
    paced.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
    response = http.client.HTTPResponse(paced, method="CONNECT")
    response.begin()
    if response.status != 200:
        raise OSError(f"the proxy refused a way to {place}: {response.status} {response.reason}")
