"""The public surface: named, documented, and not changed by accident."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import os
from pathlib import Path
from typing import Any

import pytest

MODULES = [
    "brain",
    "brain.patterns",
    "brain.policy",
    "brain.runtime",
    "brain.testing",
    "brain.types",
    "brain.errors",
    "brain.messages",
]
MODULES += [
    "brain.tools",
    "brain.schema",
    "brain.structured",
    "brain.toolloop",
    "brain.providers",
    "brain.patterns.react",
    "brain.contract",
]
SNAPSHOT = Path(__file__).parent / "api_snapshot.json"


def public(module: str) -> dict[str, Any]:
    found = importlib.import_module(module)
    return {name: getattr(found, name) for name in sorted(found.__all__)}


def signature(value: Any) -> str:
    """Say how a public thing is used, the same way on every interpreter."""
    if inspect.isclass(value):
        if dataclasses.is_dataclass(value):
            return "class(" + ", ".join(each.name for each in dataclasses.fields(value)) + ")"
        names = [name for name in vars(value) if not name.startswith("_")]
        return f"class[{', '.join(sorted(names))}]"
    if callable(value) and not hasattr(value, "__origin__"):
        try:
            parameters = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            return type(value).__name__
        return "(" + ", ".join(each.name for each in parameters) + ")"
    return "value"


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_docstrings(module: str) -> None:
    """Classes, functions, and the public methods of classes; the first line is a sentence."""
    missing = []
    for name, value in public(module).items():
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not (inspect.getdoc(value) or "").strip():
            missing.append(name)
        if inspect.isclass(value) and value.__module__.startswith("brain"):
            for method, function in vars(value).items():
                if (
                    not method.startswith("_")
                    and inspect.isroutine(function)
                    and not inspect.getdoc(getattr(value, method))
                ):
                    missing.append(f"{name}.{method}")
    assert missing == []


def test_the_public_surface_is_the_recorded_one() -> None:
    """A change of it is made on purpose: ``BRAIN_RECORD_API=1 pytest tests/test_api.py`` records it anew."""
    surface = {module: {name: signature(value) for name, value in public(module).items()} for module in MODULES}
    if os.environ.get("BRAIN_RECORD_API"):
        SNAPSHOT.write_text(json.dumps(surface, indent=1) + "\n", encoding="utf-8")
    assert surface == json.loads(SNAPSHOT.read_text(encoding="utf-8"))
