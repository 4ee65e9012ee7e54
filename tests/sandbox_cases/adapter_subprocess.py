"""``SubprocessSandbox`` for the checker of the sandbox cases.

BRAIN_SANDBOX_OFF names layers to switch off (``namespaces,landlock``); nothing is required, so that what is
left of the layers is tried and what is claimed of it compared.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, os.environ.get("BRAIN_ROOT") or str(Path(__file__).resolve().parents[2]))

from brain.sandbox.local import SubprocessSandbox

PROTOCOL = {
    "frame": "len4be",
    "call": '{"t":"call","id":%ID%,"name":%NAME%,"args":%ARGS%,"kwargs":%KWARGS%}',
    "done": '{"t":"done","error":null,"answer":[%VALUE%]}',
}

SANDBOX = SubprocessSandbox(
    require=(), off=[each for each in os.environ.get("BRAIN_SANDBOX_OFF", "").split(",") if each]
)


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
