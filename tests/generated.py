"""Keeps what the docs copy from the code equal to it.

A block of a Markdown page that follows one of these comments is generated:

    <!-- source: brain.patterns.react.ReActAgent.policy -->  the source of a function, class or method
    <!-- docstring: brain.patterns.react -->                  the docstring of a module or class
    <!-- value: brain.runtime.diagram -->                     what a function without arguments returns
    <!-- diagram: brain.patterns.Debate TD -->                the graph of a pattern, drawn from left to right or TD
    <!-- output: python -m brain demo react -->               what a command prints
    <!-- table: tests.generated.machine_table -->             a table that such a function returns

``python -m tests.generated`` writes them anew; ``tests/test_docs.py`` fails while one of them is stale.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "guarantee_table", "machine_table", "pages", "pipeline_of_three", "renewed", "timeless"]

ROOT = Path(__file__).parent.parent

_BLOCK = re.compile(
    r"<!-- (?P<kind>source|docstring|value|diagram|output): (?P<what>.+?) -->\n"
    r"(?P<before>(?:<!-- fmt: off -->\n)?)\n"
    r"(?P<fence>`{3,})(?P<label>\w+)\n(?P<text>.*?)(?P=fence)\n",
    re.DOTALL,
)
_TABLE = re.compile(r"<!-- table: (?P<what>\S+) -->\n\n(?P<text>(?:\|.*\n)+)")
_TIME = re.compile(r"\d+(\.\d+)? (µs|ms|s)\b")


def pages() -> Iterator[Path]:
    """Yield the pages of the project that people read."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def renewed(text: str) -> str:
    """Return a page with all that is generated in it made anew; a block that is current but for times stays."""
    text = _BLOCK.sub(_block, text)
    return _TABLE.sub(_table, text)


def timeless(text: str) -> str:
    """Return a text with durations left out: they differ from run to run."""
    return _TIME.sub(r"N \2", text)


def machine_table() -> str:
    """Return the table of the machine as Markdown: a row per state, a column per symbol."""
    from brain.runtime import TABLE, Symbol

    lines = [["state", *(symbol.name for symbol in Symbol)], ["---"] * (len(Symbol) + 1)]
    for state, moves in TABLE.items():
        cells = [f"{moves[each][0].name}, {moves[each][1].value}" if each in moves else "" for each in Symbol]
        lines.append([state.name, *cells])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def guarantee_table() -> str:
    """Return what executors can promise as Markdown: the name, what it means, and how it is known to hold."""
    from brain.sandbox import BY_CONSTRUCTION, GUARANTEES

    lines = ["| guarantee | it means | known by |", "| --- | --- | --- |"]
    for name, meaning in GUARANTEES.items():
        lines.append(f"| `{name}` | {meaning} | {'construction' if name in BY_CONSTRUCTION else 'trying'} |")
    return "\n".join(lines)


def pipeline_of_three() -> Any:
    """Return a pipeline to be drawn: it has no stages of its own."""
    from brain.graph import PromptNode
    from brain.patterns import Pipeline

    return Pipeline(*(PromptNode(name) for name in ("extract", "analyze", "format")))


def _block(match: re.Match[str]) -> str:
    made = _made(match["kind"], match["what"])
    if timeless(made) == timeless(match["text"].strip("\n")):
        return match[0]
    head = match[0][: match.start("text") - match.start()]
    return f"{head}{made}\n{match['fence']}\n"


def _table(match: re.Match[str]) -> str:
    return f"<!-- table: {match['what']} -->\n\n{_found(match['what'])()}\n"


def _made(kind: str, what: str) -> str:
    if kind == "output":
        return f"$ {what}\n{_printed(what)}"
    what, *direction = what.split()
    found = _found(what)
    if kind == "diagram":
        return str(found().graph().to_mermaid(*direction))
    if kind == "source":
        return textwrap.dedent(inspect.getsource(found)).strip()
    return str(inspect.getdoc(found) if kind == "docstring" else found()).strip()


def _found(path: str) -> Any:
    """Return what a dotted path names: a module, or something inside of one."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            found = getattr(found, name)
        return found
    raise LookupError(f"nothing is called {path}")


def _printed(command: str) -> str:
    program, *arguments = shlex.split(command)
    assert program == "python", f"only python commands are run, not {command!r}"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BRAIN_")}
    environment |= {"NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def main() -> int:
    """Write all pages anew and say which have changed."""
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = renewed(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"renewed {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
