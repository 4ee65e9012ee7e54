"""The docs say what is so: what they copy is current, what they show is executed, and the site needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.generated import ROOT, pages, renewed, timeless

PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()]

FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\S*)[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
LABELS = {"python", "py", "text", "console", "mermaid", "yaml", "json", "bibtex"}
"""``python`` is executed; ``py`` is source that a generated block copies."""


def labels(page: Path) -> list[str]:
    return [match[2] for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_copies_from_the_code_is_current(page: Path) -> None:
    """Diagrams, sources and outputs in the docs are what the code draws, says and prints."""
    text = page.read_text(encoding="utf-8")
    assert timeless(renewed(text)) == timeless(text), "stale; `python -m tests.generated` writes it anew"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_known_label_and_python_is_executed(page: Path) -> None:
    """No block escapes execution by a label that is missing or unusual."""
    found = labels(page)
    assert set(found) <= LABELS, f"labels are {sorted(LABELS)}"
    copied = page.read_text(encoding="utf-8").count("<!-- source: ")
    assert copied == found.count("py"), "label `py` is for generated copies of the source"


def test_pytest_collects_every_python_block() -> None:
    """What pytest executes of the docs is all Python there is in them."""
    paths = [str(page) for page in pages()]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    blocks = re.findall(r"line:\d+,column:\d+", done.stdout)
    assert len(blocks) == sum(labels(page).count("python") for page in pages()), done.stdout + done.stderr


PATTERN_PAGES = sorted(page for page in (ROOT / "docs" / "patterns").glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", PATTERN_PAGES, ids=lambda page: page.stem)
def test_a_pattern_page_follows_the_template(page: Path) -> None:
    """Every pattern is told in the same order, so that a reader finds the same thing in the same place."""
    assert re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) == [
        "The figure",
        "Usage",
        "The algorithm",
        "API",
        "Step trace",
        "What it does, honestly",
        "When to use it",
        "Exercises",
    ]


def test_every_pattern_page_is_in_the_table_of_patterns() -> None:
    """Whoever looks for a pattern by its use finds its page."""
    table = (ROOT / "docs" / "patterns" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PATTERN_PAGES if f"]({page.name})" not in table] == []


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed (group docs)")
def test_the_site_builds_strictly_and_asks_no_other_host(tmp_path: Path) -> None:
    """The site builds without a warning, and a page of it loads nothing from another host."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    loads = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>""")
    links = re.compile(r"""<link\b[^>]*\brel=["']?(?:stylesheet|icon|preload|preconnect)\b[^>]*>""")
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 5
    for page in pages:
        html = page.read_text(encoding="utf-8")
        foreign = loads.findall(html) + [
            tag for tag in links.findall(html) if re.search(r"""href=["']?(\w+:)?//""", tag)
        ]
        assert foreign == [], page.name
        assert 'class="mermaid"' not in html, "the theme would fetch its renderer from another host"
