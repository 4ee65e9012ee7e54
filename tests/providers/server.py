"""A model server for tests: it serves what a test gives it, in turn, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CERTIFICATE = Path(__file__).with_name("tls.pem")
"""A key made for these tests and no other use, and its certificate: for 127.0.0.1 and far.example.test."""


def trusting() -> ssl.SSLContext:
    """TLS settings that trust the certificate of the tests."""
    return ssl.create_default_context(cafile=str(CERTIFICATE))


@dataclass
class Asked:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    text: str
    body: Any = None


@dataclass
class FakeServer:
    """Serves responses on a loopback port. A response is a dict:

    ``status``, ``headers``, and one of ``body`` (JSON, or text as it is), ``body_text``, ``sse`` (lines),
    ``chunks`` (of a chunked body), ``drip`` (bytes, one each ``every`` seconds until the client goes);
    ``close`` breaks the connection off after it; ``hang`` never answers; ``drop`` hangs up at once.
    The last response is served again when there are no more. A callable is asked for the response.
    """

    responses: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    tls: bool = False
    """Whether to speak TLS, with a certificate that ``trusting()`` trusts."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._serve(self)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128
            block_on_close = False

            def handle_error(self, *_: Any) -> None:
                pass  # the client went: it says so itself

        self._server = Server(("127.0.0.1", 0), Handler)
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        text = handler.rfile.read(int(handler.headers.get("Content-Length", 0))).decode()
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        with self._lock:
            self.asked.append(Asked(handler.path, {k.lower(): v for k, v in handler.headers.items()}, text, body))
            response = self.responses[min(len(self.asked), len(self.responses)) - 1]
        handler.close_connection = True
        if callable(response):
            response = response(self.asked[-1])
        if response.get("drop"):
            return
        if response.get("hang"):
            self.over.wait(30)
            return
        headers = {k: v.replace("$PORT", str(self.port)) for k, v in response.get("headers", {}).items()}
        names = {name.lower() for name in headers}
        if "sse" in response:
            payload = "\n".join(response["sse"]).encode() + b"\n"
        elif "body_text" in response:
            payload = response["body_text"].encode()
        else:
            body = response.get("body", "")
            payload = (
                body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
            )
        handler.send_response(response.get("status", 200))
        for name, value in headers.items():
            handler.send_header(name, value)
        if "content-type" not in names:
            handler.send_header("Content-Type", "text/event-stream" if "sse" in response else "application/json")
        unbounded = "sse" in response or "chunks" in response or "drip" in response
        if "content-length" not in names and not unbounded:
            handler.send_header("Content-Length", str(len(payload)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        out = handler.wfile
        if "chunks" in response:
            for chunk in response["chunks"]:
                data = chunk.encode()
                out.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                out.flush()
            if not response.get("close"):
                out.write(b"0\r\n\r\n")
        elif "drip" in response:
            for byte in response["drip"]:
                out.write(bytes([byte]))
                out.flush()
                if self.over.wait(response.get("every", 0.05)):
                    return
        else:
            out.write(payload)
        out.flush()
        if response.get("reset"):
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def chat(text: str | None = "hello", *, reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A Chat Completions answer."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }
