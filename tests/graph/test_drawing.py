"""The diagrams of the prebuilt patterns have the edges and labels of their specification."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brain.graph import END, GuardNode, PromptGraph, PromptNode

# source, label, target; "~" before a label stands for a dotted arrow.
DIAGRAMS = {
    "react": ["reason|tool calls|reason", "reason|final answer|__end__"],
    "verify": ["reason (plan → solve → verify)||__end__"],
    "managed": ["reason (tool loop + facts ledger)||__end__"],
    "peoatr": [
        *["plan|quality < 3|plan", "plan||act", "act|tool calls|act", "act||think", "think|continue|act"],
        *["think|reflect|reflect", "reflect|continue|act", "reflect|replan|plan", "reflect|answer|answer"],
        "answer||__end__",
    ],
    "research": [
        *["search|tool calls|search", "search||verify", "verify|pass|synthesize", "verify|fail|search"],
        "synthesize||__end__",
    ],
    "autonomous": [
        *["AutonomousNode|step 1|reason", "AutonomousNode|step 2|analyze", "AutonomousNode|step 3|synthesize"],
        *["AutonomousNode|done|__end__", "reason|~result|AutonomousNode", "analyze|~result|AutonomousNode"],
        "synthesize|~result|AutonomousNode",
    ],
    "deliberate": [
        *["think||plan", "plan|quality < 3|plan", "plan||act", "act|tool calls|act", "act||observe"],
        *["observe||reflect", "reflect|continue|act", "reflect|replan|plan", "reflect|answer|answer"],
        "answer||__end__",
    ],
    "debate": [
        *["proposer|tool calls|proposer", "proposer||critic", "critic|severity high|proposer"],
        *["critic|severity low|judge", "judge|fail|proposer", "judge|pass|answer", "answer||__end__"],
    ],
    "pipeline": ["step 1||step 2", "step 2||step 3", "step 3||__end__"],
}

SEED = Path(__file__).parents[3] / "shared" / "seeds" / "000_f31a8f8091579ada.txt"


def edges(diagram: str) -> list[str]:
    """Read the arrows of a Mermaid diagram, each with the titles of its ends."""
    titles: dict[str, str] = {}
    found = []
    node = r'(\w+)(?:\["?(.+?)"?\])?'
    for line in diagram.splitlines()[1:]:
        line = line.strip()
        while match := re.match(node + r"\s*(-->|-\.->)(?:\|([^|]*)\|)?\s*(?=" + node + ")", line):
            source, title, arrow, label, target, target_title = match.groups()
            titles |= {name: text for name, text in ((source, title), (target, target_title)) if text}
            found.append((source, ("~" if arrow == "-.->" else "") + (label or ""), target))
            line = line[match.end() :]
        if match := re.fullmatch(node, line):
            titles |= {match[1]: match[2]} if match[2] else {}
    shown = {name: re.sub("<br/?>", " ", title) for name, title in titles.items()}
    return sorted(f"{shown[source]}|{label}|{shown[target]}" for source, label, target in found)


def graph_of(name: str) -> PromptGraph:
    if name == "pipeline":
        return PromptGraph.pipeline(*(PromptNode(f"step {number}") for number in (1, 2, 3)))
    graph: PromptGraph = getattr(PromptGraph, name)()
    return graph


@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_pattern_is_drawn_as_its_specification_has_it(name: str):
    """The same arrows, no more and no fewer, with the same labels."""
    assert edges(graph_of(name).to_mermaid()) == sorted(DIAGRAMS[name])


@pytest.mark.skipif(not SEED.exists(), reason=f"the specification {SEED.name} is not here")
def test_the_list_above_is_the_specification():
    """Each list is one of the diagrams of the page itself."""
    text = SEED.read_text(encoding="utf-8")
    drawn = [edges(block) for block in re.findall(r"^graph (?:LR|TD)\n(?:    .*\n|\n(?=    ))+", text, re.MULTILINE)]
    assert [name for name, expected in DIAGRAMS.items() if sorted(expected) not in drawn] == []


def test_a_graph_without_checks_has_no_verify():
    """What is not there is not drawn."""
    graph = PromptGraph.research(verify=False)
    assert edges(graph.to_mermaid()) == ["search|tool calls|search", "search||synthesize", "synthesize||__end__"]


def test_names_and_labels_cannot_break_a_diagram():
    """Quotes, bars, line breaks and Mermaid's own words are written so that they stay text."""
    graph = PromptGraph("odd").add_node(PromptNode("end")).add_node(PromptNode('a "b"|c'))
    graph.always("end", 'a "b"|c', 'x|"y"\nz')
    assert graph.to_mermaid("TD").splitlines() == [
        "graph TD",
        '    end_["end"]',
        '    a__b__c["a #quot;b#quot;#124;c"]',
        '    END["__end__"]',
        "    end_ -->|x#124;#quot;y#quot;<br/>z| a__b__c",
        "    a__b__c --> END",
    ]


def test_two_stages_are_never_drawn_as_one():
    """Names that differ in signs only keep apart."""
    graph = PromptGraph("odd").add_node(PromptNode("a b")).add_node(PromptNode("a-b")).add_node(PromptNode("END"))
    graph.always("a b", "a-b").always("a-b", "END")
    assert edges(graph.to_mermaid()) == ["END||__end__", "a b||a-b", "a-b||END"]


def test_a_graph_can_be_said_in_words():
    """Stages with budgets and tools, edges with their reasons."""
    graph = PromptGraph("g").add_node(PromptNode("a", tools={"look": str}, max_visits=2, when_spent="b"))
    graph.add_node(GuardNode("b", on_pass=END, on_fail="a"))
    graph.always("a", "b", priority=1).when("a", END, lambda r: False)
    assert graph.describe().splitlines() == [
        "g (static), begins at a",
        "  a: PromptNode, at most 2 visits, then b, tools: look",
        "    -> b (always), priority 1",
        "    -> __end__ (when its condition holds)",
        "  b: GuardNode",
        "    -> __end__ (pass)",
        "    -> a (fail)",
    ]
