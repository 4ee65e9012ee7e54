"""Runs files of cases: what public users of such libraries met, one JSON object a line.

``python -m tests.cases FILE.jsonl`` prints, per kind, how many rows pass and which do not. A row has
``id``, ``kind``, ``input`` and ``expected``; ``any_of`` in ``expected`` lists alternatives, one of which
must hold. Each module of this package has a ``CHECKERS`` table: kind -> ``checker(input, expected)``,
which runs the library on ``input`` and returns the list of what does not hold (empty: the row passes).
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Checker = Callable[[Any, dict[str, Any]], list[str]]

_REPEAT = re.compile(r"\$REPEAT\((.*?),(\d+)\)", re.DOTALL)


def checkers() -> dict[str, Checker]:
    """Collect the checkers of all modules of this package; two for one kind are a mistake."""
    found: dict[str, Checker] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        if module.name == "__main__":
            continue
        for kind, checker in importlib.import_module(f"{__name__}.{module.name}").CHECKERS.items():
            if kind in found:
                raise ValueError(f"two checkers for kind {kind!r}; the second is in {module.name}")
            found[kind] = checker
    return found


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file; a line that cannot be read is an error that names the line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise ValueError(f"{path}:{number}: {error}") from error


def expand(value: Any) -> Any:
    """Replace ``$REPEAT(x,n)`` by n times x, in all strings of a value."""
    if isinstance(value, str):
        return _REPEAT.sub(lambda match: match[1] * int(match[2]), value)
    if isinstance(value, list):
        return [expand(each) for each in value]
    if isinstance(value, dict):
        return {key: expand(each) for key, each in value.items()}
    return value


def problems_of(row: dict[str, Any], checker: Checker) -> list[str]:
    """Return what does not hold for a row; with alternatives, of the one that came closest."""
    given, expected = expand(row["input"]), expand(row["expected"])
    common = {key: value for key, value in expected.items() if key != "any_of"}
    closest: list[str] | None = None
    for alternative in expected.get("any_of", [{}]):
        problems = checker(given, {**common, **alternative})
        if not problems:
            return []
        if closest is None or len(problems) < len(closest):
            closest = problems
    return closest or []
