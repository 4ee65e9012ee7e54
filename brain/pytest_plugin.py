"""A pytest plugin: models for tests that need no network.

It imports nothing of the library until a test asks for a fixture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["cassette", "no_network", "pytest_addoption", "scripted_provider"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--brain-record``."""
    parser.getgroup("brain").addoption(
        "--brain-record",
        choices=("none", "once", "all"),
        default="none",
        help="the cassettes of the cassette fixture: none (default) only replays, once records those that are "
        "missing, all records all anew",
    )


@pytest.fixture
def scripted_provider() -> Callable[..., Any]:
    """Make a ``brain.testing.ScriptedProvider``: ``scripted_provider(["Final Answer: 42"])``."""
    from brain.testing import ScriptedProvider

    return ScriptedProvider


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Make a provider that replays what a model said, or records it: ``cassette(provider)``.

    The file lies beside the test, as ``cassettes/<module>/<test>.jsonl``; ``name=`` tells several of one
    test apart. Whether a file is replayed or recorded is for ``--brain-record`` to say. Recorded replies
    that the test has not asked for fail it.
    """
    from brain.providers import CassetteMismatch, Replaying
    from brain.providers import cassette as make

    mode = request.config.getoption("--brain-record")
    made: list[Any] = []

    def load(provider: Any = None, *, name: str = "", redact: Any = None) -> Any:
        path = _place(request, name)
        if mode == "none" and not path.exists():
            pytest.fail(f"there is no cassette {path}; run once with --brain-record=once and a provider", pytrace=False)
        made.append(make(path, provider, mode=mode, redact=redact))
        return made[-1]

    yield load
    for each in made:
        if isinstance(each, Replaying):
            try:
                each.check_used()
            except CassetteMismatch as mismatch:
                pytest.fail(str(mismatch), pytrace=False)


def _place(request: pytest.FixtureRequest, name: str) -> Path:
    parts = [request.node.name, name] if name else [request.node.name]
    file = re.sub(r"[^\w.\[\]-]+", "_", "--".join(parts))
    place: Path = request.node.path
    return place.parent / "cassettes" / place.stem / f"{file}.jsonl"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test that reaches for another machine; this one stays reachable."""
    import socket

    from brain.providers.endpoint import is_loopback

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any, *rest: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(str(address[0])):
                pytest.fail(f"a test without network reached for {address[0]}:{address[1]}")
            return real(self, address, *rest)

        return connect

    def looked_up(real: Callable[..., Any]) -> Callable[..., Any]:
        def getaddrinfo(host: Any, *rest: Any, **options: Any) -> Any:
            name = host.decode() if isinstance(host, bytes) else host
            if name and not is_loopback(name):
                pytest.fail(f"a test without network looked up {name}")
            return real(host, *rest, **options)

        return getaddrinfo

    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", looked_up(socket.getaddrinfo))
