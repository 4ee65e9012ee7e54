"""Lets pytest execute the Python blocks of README.md and docs/, page by page."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any

from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

_execute = PythonEvaluator()


def _evaluate(example: Example) -> str | None:
    """Execute a block; what it prints must be what its comments ``# -> …`` say."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _execute(example)
    lines = (line.strip() for line in str(example.parsed).splitlines())
    said = [line[4:].strip() for line in lines if line.startswith("# ->")]
    got = [line.strip() for line in printed.getvalue().splitlines()]
    if said == got:
        return None
    return f"{example.path}:{example.line}: the block printed\n  {got}\nbut the page says\n  {said}"


def _enter(namespace: dict[str, Any]) -> None:
    """Execute a page in an empty directory of its own."""
    folder = tempfile.TemporaryDirectory()
    namespace["_page"] = (folder, os.getcwd())
    os.chdir(folder.name)


def _leave(namespace: dict[str, Any]) -> None:
    folder, before = namespace["_page"]
    os.chdir(before)
    folder.cleanup()


SYBIL = Sybil([CodeBlockParser("python", _evaluate)], patterns=["*.md"], setup=_enter, teardown=_leave)

pytest_collect_file = SYBIL.pytest()
