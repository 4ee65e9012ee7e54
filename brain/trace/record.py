"""A result as plain data that strict JSON can hold."""

from __future__ import annotations

import dataclasses
from typing import Any

from brain.redact import Redaction
from brain.tools import plain
from brain.types import PatternResult, Step

__all__ = ["to_dict"]


def to_dict(result: PatternResult) -> dict[str, Any]:
    """Return a result as a dict of plain values, its keys always in the same order.

    In the steps, secrets are masked: what stands under names such as ``password``, and what looks like a key.
    """
    return {
        "answer": result.answer,
        "ok": result.ok,
        "error": result.error,
        "state": result.state,
        "iterations": result.iterations,
        "path": list(result.path),
        "seconds": round(result.seconds, 6),
        "usage": plain(result.usage),
        "steps": [_step(step) for step in result.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    said = {each.name: plain(getattr(step, each.name)) for each in dataclasses.fields(step)}
    said["seconds"] = round(step.seconds, 6)
    masked: dict[str, Any] = Redaction().value(said)
    return masked
