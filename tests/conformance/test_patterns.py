"""Every pattern passes every check of the conformance suite; a pattern joins with one line."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from brain.graph import GuardNode, PolicyNode, PromptNode
from brain.ledger import ContextCompaction
from brain.patterns import (
    PEOATR,
    Autonomous,
    Debate,
    Deliberate,
    Managed,
    MultiAgentOrchestrator,
    Pipeline,
    PlanAndExecute,
    React,
    ReActAgent,
    Reflexion,
    Research,
    SelfConsistency,
    TreeOfThoughts,
    Verify,
)
from brain.testing import calls, says
from brain.testing.conformance import CHECKS, Enrolled

TOOLS = {"look": lambda text: f"saw {text}", "boom": lambda text: 1 / 0}
LOOK, BOOM = "Thought: t\nAction: look\nAction Input: a", "Action: boom\nAction Input: b"
A, B = says("", calls("look", text="a")), says("first", calls("look", text="b"), calls("boom", text="b"))
PLAN, WEAK = '{"subgoals": ["a", "b"], "quality_score": 4}', '{"subgoals": ["a"], "quality_score": 1}'
ON, BACK = '{"route": "continue", "subgoal_complete": true}', '{"route": "reflect"}'
REPLAN, DONE = '{"route": "replan", "mistake": "m", "correction": "c"}', '{"route": "answer"}'
SEVERE, MILD = '{"severity": 0.9, "weaknesses": ["w"]}', '{"severity": 0.1}'
FAILS, PASSES = '{"passes": false, "issues": ["i"]}', '{"passes": true}'
ASSIGN = json.dumps({"assignments": [{"worker": each, "subtask": "s"} for each in ("one", "two", "one", "nobody")]})

PATTERNS = {
    "react": Enrolled(
        lambda model: ReActAgent(TOOLS, model), [LOOK, "Action:\n", BOOM, "Action: fly", "Final Answer: x"]
    ),
    "react, one step": Enrolled(lambda model: ReActAgent(provider=model, max_steps=1), ["Final Answer: x"]),
    "react, strict": Enrolled(
        lambda model: ReActAgent(TOOLS, model, require_final_answer=True), ["4", LOOK, "Final Answer: 4"]
    ),
    "native react": Enrolled(lambda model: React(TOOLS, model), [A, B, "", "x"]),
    "verify": Enrolled(lambda model: Verify(TOOLS, model), [B, "x"]),
    "managed": Enrolled(
        lambda model: Managed(TOOLS, model, context_compaction=ContextCompaction(reuse_results=["look"])),
        [A, B, A, A, "x"],
    ),
    "peoatr": Enrolled(
        lambda model: PEOATR(TOOLS, model),
        [WEAK, PLAN, A, "s1", ON, B, "s2", BACK, REPLAN, "no JSON", PLAN, "s3", BACK, DONE, "x"],
    ),
    "research": Enrolled(
        lambda model: Research(TOOLS, model, synthesis_tools=TOOLS), [A, "f1", FAILS, B, "f2", "prose", PASSES, A, "x"]
    ),
    "autonomous": Enrolled(
        lambda model: Autonomous(provider=model, tools=TOOLS),
        ['{"next": "look"}', A, "s1", '{"next": "bogus"}', '{"next": "analyze"}', "s2", '{"next": "__done__"}', "x"],
    ),
    "deliberate": Enrolled(
        lambda model: Deliberate(TOOLS, model),
        ["t", WEAK, PLAN, A, "s1", "o1", REPLAN, PLAN, B, "s2", "o2", DONE, "x"],
    ),
    "debate": Enrolled(
        lambda model: Debate(TOOLS, model),
        [A, "p1", SEVERE, B, "p2", MILD, FAILS, "p3", '{"severity": 7}', MILD, PASSES, "x"],
    ),
    "pipeline": Enrolled(
        lambda model: Pipeline(
            PromptNode("a", tools=TOOLS),
            GuardNode("g"),
            PolicyNode("r", Debate(TOOLS)),
            PromptNode("b"),
            provider=model,
        ),
        [A, "e", "p1", MILD, PASSES, "d", "x"],
    ),
    "react, paper": Enrolled(
        lambda model: ReActAgent(TOOLS, model, dialect="paper"),
        ["t\nAction 1: look[a]", "Hm.", "Boom[b]", "t\nAction 3: fly", "t\nAction 4: Finish[x]"],
    ),
    "reflexion": Enrolled(
        lambda model: Reflexion(ReActAgent(TOOLS, model, max_steps=2), model, max_trials=3),
        [LOOK, "Final Answer: x", FAILS, "lesson", LOOK, BOOM, "lesson", "Final Answer: y", PASSES],
    ),
    "plan and execute": Enrolled(
        lambda model: PlanAndExecute(ReActAgent(TOOLS, model, max_steps=2), model, max_steps=4),
        ['{"steps": ["a", "b"]}', LOOK, "Final Answer: x", '{"steps": ["c"]}', BOOM, LOOK, '{"steps": []}', "done"],
    ),
    "tree of thoughts": Enrolled(
        lambda model: TreeOfThoughts(model, depth=2, beam=2, branching=3, samples=1),
        ["a\nb\nc", "sure", "likely", "impossible", "d", "e\nf", "likely", "sure", "what?", "done"],
    ),
    "tree of thoughts, depth first": Enrolled(
        lambda model: TreeOfThoughts(
            model, search="dfs", evaluate="vote", depth=2, branching=2, is_solution=lambda _, state: "d" in state
        ),
        ["a\nd", *["The best choice is 2"] * 2, "neither", "done"],
        most_calls=500,
    ),
    "orchestrator": Enrolled(
        lambda model: MultiAgentOrchestrator({"one": ReActAgent(TOOLS), "two": ReActAgent(TOOLS)}, model, max_rounds=2),
        [ASSIGN, "Final Answer: x", "Final Answer: y", "Final Answer: z", '{"assignments": []}', "done"],
    ),
    "self-consistency": Enrolled(
        lambda model: SelfConsistency(provider=model, samples=4), ["Answer: x", "Answer: y", "Hm.", "Answer: y"]
    ),
    "self-consistency, react": Enrolled(
        lambda model: SelfConsistency(ReActAgent(TOOLS), model, samples=2), [LOOK, BOOM, *["Final Answer: x"] * 2]
    ),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern(pattern: str, check: Callable[[Enrolled], None]) -> None:
    """The check holds for the pattern."""
    check(PATTERNS[pattern])
