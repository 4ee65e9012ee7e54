"""``DockerSandbox`` for the checker of the sandbox cases; BRAIN_DOCKER_HOST and BRAIN_DOCKER_IMAGE say which engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, os.environ.get("BRAIN_ROOT") or str(Path(__file__).resolve().parents[2]))

from brain.sandbox.docker import DockerSandbox

PROTOCOL = {
    "frame": "len4be",
    "call": '{"t":"call","id":%ID%,"name":%NAME%,"args":%ARGS%,"kwargs":%KWARGS%}',
    "done": '{"t":"done","error":null,"answer":[%VALUE%]}',
}

HOST = os.environ.get("BRAIN_DOCKER_HOST")
SANDBOX = DockerSandbox(os.environ.get("BRAIN_DOCKER_IMAGE", "brain-python"), host=HOST, require=())


def run_program(code, tools, timeout, max_tool_calls):
    report = SANDBOX.run(code, tools, timeout=timeout, max_tool_calls=max_tool_calls)
    return SimpleNamespace(
        ok=report.ok,
        output=report.output,
        error=report.error,
        value=report.value,
        checks=dict(report.guarantees),
        notes=dict(report.notes),
    )


def leftovers():
    """Containers of past runs that are still there."""
    command = [
        "docker",
        *(["--host", HOST] if HOST else []),
        "ps",
        "--all",
        "--quiet",
        "--filter",
        "label=brain.sandbox",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.split()
