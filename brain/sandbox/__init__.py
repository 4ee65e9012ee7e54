"""Executors for programs that models write: confined, bridged to the host's tools, honest about both.

    from brain.sandbox import sandbox

    report = sandbox("auto").run("print(add(1, 2))", {"add": lambda a, b: a + b})

A guarantee is what was tried in the program's own process and failed there; where a required one does not
hold, the program is not run. The language is no boundary: a program has all of Python, and what confines it
is the kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brain.sandbox.base import BY_CONSTRUCTION, GUARANTEES, MARKER, OnCall, ProgramReport, Sandbox
    from brain.sandbox.choose import sandbox
    from brain.sandbox.docker import DockerSandbox
    from brain.sandbox.local import LAYERS, SubprocessSandbox
    from brain.sandbox.signatures import ToolFace, aliases, faces

__all__ = [
    "BY_CONSTRUCTION",
    "GUARANTEES",
    "LAYERS",
    "MARKER",
    "DockerSandbox",
    "OnCall",
    "ProgramReport",
    "Sandbox",
    "SubprocessSandbox",
    "ToolFace",
    "aliases",
    "faces",
    "sandbox",
]

_HOME = {
    "DockerSandbox": "docker",
    "LAYERS": "local",
    "SubprocessSandbox": "local",
    "ToolFace": "signatures",
    "aliases": "signatures",
    "faces": "signatures",
    "sandbox": "choose",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_HOME.get(name, 'base')}"), name)
    globals()[name] = value
    return value
