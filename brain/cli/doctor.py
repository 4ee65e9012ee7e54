"""What works on this machine, in words."""

from __future__ import annotations

import platform
import sys
from typing import Any

from brain._version import __version__
from brain.errors import BrainError
from brain.sandbox import GUARANTEES, DockerSandbox, SubprocessSandbox

__all__ = ["report"]


def report() -> str:
    """Return the state of the interpreter, and what each executor guarantees here, found by trying."""
    lines = [
        f"brain {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"  interpreter: {sys.executable}",
    ]
    for name, executor in (("subprocess", SubprocessSandbox(require=())), ("docker", DockerSandbox(require=()))):
        lines += ["", f"programs in a {name} sandbox:", *_guarantees(executor)]
    return "\n".join(lines)


def _guarantees(executor: Any) -> list[str]:
    try:
        held = executor.guarantees()
    except (BrainError, OSError) as error:
        return [f"  not here: {error}"]
    width = max(map(len, GUARANTEES))
    lines = [
        f"  {'yes' if held.get(name) else 'NO ':<3} {name:<{width}}  {meaning}" for name, meaning in GUARANTEES.items()
    ]
    missing = [name for name in GUARANTEES if not held.get(name)]
    return [*lines, "  every guarantee holds" if not missing else f"  missing: {', '.join(missing)}"]
