"""Every pattern passes every check of the conformance suite; a pattern joins with one line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brain.patterns import ReActAgent
from brain.testing.conformance import CHECKS, Enrolled

TOOLS = {"look": lambda text: f"saw {text}", "boom": lambda text: 1 / 0}
LOOK, BOOM = "Thought: t\nAction: look\nAction Input: a", "Action: boom\nAction Input: b"

PATTERNS = {
    "react": Enrolled(
        lambda model: ReActAgent(TOOLS, model), [LOOK, "Action:\n", BOOM, "Action: fly", "Final Answer: x"]
    ),
    "react, one step": Enrolled(lambda model: ReActAgent(provider=model, max_steps=1), ["Final Answer: x"]),
    "react, strict": Enrolled(
        lambda model: ReActAgent(TOOLS, model, require_final_answer=True), ["4", LOOK, "Final Answer: 4"]
    ),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern(pattern: str, check: Callable[[Enrolled], None]) -> None:
    """The check holds for the pattern."""
    check(PATTERNS[pattern])
