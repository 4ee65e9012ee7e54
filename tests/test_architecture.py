"""The floors of the library: imports go down only, and importing it is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "brain"

# A module may import from its own floor and from those below; providers, sandbox and trace stand beside, on floors 0-1.
FLOORS = {
    "_version": 0,
    "errors": 0,
    "messages": 0,
    "types": 0,
    "policy": 1,
    "schema": 1,
    "structured": 1,
    "tools": 1,
    "toolloop": 1,
    "normalise": 1,
    "ledger": 1,
    "compact": 1,
    "redact": 1,
    "graph": 2,
    "contract": 2,
    "runtime": 2,
    "patterns": 3,
    "agent": 4,
    "testing": 4,
    "cli": 4,
    "pytest_plugin": 4,
    "__init__": 4,
    "__main__": 4,
}
BESIDE = {"providers", "sandbox", "trace"}

# References against the rule, each with its reason.
ALLOWED = {
    ("types", "runtime"): "PatternResult names the type of its journal, for type checkers only",
    ("graph", "patterns"): "PromptGraph.debate() and its kin, and PromptGraph.run(), import a pattern when called",
    ("patterns", "providers"): "the default provider is imported when a run needs it",
    ("patterns", "sandbox"): "a prompt names tools as the executor does, in CodeAction",
    ("policy", "sandbox"): "execute() names the type of its outcome, for type checkers only",
    ("runtime", "sandbox"): "an executor is imported when a run has a program to execute",
}

HEAVY = ["ssl", "urllib.request", "http.client", "socket", "subprocess", "asyncio", "concurrent.futures", "logging"]
HEAVY += ["difflib", "hashlib", "typing_extensions", "argparse", "ctypes", "email", "multiprocessing", "threading"]


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part(module: str) -> str:
    """Return the top-level part of the library that a dotted module name belongs to."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def imports(path: Path) -> list[str]:
    """Return the dotted names of the library's modules that a file imports, at any depth."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            if node.module == "brain":
                found += [
                    f"brain.{alias.name}" for alias in node.names if part(f"brain.{alias.name}") in {*FLOORS, *BESIDE}
                ]
            elif node.module.startswith("brain."):
                found.append(node.module)
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("brain")]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    """A module imports from its own floor or below."""
    here = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module in imports(path):
        there = part(module)
        if here == there or (here, there) in ALLOWED:
            continue
        if here in BESIDE:
            assert FLOORS[there] <= 1, f"{here} may import floors 0 and 1 only, not {module}"
        elif there in BESIDE:
            assert FLOORS[here] == 4, f"{here} may not import {module}"
        else:
            assert FLOORS[there] <= FLOORS[here], (
                f"{here} (floor {FLOORS[here]}) imports {module} (floor {FLOORS[there]})"
            )
            assert not (FLOORS[here] == FLOORS[there] == 2), f"{here} and {there} may not know each other"


def test_every_part_has_a_floor() -> None:
    """A new part of the library is placed on purpose."""
    parts = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in modules()}
    assert parts <= {*FLOORS, *BESIDE}


@pytest.mark.parametrize("path", sorted((ROOT / "patterns").glob("*.py")), ids=lambda path: path.name)
def test_pattern_files_are_pure(path: Path) -> None:
    """No clock, no random numbers, no I/O, no logging, no threads in a pattern."""
    forbidden = {
        "os",
        "sys",
        "time",
        "datetime",
        "random",
        "logging",
        "subprocess",
        "socket",
        "threading",
        "io",
        "pathlib",
    }
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not forbidden & {name.split(".")[0] for name in names}, f"{path.name}: {names}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "open", "input"}, f"{path.name}: {node.func.id}()"


def test_files_have_one_reason_to_exist() -> None:
    """A module longer than 350 lines is two."""
    long = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}


def loaded(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_library_is_light() -> None:
    """Nothing for networks, processes or threads is loaded, and nothing beyond the standard library."""
    floor = loaded("import dataclasses, json, re, enum, typing, abc, time, warnings, ast")
    extra = {name for name in loaded("import brain") - floor if name.split(".")[0] != "brain"}
    assert extra & set(HEAVY) == set()
    assert {name for name in extra if name.split(".")[0] not in sys.stdlib_module_names} == set()


def test_the_runtime_has_no_dependencies() -> None:
    """Every import in the library is of the standard library or of itself."""
    foreign = set()
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            foreign |= {name for name in names if name.split(".")[0] not in {*sys.stdlib_module_names, "brain"}}
    assert foreign <= {"pytest"}, "only the pytest plugin imports anything else, and pytest is there when it does"
