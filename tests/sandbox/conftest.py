"""Both executors, where they can be had here."""

from __future__ import annotations

import os
import sys

import pytest

from brain.errors import SandboxUnavailable
from brain.sandbox import DockerSandbox, SubprocessSandbox

_why_not: dict[str, str] = {}


def made(kind: str, **options):
    """Make an executor, or skip with the reason why there is none."""
    if kind not in _why_not:
        _why_not[kind] = ""
        try:
            _make(kind).check()
        except SandboxUnavailable as error:
            _why_not[kind] = str(error)
    if _why_not[kind] and kind == "docker" and "BRAIN_DOCKER_HOST" in os.environ:
        pytest.fail(f"an engine was given, and does not do: {_why_not[kind]}")
    if _why_not[kind]:
        pytest.skip(_why_not[kind])
    return _make(kind, **options)


def _make(kind: str, **options):
    if kind == "subprocess":
        return SubprocessSandbox(**options)
    return DockerSandbox(
        os.environ.get("BRAIN_DOCKER_IMAGE", "brain-python"), host=os.environ.get("BRAIN_DOCKER_HOST"), **options
    )


@pytest.fixture(params=["subprocess", "docker"])
def executor(request):
    """Each executor in turn."""
    return made(request.param)


@pytest.fixture
def make_executor():
    """``made``: an executor by name, with options."""
    return made


@pytest.fixture
def local():
    """The executor of this machine."""
    if not sys.platform.startswith("linux"):
        pytest.skip("confinement of a process is built for Linux")
    return made("subprocess")
